//! What a plain reader holds otherwise than the hub, because AG-UI's reference client does
//! operations of a patch that the hub refuses (docs/protocol.md §13.5, §14.5).
//!
//! It is made whole by made-up snapshots. They come when nothing else is there to be told, at the
//! latest before the run ends, and never between runs.
//!
//! Invariant: but for the first of a run and the one before its end, snapshots are not longer than
//! the events told since the one before: failing patches do not multiply into snapshots.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use threadcast_agui::ids::MessageId;
use threadcast_agui::json::RawJson;
use threadcast_agui::message::{Message, MessageBody};
use threadcast_hub::live_thread::LiveThread;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::registry::Diverged;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;

use super::log_range::each_entry;

/// What is to be healed of one reader.
#[derive(Debug, Default)]
pub(super) struct Healing {
    state: bool,
    activities: BTreeSet<MessageId>,
    /// Bytes of events told since the last snapshots of the run; none before the first.
    told_since: Option<usize>,
    /// How many have to be told before it is worth a look.
    due_after: usize,
}

impl Healing {
    /// Of a reader who comes back behind `after`: if it went within a run, it may have gone before
    /// it was healed. What the run told of up to there counts, whatever came since.
    ///
    /// # Errors
    /// The engine failed.
    pub(super) async fn of_returning(live: &LiveThread, after: Seq) -> Result<Self, EngineError> {
        let mut healing = Self::default();
        let diverged = live.with_fold(|fold| fold.registry().open_at(after)?.diverged);
        // Most runs tell of no such patch, and nothing is read for them.
        if let Some(Diverged { first, last }) = diverged.filter(|told| told.first <= after) {
            let range = first..=last.min(after);
            let note = |entry: &Entry| {
                if let Some(fact) = Fact::of(entry) {
                    healing.note_fact(&fact);
                }
            };
            each_entry(live, range, usize::MAX, note).await?;
        }
        Ok(healing)
    }

    pub(super) fn is_needed(&self) -> bool {
        self.state || !self.activities.is_empty()
    }

    /// Takes note of a patch that did not apply.
    pub(super) fn note_fact(&mut self, fact: &Fact) {
        match fact {
            Fact::ActivityDiverged(fact) if fact.failure.stricter => {
                self.activities.insert(fact.message_id.clone());
            }
            Fact::StateDiverged(fact) if fact.failure.stricter => self.state = true,
            _ => {}
        }
    }

    /// Takes note of an event that was told.
    pub(super) fn note_told(&mut self, bytes: usize) {
        if let Some(told) = &mut self.told_since {
            *told += bytes;
        }
    }

    pub(super) fn begin_run(&mut self) {
        (self.told_since, self.due_after) = (None, 0);
    }

    /// Whether `fold` holds what the reader should hold after the entry at `seq`.
    pub(super) fn is_present(&self, fold: &Fold, seq: Seq) -> bool {
        (!self.state || fold.versions().state <= seq)
            && (self.activities.is_empty() || fold.head() == seq)
    }

    /// The snapshots that make the reader hold what `conversation` does.
    pub(super) fn snapshots(&self, conversation: &Conversation) -> Vec<RawJson> {
        let state = self.state.then(|| state_snapshot(conversation.state()));
        let activities = self.activities.iter().filter_map(|id| {
            // It may be gone, or another kind of message now.
            activity_snapshot(conversation.message(id)?)
        });
        state.into_iter().chain(activities).collect()
    }

    /// Whether snapshots may be due although the run goes on.
    pub(super) fn is_due(&self) -> bool {
        self.is_needed() && self.told_since.is_none_or(|told| told >= self.due_after)
    }

    /// Whether these are; otherwise they are put off.
    pub(super) fn may_tell(&mut self, snapshots: &[RawJson]) -> bool {
        self.due_after = snapshots.iter().map(|one| one.as_str().len()).sum();
        self.is_due()
    }

    pub(super) fn is_done(&mut self) {
        self.state = false;
        self.activities.clear();
        (self.told_since, self.due_after) = (Some(0), 0);
    }
}

/// The whole state, made up.
pub(super) fn state_snapshot(state: &Value) -> RawJson {
    RawJson::from_value(&json!({ "type": "STATE_SNAPSHOT", "snapshot": state }))
}

fn activity_snapshot(message: &Message) -> Option<RawJson> {
    let MessageBody::Activity {
        activity_type,
        content,
    } = &message.body
    else {
        return None;
    };
    let mut event = json!({
        "type": "ACTIVITY_SNAPSHOT",
        "messageId": message.id.as_str(),
        "activityType": activity_type,
        "content": content,
    });
    // Who sends a snapshot is the activity's owner from then on.
    if let Some(owner) = &message.owner {
        event["subagentRunId"] = json!(owner.as_str());
    }
    Some(RawJson::from_value(&event))
}
