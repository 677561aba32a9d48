//! What a session sends: its own frames first, then its subscriptions in turn, by bytes.
//!
//! Cursors move only over frames that the socket took, so that what a blocked socket did not take costs nothing but the
//! cursor. Invariant: a subscription that has something to send is queued, parked, or waits for its read of the engine.

use std::io;
use std::task::Context;

use bytes::Bytes;
use threadcast_thread_log::position::{Epoch, Seq};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::catch_up::{Batch, Reading};
use super::parts::LongFrame;
use super::turns::Turns;
use super::{PING, Session};
use crate::defaults::{QUANTUM_BYTES, SLICES_MAX, WRITES_PER_POLL};
use crate::frame::whole_frames;
use crate::frame_stream::Sent;
use crate::subscription::Due;

/// What waits to be sent.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) turns: Turns,
    /// Who needs what only one subscription of a session may have at a time.
    pub(super) parked: Vec<u32>,
    /// The frame that is being sent in parts.
    pub(super) long: Option<Box<LongFrame>>,
    /// The read of the engine for a cursor older than its tail.
    pub(super) reading: Option<Box<Reading>>,
    /// What was read for it.
    pub(super) batch: Option<Box<Batch>>,
    is_blocked: bool,
}

/// Slices for one write, and whose they are.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) slices: Vec<Bytes>,
    pub(super) shares: Vec<Share>,
    pub(super) bytes: usize,
}

/// One subscription's part of a write: the next `slices` slices, which hold `bytes` bytes.
pub(super) struct Share {
    pub(super) slot: u32,
    pub(super) slices: usize,
    pub(super) bytes: usize,
    pub(super) what: What,
}

/// What a subscription has been sent once its share was taken.
pub(super) enum What {
    /// All up to this seq.
    Baseline(Seq),
    Epoch(Epoch),
    /// An entry a frame, up to `last`.
    Frames {
        last: Seq,
        is_all: bool,
    },
    /// This many bytes more of the long frame.
    Part {
        bytes: usize,
    },
}

impl Outbox {
    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Bytes that are kept for this socket outside its stream.
    pub(super) fn held_bytes(&self) -> usize {
        let long = self.long.as_ref().map_or(0, |long| long.text.len());
        let batch = self.batch.as_ref().map_or(0, |batch| batch.frames.len());
        long + batch
    }

    pub(super) fn park(&mut self, slot: u32) {
        if !self.parked.contains(&slot) {
            self.parked.push(slot);
        }
    }

    /// The subscription in this slot ends or begins anew: nothing of it is left.
    pub(super) fn forget(&mut self, slot: u32) {
        self.turns.forget(slot);
        self.parked.retain(|other| *other != slot);
        self.long.take_if(|long| long.slot == slot);
        self.reading.take_if(|reading| reading.slot == slot);
        self.batch.take_if(|batch| batch.slot == slot);
    }
}

impl Turn {
    fn has_room(&self) -> bool {
        self.bytes < QUANTUM_BYTES && self.slices.len() < SLICES_MAX - 1
    }

    pub(super) fn push(&mut self, slot: u32, frame: Bytes, what: What) {
        let bytes = frame.len();
        self.slices.push(frame);
        self.push_share(Share {
            slot,
            slices: 1,
            bytes,
            what,
        });
    }

