//! One subscription's turn: what it is sent next, wherever that comes from.
//!
//! Usually slices of its thread's tail. A cursor older than the tail reads the engine, and a frame too long for one
//! piece is sent in parts; of either a session has one at a time, so that what it holds is bounded however many threads
//! it follows. Who needs one meanwhile is parked.

use std::task::Context;

use threadcast_thread_log::position::Epoch;
use threadcast_wire::hub_frame::write_epoch;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Session;
use super::catch_up::{Need, Wanted};
use super::outbox::{Share, Turn, What};
use super::parts::LongFrame;
use crate::baseline::BaselineBody;
use crate::defaults::{QUANTUM_BYTES, SLICES_MAX};
use crate::frame::ready;
use crate::live_thread::Step;
use crate::subscription::Due;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Pushes what a subscription is sent next, within what it may send.
    pub(super) fn take_turn(&mut self, cx: &mut Context<'_>, slot: u32, turn: &mut Turn) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        subscription.flag.clear();
        self.outbox.leave(slot);
        // The tail tells by itself that the log was replaced; what stands beside it does not.
        let is_sending_long = self.outbox.is_sending_long(slot);
        let is_beside = subscription.due != Due::Entries || is_sending_long;
        if is_beside && subscription.live.generation() != subscription.place.generation {
            return self.judge_anew(slot);
        }
        if is_sending_long {
            return self.push_part(turn);
        }
        match subscription.due {
            Due::Baseline => self.push_baseline(slot, turn),
            Due::Edge => self.begin_reading(cx, slot, Need::EDGE, turn),
            Due::Entries => self.take_step(cx, slot, turn),
        }
    }

    /// Pushes what the tail holds for a subscription, or begins to get what it does not hold.
    fn take_step(&mut self, cx: &mut Context<'_>, slot: u32, turn: &mut Turn) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let before = turn.slices.len();
        let step = subscription.live.step(
            &subscription.place,
            subscription.serve(self.pace.is_slow()),
            QUANTUM_BYTES,
            SLICES_MAX - 1 - before,
            &mut turn.slices,
        );
        subscription.note(&step);
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
            Step::Long { seq, text } => self.begin_long(LongFrame::new(slot, seq, text), turn),
            Step::Epoch(epoch) => self.push_epoch(slot, epoch, turn),
            Step::Behind {
                until,
                is_compacted,
                is_all,
            } => {
                let wanted = if is_compacted {
                    Wanted::Compacted
                } else {
                    Wanted::Entries
                };
                let need = Need {
                    until,
                    wanted,
                    is_all,
                };
                self.begin_reading(cx, slot, need, turn);
            }
            Step::Replaced => self.judge_anew(slot),
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
                BaselineBody::Long(text) => {
                    let long = LongFrame::new(slot, baseline.seq, text.clone());
                    self.begin_long(long, turn);
                }
                BaselineBody::TooLarge => self.end_too_large(slot),
            },
        }
    }

    /// The subscription in this slot ends or begins anew: nothing of it is left.
    pub(super) fn forget(&mut self, slot: u32) {
        self.outbox.forget(slot);
        if let Some(subscription) = self.subscriptions.get_mut(slot) {
            subscription.is_queued = false;
        }
    }
}
