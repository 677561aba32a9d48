//! The hub's own facts: what it decided and saw, beside the agents' events.
//!
//! A fact is an object with `type` and `by`. Its public part is what viewers get; its private part
//! (whole submissions, forwarded properties, attempt ids) only the audit and the owner of a run
//! read.
//!
//! Invariant: `Fact::read` of what `Fact::to_body` wrote gives the same fact; a type that is not
//! known reads as none.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::ResumeStatus;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_thread_log::principal::Principal;

use crate::agent_name::AgentName;
use crate::fingerprint::Fingerprint;

mod diverged;
mod forked;
mod repaired;

pub use diverged::{ActivityDiverged, FailedOperation, StateDiverged};
pub use forked::{ForkedFrom, ThreadForked};
pub use repaired::{ClosedItem, ClosedKind, StreamRepaired};

/// Names one try to append a decision: random, looked for in the log when the outcome of an append
/// is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptId(pub Arc<str>);

/// One fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    ActivityDiverged(ActivityDiverged),
    InterruptReopened(InterruptReopened),
    InterruptResolved(InterruptResolved),
    RunAccepted {
        public: RunAccepted,
        submission: Submission,
    },
    RunCancelRequested {
        public: RunCancelRequested,
        attempt: AttemptId,
    },
    RunDispatched(RunDispatched),
    RunTrailing(RunTrailing),
    StateDiverged(StateDiverged),
    StatePatched(StatePatched),
    StreamRepaired(StreamRepaired),
    ThreadForked(ThreadForked),
}

/// `interrupt.reopened`: the run that took the answers never reached its agent, so the questions
/// stand again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptReopened {
    pub by: Principal,
    /// The run that raised them.
    pub of: RunId,
    pub interrupt_ids: Vec<InterruptId>,
    /// The run that had taken the answers.
    pub run_id: RunId,
}

/// `interrupt.resolved`: one question has its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptResolved {
    pub by: Principal,
    /// The run that raised it.
    pub of: RunId,
    pub interrupt_id: InterruptId,
    #[serde(with = "status")]
    pub status: ResumeStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<RawJson>,
    /// The run that takes the answer to the agent.
    pub run_id: RunId,
    /// Why the payload was not checked against the interrupt's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<Box<str>>,
}

/// `run.accepted`: a run will be started; the public part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunAccepted {
    pub by: Principal,
    pub run_id: RunId,
    pub agent: AgentName,
    /// An array: the messages of the submission that the thread did not hold.
    pub messages: RawJson,
    /// The questions it answers, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<AcceptedResume>,
}

/// Which questions an accepted run answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedResume {
    /// The run that raised them.
    pub of: RunId,
    pub entries: Vec<AnsweredEntry>,
}

/// One answered question, without its payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnsweredEntry {
    pub interrupt_id: InterruptId,
    #[serde(with = "status")]
    pub status: ResumeStatus,
}

/// The private part of `run.accepted`: all the agent's request is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Submission {
    pub attempt: AttemptId,
    pub fingerprint: Fingerprint,
    pub content: SubmittedContent,
}

/// What was submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SubmittedContent {
    /// A whole AG-UI run input, as it came.
    Input(RawJson),
    /// Resume entries alone, an array; the rest comes from the thread.
    Resume(RawJson),
}

/// `run.cancel_requested`: someone wants the run to stop; the public part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCancelRequested {
    pub by: Principal,
    pub run_id: RunId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
}

/// `run.dispatched`: from here on the agent may have been reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDispatched {
    pub by: Principal,
    pub run_id: RunId,
}

/// `run.trailing`: an event that came after its run's end and is no part of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTrailing {
    pub by: Principal,
    pub run_id: RunId,
    pub event_type: Box<str>,
    /// Whether what follows this one is no longer recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_last: bool,
}

/// `state.patched`: someone other than the agent changed the shared state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatePatched {
    pub by: Principal,
    /// A JSON Patch.
    pub patch: RawJson,
}

