//! What one event of a source became: entries that enter the log together.

use std::sync::Arc;

use serde_json::Value;
use threadcast_agui::event::{Event, EventBody, Outcome};
use threadcast_agui::ids::RunId;
use threadcast_agui::patch::Patch;
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::principal::Principal;

use crate::fact::{Fact, RunDispatched};
use crate::registry::{RunRecord, Took};

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

/// An entry, and what it does to the shared state.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) entry: NewEntry,
    pub(super) state: Option<StateChange>,
}

#[derive(Debug)]
pub(super) enum StateChange {
    Delta(Patch),
    Snapshot(Value),
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
            entries: vec![Queued { entry, state: None }],
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
        let class = match &event.body {
            EventBody::RunStarted { .. }
            | EventBody::RunFinished { .. }
            | EventBody::RunError { .. } => Class::CONTROL,
            EventBody::StateDelta { .. } | EventBody::StateSnapshot { .. } => Class::STATE,
            _ => Class::NONE,
        };
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
        let state = match event.body {
            EventBody::StateDelta { delta } => Some(StateChange::Delta(delta)),
            EventBody::StateSnapshot { snapshot } => Some(StateChange::Snapshot(snapshot)),
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
            state,
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
                    && record
                        .failure
                        .as_ref()
                        .is_some_and(|failure| failure.code == *code)
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