    pub(super) fn push_share(&mut self, share: Share) {
        self.bytes += share.bytes;
        self.shares.push(share);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Queues a subscription that became ready.
    pub(super) fn queue_ready(&mut self, slot: u32) {
        if let Some(subscription) = self.subscriptions.get_mut(slot) {
            self.outbox.turns.queue_ready(slot, subscription);
        }
    }

    /// Queues a subscription that has more to send.
    pub(super) fn queue(&mut self, slot: u32) {
        if let Some(subscription) = self.subscriptions.get_mut(slot) {
            self.outbox.turns.queue(slot, subscription);
        }
    }

    /// Queues those whose tails have advanced.
    pub(super) fn take_ready(&mut self) {
        let Self {
            state,
            subscriptions,
            outbox,
            ..
        } = self;
        state.ready.drain(|slot| {
            if let Some(subscription) = subscriptions.get_mut(slot) {
                outbox.turns.queue_ready(slot, subscription);
            }
        });
    }

    /// Sends as much as the socket takes, up to a bound.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, now: Instant) -> io::Result<()> {
        for _ in 0..WRITES_PER_POLL {
            // Nothing is taken from tails or the engine for a socket that may still be blocked.
            let turn = if self.outbox.is_blocked {
                Turn::default()
            } else {
                self.gather(cx)
            };
            if turn.bytes == 0 && !self.stream().has_work() {
                self.outbox.is_blocked = false;
                if self.outbox.turns.is_empty() {
                    return Ok(());
                }
                continue;
            }
            let held = self.stream().held_bytes();
            let sent = self.stream().poll_send(cx, &turn.slices)?;
            self.note(held, sent, now);
            self.commit(turn, sent.bytes);
            if sent.is_blocked {
                self.drop_batch();
                return Ok(());
            }
            if self.outbox.turns.is_empty() {
                return Ok(());
            }
        }
        cx.waker().wake_by_ref();
        Ok(())
    }

    /// Tells the heartbeat what became of a write that began with `held` bytes of the stream's own.
    fn note(&mut self, held: usize, sent: Sent, now: Instant) {
        self.outbox.is_blocked = sent.is_blocked;
        let is_ping_alone = self.heartbeat.has_ping_queued() && held <= PING.len();
        if sent.bytes > 0 || sent.has_moved && !is_ping_alone {
            self.heartbeat.wrote(now);
        }
        let is_empty = self.stream().held_bytes() == 0;
        self.heartbeat
            .offered(now, sent.has_moved, sent.is_blocked, is_empty);
    }

    /// Takes turns until one write is full or nobody is ready.
    fn gather(&mut self, cx: &mut Context<'_>) -> Turn {
        let mut turn = Turn::default();
        while turn.has_room() {
            let Some((slot, _)) = self.outbox.turns.next(&mut self.subscriptions) else {
                break;
            };
            self.take_turn(cx, slot, &mut turn);
        }
        turn
    }

    /// Moves the cursors over what the socket took, `taken` bytes of whole frames; the others get their turn again.
    fn commit(&mut self, turn: Turn, mut taken: usize) {
        let Turn { slices, shares, .. } = turn;
        let mut slices = slices.into_iter();
        for share in shares {
            let its: Vec<Bytes> = slices.by_ref().take(share.slices).collect();
            if taken >= share.bytes {
                taken -= share.bytes;
                self.commit_share(share);
            } else {
                self.break_share(&share, &its, taken);
                taken = 0;
            }
        }
    }

    /// The socket took only the first `taken` bytes of a share.
    fn break_share(&mut self, share: &Share, slices: &[Bytes], taken: usize) {
        let Some(subscription) = self.subscriptions.get_mut(share.slot) else {
            return;
        };
        if let What::Frames { .. } = share.what {
            subscription.place.cursor = subscription.place.cursor.plus(frame_count(slices, taken));
            subscription.served += taken as u64;
        }
        self.queue(share.slot);
    }

    fn commit_share(&mut self, share: Share) {
        let Share {
            slot, bytes, what, ..
        } = share;
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        subscription.served += bytes as u64;
        match what {
            What::Frames { last, is_all } => {
                debug_assert!(last > subscription.place.cursor, "frames follow the cursor");
                subscription.place.cursor = last;
                if is_all {
                    return;
                }
            }
            What::Baseline(seq) => {
                subscription.place.cursor = seq;
                subscription.due = Due::Entries;
            }
            What::Epoch(epoch) => subscription.place.told = epoch,
            What::Part { bytes } => self.advance_long(bytes),
        }
        self.queue(slot);
    }
}

/// How many frames end within the first `within` bytes of the slices.
fn frame_count(slices: &[Bytes], mut within: usize) -> u64 {
    let mut count = 0;
    for slice in slices {
        let (frames, end) = whole_frames(slice, within);
        count += frames;
        within -= end;
        if end < slice.len() {
            break;
        }
    }
    debug_assert_eq!(within, 0, "a socket is said to have taken whole frames");
    count
}
