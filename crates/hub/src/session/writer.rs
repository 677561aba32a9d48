//! What a session sends: its own frames first, then its subscriptions in turn, by bytes.
//!
//! Cursors move only over frames that the socket took, so that what a blocked socket did not take costs nothing but the
//! cursor. Invariant: a subscription that has something to send is queued, parked, or waits for its read of the engine.

use std::io;
use std::task::Context;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::outbox::{Share, Turn, What};
use super::{PING, Session};
use crate::defaults::{IDLE_TURNS_MAX, LONG_BASELINE_BYTES, WRITES_PER_POLL};
use crate::frame::whole_frames;
use crate::frame_stream::Sent;
use crate::subscription::Due;

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

    /// Queues those whose tails have advanced, if a round may begin.
    pub(super) fn take_ready(&mut self) {
        let Self {
            state,
            subscriptions,
            outbox,
            pace,
            ..
        } = self;
        if !pace.may_begin() {
            return;
        }
        state.ready.drain(|slot| {
            if let Some(subscription) = subscriptions.get_mut(slot) {
                outbox.turns.queue_ready(slot, subscription);
            }
        });
        if outbox.has_turns() {
            pace.begin();
        }
    }

    /// Sends as much as the socket takes, up to a bound.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, now: Instant) -> io::Result<()> {
        for _ in 0..WRITES_PER_POLL {
            // Nothing is taken from tails or the engine for a socket that may still be blocked.
            let was_blocked = self.pace.is_blocked();
            let turn = if was_blocked || self.has_answers_to_send_first() {
                Turn::default()
            } else {
                self.gather(cx)
            };
            if turn.bytes == 0 && !self.stream().has_work() {
                self.pace.offered(false);
                if !self.outbox.has_turns() {
                    return Ok(());
                }
                continue;
            }
            let held = self.stream().held_bytes();
            let sent = self.stream().poll_send(cx, &turn.slices)?;
            self.note(held, sent, now);
            self.commit(turn, sent.bytes);
            if sent.is_blocked {
                return Ok(());
            }
            if was_blocked {
                self.take_ready();
            }
            if !self.outbox.has_turns() {
                return Ok(());
            }
        }
        cx.waker().wake_by_ref();
        Ok(())
    }

    /// Whether answers would wait for a long baseline that has to be made.
    fn has_answers_to_send_first(&mut self) -> bool {
        if !self.stream().has_work() {
            return false;
        }
        let next = self.outbox.turns.peek();
        let next = next.and_then(|slot| self.subscriptions.get_mut(slot));
        next.is_some_and(|next| {
            next.due == Due::Baseline && next.live.baseline_to_make() > LONG_BASELINE_BYTES
        })
    }

    /// Tells the heartbeat what became of a write that began with `held` bytes of the stream's own.
    fn note(&mut self, held: usize, sent: Sent, now: Instant) {
        self.pace.offered(sent.is_blocked);
        let is_ping_alone = self.heartbeat.has_ping_queued() && held <= PING.len();
        if sent.bytes > 0 || sent.has_moved && !is_ping_alone {
            self.heartbeat.wrote(now);
        }
        let is_empty = self.stream().held_bytes() == 0;
        self.heartbeat
            .offered(now, sent.has_moved, sent.is_blocked, is_empty);
    }

    /// Takes turns until one write is full, nobody is ready, or too many of them came to nothing.
    fn gather(&mut self, cx: &mut Context<'_>) -> Turn {
        let mut turn = Turn::default();
        let mut idle_turns = 0;
        self.poll_reading(cx, Some(&mut turn));
        while turn.has_room() && idle_turns < IDLE_TURNS_MAX {
            for slot in self.outbox.unpark() {
                self.queue(slot);
            }
            let Some((slot, _)) = self.outbox.turns.next(&mut self.subscriptions) else {
                break;
            };
            let before = turn.bytes;
            self.take_turn(cx, slot, &mut turn);
            idle_turns += usize::from(turn.bytes == before);
        }
        turn
    }

    /// Moves the cursors over what the socket took, `taken` bytes of whole frames; the others get their turn again.
    fn commit(&mut self, turn: Turn, mut taken: usize) {
        let Turn { slices, shares, .. } = turn;
        let mut slices = slices.as_slice();
        for share in shares {
            let its;
            (its, slices) = slices.split_at(share.slices);
            if taken >= share.bytes {
                taken -= share.bytes;
                self.commit_share(share);
            } else {
                self.break_share(&share, its, taken);
                taken = 0;
            }
        }
    }

    /// The socket took only the first `taken` bytes of a share.
    fn break_share(&mut self, share: &Share, slices: &[Bytes], taken: usize) {
        let Some(subscription) = self.subscriptions.get_mut(share.slot) else {
            return;
        };
        let place = &mut subscription.place;
        match &share.what {
            What::Frames { .. } => place.cursor = place.cursor.plus(frame_count(slices, taken)),
            What::Block { block, .. } => {
                let frames = usize::try_from(frame_count(slices, taken)).unwrap_or(usize::MAX);
                place.cursor = block.cursor_after(place.cursor, frames);
            }
            What::Baseline(_) | What::Epoch(_) | What::Part { .. } => {
                return self.queue(share.slot);
            }
        }
        subscription.served += taken as u64;
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
            What::Block { block, is_all } => return self.advance_block(slot, &block, is_all),
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
