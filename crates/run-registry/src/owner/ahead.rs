//! What the next append would do to the thread's messages, worked out against the fold before it is
//! made: whether they would become too large, and which patches of activities do not apply.
//!
//! An event that would take the messages over their bound does not enter the log: its run ends
//! there. Far from the bound a few additions show that nothing is near it; near it, or where a list
//! is restated (which lengthens every message of an id that is held repeatedly), the queue is
//! folded to see.

use std::collections::VecDeque;

use threadcast_agui::event::EventBody;
use threadcast_thread_log::entry::Millis;

use super::group::{Change, Group};
use super::{InFlight, Owner, Phase};
use crate::conversation::THREAD_MESSAGES_BYTES_MAX;
use crate::ending::Ending;
use crate::fold::Fold;
use crate::patch::{PatchFailure, StateLimits};

/// By how many times its own length an event that restates nothing lengthens messages at most:
/// `1e15` is kept as `1000000000000000.0`, and an id may become that of a call and of its message.
const GROWTH_FACTOR: usize = 5;

/// Names and marks around what an event says.
const GROWTH_BESIDE: usize = 512;

/// What some groups do to the messages of a fold.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Why the patches of activities do not apply, for each patch in order.
    failures: VecDeque<Option<PatchFailure>>,
    /// The first group that takes the messages over their bound, and to what length; nothing is
    /// known of what follows.
    over: Option<(usize, usize)>,
}

impl Ahead {
    /// Why the next patch of an activity does not apply; `None` if it does.
    pub(super) fn next_failure(&mut self) -> Option<PatchFailure> {
        self.failures.pop_front().flatten()
    }
}

impl Owner {
    /// How many groups go into the next append, and what they do to the messages.
    ///
    /// Where they would take the messages over their bound, the queue is cut and the run ends.
    pub(super) fn judge_next(&mut self, fold: &Fold, now: Millis) -> (usize, Ahead) {
        if let Some(InFlight::Batch { to, .. }) = self.in_flight {
            // The same again: its size was judged, and the fold may have it already.
            let count = usize::try_from(to - self.acknowledged).unwrap_or(usize::MAX);
            return (count, self.look_ahead(fold, count, false));
        }
        let count = self.batch_len();
        let is_sized = self.may_pass_the_bound(fold, count);
        let ahead = self.look_ahead(fold, count, is_sized);
        let Some((at, found)) = ahead.over else {
            return (count, ahead);
        };
        let what = format!(
            "messages of {found} bytes on one thread, at most {THREAD_MESSAGES_BYTES_MAX} are allowed"
        );
        self.cut(at);
        let end = self
            .stream
            .end(&Ending::TooLarge { what: what.into() }, now);
        self.push(end);
        self.phase = Phase::Ending;
        (self.batch_len(), ahead)
    }

    fn may_pass_the_bound(&self, fold: &Fold, count: usize) -> bool {
        let growths = self.queue.iter().take(count).map(growth_at_most);
        let growth = growths.sum::<Option<usize>>();
        growth.is_none_or(|growth| {
            fold.conversation().messages_bytes() + growth > THREAD_MESSAGES_BYTES_MAX
        })
    }

    /// Folds the messages as far as it is asked for: their length, or the activities alone.
    fn look_ahead(&self, fold: &Fold, count: usize, is_sized: bool) -> Ahead {
        let mut ahead = Ahead::default();
        let queued = || self.queue.iter().take(count);
        if !is_sized && !queued().any(patches_activity) {
            return ahead;
        }
        let mut messages = fold.conversation().messages_ahead();
        for (at, group) in queued().enumerate() {
            for queued in &group.entries {
                let Some(event) = queued.event() else {
                    continue;
                };
                if !is_sized && only_lengthens(&event.body) {
                    continue;
                }
                let before = messages.bytes();
                let failure = messages.apply(&event);
                if matches!(event.body, EventBody::ActivityDelta { .. }) {
                    ahead.failures.push_back(failure);
                }
                let found = messages.bytes();
                // The messages of the input were judged when the run was accepted.
                let is_judged = is_sized && !matches!(event.body, EventBody::RunStarted { .. });
                if is_judged && found > THREAD_MESSAGES_BYTES_MAX.max(before) {
                    ahead.over = Some((at, found));
                    return ahead;
                }
            }
        }
        ahead
    }

    /// Drops the groups from `at` on, none of which was ever sent.
    fn cut(&mut self, at: usize) {
        for group in self.queue.drain(at..) {
            self.newest -= 1;
            self.queued_bytes -= group.bytes();
            self.queued_events -= group.entries.len();
        }
    }
}

fn patches_activity(group: &Group) -> bool {
    let is_patch = |change: &Change| matches!(change, Change::ActivityDelta { .. });
    let mut changes = group
        .entries
        .iter()
        .filter_map(|queued| queued.change.as_ref());
    changes.any(is_patch)
}

/// Whether an event adds to one message that is there and is nothing to its id, role and activity.
fn only_lengthens(event: &EventBody) -> bool {
    matches!(
        event,
        EventBody::TextMessageContent { .. }
            | EventBody::ReasoningMessageContent { .. }
            | EventBody::ReasoningEncryptedValue { .. }
            | EventBody::ToolCallArgs { .. }
    )
}

/// `None` if it is no matter of what the group says.
fn growth_at_most(group: &Group) -> Option<usize> {
    let mut growth = GROWTH_FACTOR * group.bytes() + GROWTH_BESIDE * group.entries.len();
    for queued in &group.entries {
        match &queued.change {
            Some(Change::MessagesSnapshot) => return None,
            Some(Change::ActivityDelta { copies: true, .. }) => {
                growth += StateLimits::default().bytes_max;
            }
            _ => {}
        }
    }
    Some(growth)
}

#[cfg(test)]
mod tests;
