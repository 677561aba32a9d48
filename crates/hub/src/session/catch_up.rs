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
use tokio::time::sleep;

use super::Session;
use super::outbox::Wants;
use super::parts::LongFrame;
use crate::backoff::Backoff;
use crate::decisions::engine_error_body;
use crate::defaults::{CATCH_UP_LIMIT, QUANTUM_BYTES};
use crate::frame::{Encoded, encode};
use crate::live_thread::LiveThread;

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
            return self.outbox.park(slot, Wants::Reading);
        }
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let (live, after) = (subscription.live.clone(), subscription.place.cursor);
        let entries = read(live, after).boxed();
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
        // Before what was read is taken in: who then has to wait for a long frame stays parked.
        self.unpark(Wants::Reading);
        match entries {
            Ok(entries) => self.take_entries(slot, until, &entries),
            Err(error) => self.end_subscription(slot, &engine_error_body(&error)),
        }
    }

    fn take_entries(&mut self, slot: u32, until: Seq, entries: &[Entry]) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        if subscription.live.generation() != subscription.place.generation {
            // It may be of another log than its viewer was told.
            return self.judge_anew(slot);
        }
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
            Some(Encoded::Long(_)) => return self.outbox.park(slot, Wants::Long),
            None => {}
        }
        self.queue(slot);
    }
}

/// The entries after a cursor. While the log store is away the cursor waits for it: nothing is lost by that.
async fn read(live: LiveThread, after: Seq) -> Result<Vec<Entry>, EngineError> {
    let mut backoff = Backoff::default();
    loop {
        match live.read(after, CATCH_UP_LIMIT).await {
            Err(EngineError::Unavailable(error)) => {
                tracing::warn!(thread = %live.thread(), %error, "the log store is away; it is asked again");
            }
            read => return read,
        }
        sleep(backoff.next()).await;
    }
}