/// Why a stored fact cannot be read; a fold passes over it.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    #[error("fact `{fact_type}` has no private part")]
    NoPrivate { fact_type: &'static str },
    #[error("fact has another shape than its type says")]
    Shape(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct Type {
    r#type: String,
}

#[derive(Serialize, Deserialize)]
struct Attempt {
    attempt: AttemptId,
}

impl Fact {
    /// The `type` member.
    pub fn fact_type(&self) -> &'static str {
        match self {
            Self::ActivityDiverged(_) => "activity.diverged",
            Self::InterruptReopened(_) => "interrupt.reopened",
            Self::InterruptResolved(_) => "interrupt.resolved",
            Self::RunAccepted { .. } => "run.accepted",
            Self::RunCancelRequested { .. } => "run.cancel_requested",
            Self::RunDispatched(_) => "run.dispatched",
            Self::RunTrailing(_) => "run.trailing",
            Self::StateDiverged(_) => "state.diverged",
            Self::StatePatched(_) => "state.patched",
            Self::StreamRepaired(_) => "stream.repaired",
            Self::ThreadForked(_) => "thread.forked",
        }
    }

    /// Who decided or saw it.
    pub fn by(&self) -> &Principal {
        match self {
            Self::ActivityDiverged(fact) => &fact.by,
            Self::InterruptReopened(fact) => &fact.by,
            Self::InterruptResolved(fact) => &fact.by,
            Self::RunAccepted { public, .. } => &public.by,
            Self::RunCancelRequested { public, .. } => &public.by,
            Self::RunDispatched(fact) => &fact.by,
            Self::RunTrailing(fact) => &fact.by,
            Self::StateDiverged(fact) => &fact.by,
            Self::StatePatched(fact) => &fact.by,
            Self::StreamRepaired(fact) => &fact.by,
            Self::ThreadForked(fact) => &fact.by,
        }
    }

    /// The attempt that a decision carries.
    pub fn attempt(&self) -> Option<&AttemptId> {
        match self {
            Self::RunAccepted { submission, .. } => Some(&submission.attempt),
            Self::RunCancelRequested { attempt, .. } => Some(attempt),
            _ => None,
        }
    }

    /// The body under which it enters the log.
    pub fn to_body(&self) -> Body {
        let (public, private) = match self {
            Self::ActivityDiverged(fact) => (self.typed(fact), None),
            Self::InterruptReopened(fact) => (self.typed(fact), None),
            Self::InterruptResolved(fact) => (self.typed(fact), None),
            Self::RunAccepted { public, submission } => {
                (self.typed(public), Some(to_json(submission)))
            }
            Self::RunCancelRequested { public, attempt } => (
                self.typed(public),
                Some(to_json(&Attempt {
                    attempt: attempt.clone(),
                })),
            ),
            Self::RunDispatched(fact) => (self.typed(fact), None),
            Self::RunTrailing(fact) => (self.typed(fact), None),
            Self::StateDiverged(fact) => (self.typed(fact), None),
            Self::StatePatched(fact) => (self.typed(fact), None),
            Self::StreamRepaired(fact) => (self.typed(fact), None),
            Self::ThreadForked(fact) => (self.typed(fact), None),
        };
        Body::Fact { public, private }
    }

    fn typed(&self, public: &impl Serialize) -> RawJson {
        let members = to_json(public);
        RawJson::from_trusted(format!(
            "{{\"type\":\"{}\",{}",
            self.fact_type(),
            &members.as_str()[1..]
        ))
    }

    /// Reads a fact; `None` is a type that is not known: relayed, and ignored by folds.
    ///
    /// # Errors
    /// A part is missing or has another shape than the type says.
    pub fn read(public: &RawJson, private: Option<&RawJson>) -> Result<Option<Self>, FactError> {
        let json = public.as_str();
        let fact_type: Type = serde_json::from_str(json)?;
        Ok(Some(match fact_type.r#type.as_str() {
            "activity.diverged" => Self::ActivityDiverged(serde_json::from_str(json)?),
            "interrupt.reopened" => Self::InterruptReopened(serde_json::from_str(json)?),
            "interrupt.resolved" => Self::InterruptResolved(serde_json::from_str(json)?),
            "run.accepted" => {
                let private = private.ok_or(FactError::NoPrivate {
                    fact_type: "run.accepted",
                })?;
                Self::RunAccepted {
                    public: serde_json::from_str(json)?,
                    submission: serde_json::from_str(private.as_str())?,
                }
            }
            "run.cancel_requested" => {
                let private = private.ok_or(FactError::NoPrivate {
                    fact_type: "run.cancel_requested",
                })?;
                let Attempt { attempt } = serde_json::from_str(private.as_str())?;
                Self::RunCancelRequested {
                    public: serde_json::from_str(json)?,
                    attempt,
                }
            }
            "run.dispatched" => Self::RunDispatched(serde_json::from_str(json)?),
            "run.trailing" => Self::RunTrailing(serde_json::from_str(json)?),
            "state.diverged" => Self::StateDiverged(serde_json::from_str(json)?),
            "state.patched" => Self::StatePatched(serde_json::from_str(json)?),
            "stream.repaired" => Self::StreamRepaired(serde_json::from_str(json)?),
            "thread.forked" => Self::ThreadForked(serde_json::from_str(json)?),
            _ => return Ok(None),
        }))
    }

    /// The fact of an entry; `None` for an event, and for what cannot be read.
    pub fn of(entry: &Entry) -> Option<Self> {
        match &entry.record.body {
            Body::Fact { public, private } => Self::read(public, private.as_ref()).ok().flatten(),
            Body::Event { .. } => None,
        }
    }
}

fn to_json(part: &impl Serialize) -> RawJson {
    RawJson::from_trusted(
        serde_json::to_string(part).expect("ids, text and raw JSON always have a JSON form"),
    )
}

pub(crate) mod status {
    use serde::{Deserialize, Deserializer, Serializer};
    use threadcast_agui::interrupt::ResumeStatus;

    pub(crate) fn serialize<S: Serializer>(
        status: &ResumeStatus,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(status.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<ResumeStatus, D::Error> {
        let found = String::deserialize(from)?;
        let all = [ResumeStatus::Resolved, ResumeStatus::Cancelled];
        all.into_iter()
            .find(|status| status.as_str() == found)
            .ok_or_else(|| serde::de::Error::unknown_variant(&found, &["resolved", "cancelled"]))
    }
}

#[cfg(test)]
mod tests;
