//! What one event of a source became: entries that enter the log together.

use std::sync::Arc;

use serde_json::Value;
use threadcast_agui::event::{Event, EventBody, Outcome};
use threadcast_agui::ids::{MessageId, RunId};
use threadcast_agui::patch::{Patch, PatchOp};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::principal::Principal;

use super::mending::Closer;
use crate::class;
use crate::fact::{Fact, RunDispatched, StreamRepaired};
use crate::registry::{RunRecord, Took, beginning};

/// Most items that a `stream.repaired` lists.
pub const REPAIRED_LISTED_MAX: usize = 64;

/// The entries of one event; none if it leaves nothing in the log.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) entries: Vec<Queued>,
    /// Whether it must be durable and stand alone.
    pub(super) is_dispatch: bool,
    /// How the run ends, if it ends here.
    pub(super) end: Option<End>,
    /// The answers that were never sent, if the run ends for want of an agent.
    pub(super) reopens: Option<Took>,
}

/// An entry, and what of it depends on what the thread holds.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) entry: NewEntry,
    pub(super) change: Option<Change>,
}

impl Queued {
    /// The event of the entry, if it is one.
    pub(super) fn event(&self) -> Option<Event> {
        match &self.entry.record.body {
            Body::Event { json, .. } => Event::from_raw(json.clone()).ok(),
            Body::Fact { .. } => None,
        }
    }
}

/// A change whose outcome is a matter of what it meets.
#[derive(Debug)]
pub(super) enum Change {
    ActivityDelta {
        message: MessageId,
        /// Whether it copies, and so adds more than it says.
        copies: bool,
    },
    MessagesSnapshot,
    StateDelta(Patch),
    StateSnapshot(Value),
}

/// How a run ends.
#[derive(Debug)]
pub(super) enum End {
    Finished(Outcome),
    Failed { code: Option<Box<str>> },
}

impl Group {
    pub(super) fn dispatched(run: &RunId, at: Millis) -> Self {
        let fact = Fact::RunDispatched(RunDispatched {
            by: Principal::hub(),
            run_id: run.clone(),
        });
        let entry = fact_entry(run, at, &fact);
        Self {
            entries: vec![Queued {
                entry,
                change: None,
            }],
            is_dispatch: true,
            ..Self::default()
        }
    }

    pub(super) fn push(
        &mut self,
        run: &RunId,
        at: Millis,
        origin: Origin,
        event: Event,
        from_chunk: bool,
    ) {
        let class = class::of_event(&event.body);
        let body = Body::Event {
            json: event.json,
            from_chunk,
        };
        let record = Arc::new(Record {
            at,
            run: Some(run.clone()),
            origin,
            body,
        });
        let change = match event.body {
            EventBody::ActivityDelta { message, patch, .. } => {
                let is_copy = |op: &PatchOp| matches!(op, PatchOp::Copy { .. });
                let copies = patch.0.iter().any(is_copy);
                Some(Change::ActivityDelta { message, copies })
            }
            EventBody::MessagesSnapshot { .. } => Some(Change::MessagesSnapshot),
            EventBody::StateDelta { delta } => Some(Change::StateDelta(delta)),
            EventBody::StateSnapshot { snapshot } => Some(Change::StateSnapshot(snapshot)),
            EventBody::RunFinished { outcome, .. } => {
                self.end = Some(End::Finished(outcome));
                None
            }
            EventBody::RunError { code, .. } => {
                self.end = Some(End::Failed { code });
                None
            }
            _ => None,
        };
        self.entries.push(Queued {
            entry: NewEntry { class, record },
            change,
        });
    }

    /// Closes what the agent left open, and says so.
    pub(super) fn push_repair(&mut self, run: &RunId, at: Millis, closers: Vec<Closer>) {
        let more = closers.len().saturating_sub(REPAIRED_LISTED_MAX);
        let mut closed = Vec::with_capacity(closers.len() - more);
        for Closer { event, item } in closers {
            if closed.len() < REPAIRED_LISTED_MAX {
                closed.push(item);
            }
            self.push(run, at, Origin::Hub, event, false);
        }
        let fact = Fact::StreamRepaired(StreamRepaired {
            by: Principal::hub(),
            run_id: run.clone(),
            closed,
            more,
        });
        self.entries.push(Queued {
            entry: fact_entry(run, at, &fact),
            change: None,
        });
    }

    pub(super) fn ends(&self) -> bool {
        self.end.is_some()
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries
            .iter()
            .map(|queued| queued.entry.record.size_bytes())
            .sum()
    }

    /// Whether the run that `record` tells of ended here.
    pub(super) fn is_end_of(&self, record: &RunRecord) -> bool {
        let Some(ended) = record.ended else {
            return false;
        };
        match &self.end {
            Some(End::Failed { code }) => {
                ended.by_error
                    && record.failure.as_ref().is_some_and(|failure| {
                        failure.code.as_deref() == code.as_deref().map(beginning)
                    })
            }
            // Only an agent finishes a run, and only this owner hears it.
            Some(End::Finished(_)) => !ended.by_error,
            None => false,
        }
    }
}

pub(super) fn fact_entry(run: &RunId, at: Millis, fact: &Fact) -> NewEntry {
    let record = Record {
        at,
        run: Some(run.clone()),
        origin: Origin::Hub,
        body: fact.to_body(),
    };
    NewEntry {
        class: Class::NONE,
        record: Arc::new(record),
    }
}
