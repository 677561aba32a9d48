//! A log as a plain AG-UI stream: what an AG-UI client needs to hold what the thread holds.
//!
//! Facts are left out. What they changed, and what AG-UI's reference client makes of a patch
//! otherwise than the hub, is told by snapshots that are made up, as plain viewers are told it
//! (docs/protocol.md §13.5): a state behind the next RUN_STARTED, the rest in front of the run's
//! end.
//!
//! Invariant: what comes out is a legal stream, and leads an empty client to where the fold stands.

use std::collections::BTreeSet;

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::{MessageId, RunId, ThreadId};
use threadcast_agui::json::RawJson;
use threadcast_agui::make;
use threadcast_thread_log::entry::{Body, Entry};

use crate::fact::Fact;
use crate::fold::Fold;
use crate::snapshot::{leaves_state_out, snapshot};

/// Makes the stream, entry by entry.
#[derive(Debug)]
pub struct AguiExport {
    fold: Fold,
    /// Whether a client may hold another state.
    lacks_state: bool,
    /// Activities of which a client may hold something else.
    diverged: BTreeSet<MessageId>,
}

impl AguiExport {
    /// Of a log from its first entry on.
    pub fn new(thread: ThreadId) -> Self {
        Self::behind(Fold::new(thread)).0
    }

    /// Of what follows `base`, and the events in front of it: the snapshot of `base`.
    pub fn behind(base: Fold) -> (Self, Vec<RawJson>) {
        let events = snapshot(base.conversation()).into_iter();
        let export = Self {
            lacks_state: leaves_state_out(base.conversation()),
            diverged: BTreeSet::new(),
            fold: base,
        };
        (export, events.map(|event| event.json).collect())
    }

    /// What stands for the next entry; nothing for a fact.
    pub fn take(&mut self, entry: &Entry) -> Vec<RawJson> {
        let was_open = self.open_run().is_some();
        let mut events = Vec::new();
        match &entry.record.body {
            Body::Fact { .. } => self.note(entry),
            Body::Event { json, .. } => {
                let event = Event::from_raw(json.clone()).ok();
                match event.map(|event| event.body) {
                    Some(EventBody::RunFinished { .. } | EventBody::RunError { .. })
                        if was_open =>
                    {
                        events.extend(self.whole());
                    }
                    Some(EventBody::StateSnapshot { .. }) => self.lacks_state = false,
                    _ => {}
                }
                events.push(json.clone());
            }
        }
        self.fold.apply(entry);
        if !was_open && self.open_run().is_some() && self.lacks_state {
            events.extend(self.state());
        }
        events
    }

    fn note(&mut self, entry: &Entry) {
        match Fact::of(entry) {
            Some(Fact::ActivityDiverged(fact)) if fact.failure.stricter => {
                self.diverged.insert(fact.message_id);
            }
            Some(Fact::StateDiverged(fact)) if fact.failure.stricter => self.lacks_state = true,
            Some(Fact::StatePatched(_)) => self.lacks_state = true,
            _ => {}
        }
    }

    /// Snapshots of all that a client may hold otherwise.
    fn whole(&mut self) -> Vec<RawJson> {
        let mut events: Vec<_> = self.state().into_iter().collect();
        let held = self.fold.conversation();
        // One may be gone, or another kind of message now.
        let activities = std::mem::take(&mut self.diverged).into_iter();
        let activities = activities.filter_map(|id| make::activity_snapshot(held.message(&id)?));
        events.extend(activities.map(|event| event.json));
        events
    }

    fn state(&mut self) -> Option<RawJson> {
        let lacks = std::mem::take(&mut self.lacks_state);
        lacks.then(|| make::state_snapshot(self.fold.conversation().state()).json)
    }

    /// The run that is open behind the entries so far: if they end here, the stream is no whole one
    /// yet.
    pub fn open_run(&self) -> Option<&RunId> {
        self.fold.conversation().verifier().active_run()
    }

    /// What the entries so far amount to.
    pub fn fold(&self) -> &Fold {
        &self.fold
    }
}
