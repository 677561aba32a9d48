//! A cursor older than its thread's tail: entries are read from the engine, a few at a time, for this viewer alone.

use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::ResetReason;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Session;
use super::parts::LongFrame;
use crate::decisions::engine_error_body;
use crate::defaults::{CATCH_UP_LIMIT, QUANTUM_BYTES};
use crate::frame::{Encoded, encode};

/// A read of the engine for one subscription.
pub(super) struct Reading {
    pub(super) slot: u32,
    until: Seq,
    entries: BoxFuture<'static, Result<Vec<Entry>, EngineError>>,
}

/// Ready frames made for one subscription from what the engine gave.
pub(super) struct Batch {
    pub(super) slot: u32,
    pub(super) frames: Bytes,
    pub(super) last: Seq,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Begins to read the engine, unless it is being read for another subscription.
    pub(super) fn begin_reading(&mut self, cx: &mut Context<'_>, slot: u32, until: Seq) {
        if self.outbox.reading.is_some() || self.outbox.batch.is_some() {
            return self.outbox.park(slot);
        }
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let (live, after) = (subscription.live.clone(), subscription.place.cursor);
        let entries = async move { live.read(after, CATCH_UP_LIMIT).await }.boxed();
        self.outbox.reading = Some(Box::new(Reading {
            slot,
            until,
            entries,
        }));
        self.poll_engine_read(cx);
    }

    /// Takes in what the engine gave.
    pub(super) fn poll_engine_read(&mut self, cx: &mut Context<'_>) {
        let Some(reading) = &mut self.outbox.reading else {
            return;
        };
        let Poll::Ready(entries) = reading.entries.poll_unpin(cx) else {
            return;
        };
        let Reading { slot, until, .. } = **reading;
        self.outbox.reading = None;
        match entries {
            Ok(entries) => self.take_entries(slot, until, &entries),
            Err(error) => self.end_subscription(slot, &engine_error_body(&error)),
        }
        self.unpark();
    }

    fn take_entries(&mut self, slot: u32, until: Seq, entries: &[Entry]) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        if entries
            .first()
            .is_none_or(|first| first.seq != subscription.place.cursor.next())
        {
            return self.begin_anew(slot, ResetReason::Trimmed);
        }
        let entries = &entries[..entries.partition_point(|entry| entry.seq <= until)];
        let long_over = self.hub.limits().part_over_bytes;
        let encoded = encode(subscription.live.tag(), entries, QUANTUM_BYTES, long_over);
        match encoded.into_iter().next() {
            Some(Encoded::Frames { bytes, ends }) => {
                let last = subscription.place.cursor.plus(ends.len() as u64);
                self.outbox.batch = Some(Box::new(Batch {
                    slot,
                    frames: bytes.into(),
                    last,
                }));
            }
            Some(Encoded::Long(text)) if self.outbox.long.is_none() => {
                let seq = subscription.place.cursor.next();
                self.outbox.long = Some(Box::new(LongFrame::new(slot, seq, text)));
            }
            Some(Encoded::Long(_)) => return self.outbox.park(slot),
            None => {}
        }
        self.queue(slot);
    }
}
