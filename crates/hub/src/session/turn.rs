//! One subscription's turn: what it is sent next, wherever that comes from.
//!
//! Usually slices of its thread's tail. A cursor older than the tail reads the engine, and a frame too long for one
//! piece is sent in parts; of either a session has one at a time, so that what it holds is bounded however many threads
//! it follows. Who needs one meanwhile is parked.

use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Epoch, Seq};
use threadcast_wire::hub_frame::{ResetReason, write_epoch, write_part};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Session;
use super::writer::{Share, Turn, What};
use crate::baseline::BaselineBody;
use crate::decisions::engine_error_body;
use crate::defaults::{CATCH_UP_LIMIT, QUANTUM_BYTES, SLICES_MAX};
use crate::frame::{Encoded, encode, ready};
use crate::live_thread::Step;
use crate::subscription::Due;

/// A frame that is sent in parts.
pub(super) struct LongFrame {
    pub(super) slot: u32,
    /// The frame's payload, shared with all who are sent it.
    pub(super) text: Bytes,
    /// How much of it was sent.
    at: usize,
    /// The number of the next part.
    n: u64,
    /// What the viewer has once the last part was sent.
    seq: Seq,
}

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
    last: Seq,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Pushes what a subscription is sent next, within what it may send.
    pub(super) fn take_turn(&mut self, cx: &mut Context<'_>, slot: u32, turn: &mut Turn) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        subscription.flag.clear();
        if self
            .outbox
            .long
            .as_ref()
            .is_some_and(|long| long.slot == slot)
        {
            return self.push_part(turn);
        }
        if let Some(batch) = self.outbox.batch.take_if(|batch| batch.slot == slot) {
            turn.push(
                slot,
                batch.frames,
                What::Frames {
                    last: batch.last,
                    is_all: false,
                },
            );
            return self.unpark();
        }
        if self
            .outbox
            .reading
            .as_ref()
            .is_some_and(|reading| reading.slot == slot)
        {
            return;
        }
        if subscription.due == Due::Baseline {
            return self.push_baseline(slot, turn);
        }
        let before = turn.slices.len();
        let step = subscription.live.step(
            &subscription.place,
            QUANTUM_BYTES,
            SLICES_MAX - 1 - before,
            &mut turn.slices,
        );
        match step {
            Step::CaughtUp => {}
            Step::Frames {
                last,
                bytes,
                is_all,
            } => {
                let slices = turn.slices.len() - before;
                turn.push_share(Share {
                    slot,
                    slices,
                    bytes,
                    what: What::Frames { last, is_all },
                });
            }
            Step::Long { seq, text } => self.begin_long(slot, seq, text, turn),
            Step::Epoch(epoch) => self.push_epoch(slot, epoch, turn),
            Step::Behind { until } => self.begin_reading(cx, slot, until),
            Step::Replaced => {
                self.judge_anew(slot);
                self.queue(slot);
            }
        }
    }

    fn push_epoch(&mut self, slot: u32, epoch: Epoch, turn: &mut Turn) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let frame = ready(|out| {
            write_epoch(
                out,
                subscription.live.tag(),
                &epoch,
                subscription.place.cursor,
            )
        });
        turn.push(slot, frame, What::Epoch(epoch));
    }

    fn push_baseline(&mut self, slot: u32, turn: &mut Turn) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        match subscription.live.baseline() {
            // The log it was to be a baseline of is gone.
            None => {
                subscription.due = Due::Entries;
                self.queue(slot);
            }
            Some(baseline) => match &baseline.body {
                BaselineBody::Frame(frame) => {
                    turn.push(slot, frame.clone(), What::Baseline(baseline.seq))
                }
                BaselineBody::Long(text) => self.begin_long(slot, baseline.seq, text.clone(), turn),
            },
        }
    }

    /// Begins to send a frame in parts, unless another one is being sent.
    fn begin_long(&mut self, slot: u32, seq: Seq, text: Bytes, turn: &mut Turn) {
        if self.outbox.long.is_some() {
            return self.outbox.park(slot);
        }
        self.outbox.long = Some(Box::new(LongFrame {
            slot,
            text,
            at: 0,
            n: 1,
            seq,
        }));
        self.push_part(turn);
    }

    fn push_part(&mut self, turn: &mut Turn) {
        let Some(long) = &self.outbox.long else {
            return;
        };
        let Some(subscription) = self.subscriptions.get_mut(long.slot) else {
            return;
        };
        let piece = piece(&long.text[long.at..], self.hub.limits().part_bytes);
        let is_last = long.at + piece.len() == long.text.len();
        let frame = ready(|out| write_part(out, subscription.live.tag(), long.n, is_last, piece));
        turn.push(long.slot, frame, What::Part { bytes: piece.len() });
    }

    /// One part more was taken.
    pub(super) fn advance_long(&mut self, bytes: usize) {
        let Some(long) = &mut self.outbox.long else {
            return;
        };
        long.at += bytes;
        long.n += 1;
        if long.at < long.text.len() {
            return;
        }
        if let Some(subscription) = self.subscriptions.get_mut(long.slot) {
            subscription.place.cursor = long.seq;
            subscription.due = Due::Entries;
        }
        self.outbox.long = None;
        self.unpark();
    }

    /// Begins to read the engine, unless it is being read for another subscription.
    fn begin_reading(&mut self, cx: &mut Context<'_>, slot: u32, until: Seq) {
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
                self.outbox.long = Some(Box::new(LongFrame {
                    slot,
                    text,
                    at: 0,
                    n: 1,
                    seq,
                }));
            }
            Some(Encoded::Long(_)) => return self.outbox.park(slot),
            None => {}
        }
        self.queue(slot);
    }

    /// The subscription in this slot ends or begins anew: nothing of it is left.
    pub(super) fn forget(&mut self, slot: u32) {
        self.outbox.forget(slot);
        self.unpark();
    }

    /// The socket is blocked: what was read for one subscription is read again when it takes more.
    pub(super) fn drop_batch(&mut self) {
        if self.outbox.batch.take().is_some() {
            self.unpark();
        }
    }

    /// Those who waited for a long frame or a read of the engine get their turn again.
    fn unpark(&mut self) {
        for slot in std::mem::take(&mut self.outbox.parked) {
            self.queue(slot);
        }
    }
}

/// The beginning of `text`, at most `bytes` long, cut between characters.
fn piece(text: &[u8], bytes: usize) -> &str {
    let is_boundary = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(is_boundary)
        .unwrap_or(0);
    std::str::from_utf8(&text[..end]).expect("frames are text, cut between characters")
}
