//! What a conversation keeps besides messages and state.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize, Serializer};
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::{MessageId, RunId, StepName, SubagentRunId, ThreadId, ToolCallId};
use threadcast_agui::json::RawJson;

use crate::checkpoint::CheckpointError;
use crate::checkpoint::stored::event;
use crate::conversation::{RunEvents, Runs, StartedCall};
use crate::verify::{Open, Owner, Owners, Phase, RunScope, Subagents, Verifier};

/// The latest runs' own events, and the calls of the latest one.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StoredRuns {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latest: Option<StoredRun>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<StoredRun>,
    started: Vec<StoredCall>,
    answered: BTreeSet<ToolCallId>,
}

/// Events of one run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRun {
    started: RawJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finished: Option<RawJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<RawJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCall {
    id: ToolCallId,
    name: Box<str>,
}

impl StoredRuns {
    pub(super) fn of(runs: &Runs) -> Self {
        let started = runs.started().iter().map(|call| StoredCall {
            id: call.id.clone(),
            name: call.name.clone(),
        });
        Self {
            latest: runs.latest().map(StoredRun::of),
            before: runs.before().map(StoredRun::of),
            started: started.collect(),
            answered: runs.answered().cloned().collect(),
        }
    }

    pub(super) fn read(self) -> Result<Runs, CheckpointError> {
        let started = self.started.into_iter().map(|call| StartedCall {
            id: call.id,
            name: call.name,
        });
        Ok(Runs::of(
            self.latest.map(StoredRun::read).transpose()?,
            self.before.map(StoredRun::read).transpose()?,
            started.collect(),
            self.answered,
        ))
    }
}

impl StoredRun {
    fn of(run: &RunEvents) -> Self {
        let json = |event: &Option<Event>| event.as_ref().map(|event| event.json.clone());
        Self {
            started: run.started.json.clone(),
            finished: json(&run.finished),
            error: json(&run.error),
        }
    }

    fn read(self) -> Result<RunEvents, CheckpointError> {
        Ok(RunEvents {
            started: event(self.started)?,
            finished: self.finished.map(event).transpose()?,
            error: self.error.map(event).transpose()?,
        })
    }
}

/// Where the stream stands.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StoredVerifier {
    Start,
    Active(Box<StoredScope>),
    Finished,
    Errored,
}

/// What the open run has opened, closed and owned.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StoredScope {
    thread: ThreadId,
    run: RunId,
    calls: Vec<ToolCallId>,
    messages: Vec<MessageId>,
    reasoning_messages: Vec<MessageId>,
    spans: Vec<MessageId>,
    steps: Vec<(Owner, StepName)>,
    owners: StoredOwners,
    subagents: Vec<StoredInvocation>,
}

/// Who began each item.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredOwners {
    #[serde(serialize_with = "sorted")]
    activities: HashMap<MessageId, Owner>,
    #[serde(serialize_with = "sorted")]
    calls: HashMap<ToolCallId, Owner>,
    #[serde(serialize_with = "sorted")]
    messages: HashMap<MessageId, Owner>,
    #[serde(serialize_with = "sorted")]
    reasoning: HashMap<MessageId, Owner>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredInvocation {
    started: RawJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<RawJson>,
}

impl StoredVerifier {
    pub(super) fn of(verifier: &Verifier) -> Self {
        match verifier.phase() {
            Phase::Start => Self::Start,
            Phase::Active(scope) => Self::Active(StoredScope::of(scope).into()),
            Phase::Finished => Self::Finished,
            Phase::Errored => Self::Errored,
        }
    }

    pub(super) fn read(self) -> Result<Verifier, CheckpointError> {
        Ok(Verifier::at(match self {
            Self::Start => Phase::Start,
            Self::Active(scope) => Phase::Active(scope.read()?.into()),
            Self::Finished => Phase::Finished,
            Self::Errored => Phase::Errored,
        }))
    }
}

impl StoredScope {
    fn of(scope: &RunScope) -> Self {
        let invocations = scope.subagents.invocations().iter();
        let subagents = invocations.map(|invocation| StoredInvocation {
            started: invocation.started.json.clone(),
            ended: invocation.ended.as_ref().map(|ended| ended.json.clone()),
        });
        Self {
            thread: scope.thread.clone(),
            run: scope.run.clone(),
            calls: in_order(&scope.calls),
            messages: in_order(&scope.messages),
            reasoning_messages: in_order(&scope.reasoning_messages),
            spans: in_order(&scope.spans),
            steps: in_order(&scope.steps),
            owners: StoredOwners::of(&scope.owners),
            subagents: subagents.collect(),
        }
    }

    fn read(self) -> Result<RunScope, CheckpointError> {
        let mut subagents = Subagents::default();
        for StoredInvocation { started, ended } in self.subagents {
            let started = event(started)?;
            let name = subagent_of(&started)?;
            subagents.start(name, &started);
            if let Some(ended) = ended {
                let ended = event(ended)?;
                subagents.end(subagent_of(&ended)?, &ended);
            }
        }
        Ok(RunScope {
            thread: self.thread,
            run: self.run,
            calls: self.calls.into_iter().collect(),
            messages: self.messages.into_iter().collect(),
            owners: self.owners.read(),
            reasoning_messages: self.reasoning_messages.into_iter().collect(),
            spans: self.spans.into_iter().collect(),
            steps: self.steps.into_iter().collect(),
            subagents,
        })
    }
}

/// Whose life a subagent's own event is of.
fn subagent_of(event: &Event) -> Result<&SubagentRunId, CheckpointError> {
    match (&event.body, &event.owner) {
        (
            EventBody::SubagentStarted { .. }
            | EventBody::SubagentFinished { .. }
            | EventBody::SubagentError { .. },
            Some(subagent),
        ) => Ok(subagent),
        _ => {
            let problem = format_args!("{} is no subagent's own event", event.type_name());
            Err(CheckpointError::unreadable(problem))
        }
    }
}

fn in_order<K: Clone + Eq + std::hash::Hash>(open: &Open<K>) -> Vec<K> {
    open.in_order().into_iter().cloned().collect()
}

impl StoredOwners {
    fn of(owners: &Owners) -> Self {
        Self {
            activities: owners.activities.clone(),
            calls: owners.calls.clone(),
            messages: owners.messages.clone(),
            reasoning: owners.reasoning.clone(),
        }
    }

    fn read(self) -> Owners {
        Owners {
            activities: self.activities,
            calls: self.calls,
            messages: self.messages,
            reasoning: self.reasoning,
        }
    }
}

/// In the order of ids, so that the same fold has the same bytes.
fn sorted<K: Ord + Serialize, S: Serializer>(
    owners: &HashMap<K, Owner>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut owners: Vec<_> = owners.iter().collect();
    owners.sort_unstable_by_key(|(id, _)| *id);
    to.collect_map(owners)
}
