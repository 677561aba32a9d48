//! AG-UI 1.0 for a reader from before it: what such a reader would die of is left out or said in
//! the words it has.
//!
//! A pure transformation of one stream: outcomes, ids and order stay, with the one exception that a
//! cancelled run becomes a failed one, for there was no such outcome. What has no older form is
//! left out; nothing is made up in its place.
//!
//! Invariant: if the stream is legal AG-UI 1.0, what comes out is a stream that the clients of
//! 0.0.5x take to its end.

mod messages;
mod run;

use std::collections::HashMap;

use crate::edit::{Edit, edit_array, edit_object};
use crate::event::{Event, EventBody, Outcome};
use crate::fields::{self, Fields};
use crate::ids::StepName;
use crate::json::RawJson;
use crate::patch;

/// Whether who speaks this version of AG-UI is from before 1.0; so is who names none.
///
/// A version that cannot be read counts as a later one, as everywhere in AG-UI.
pub fn is_before_1_0(version: Option<&str>) -> bool {
    let major = version.map(|version| version.split('.').next().unwrap_or_default());
    major.is_none_or(|major| !major.is_empty() && major.bytes().all(|digit| digit == b'0'))
}

/// What an older reader gets of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Downgraded {
    /// This event.
    Event(RawJson),
    /// Nothing.
    LeftOut,
    /// Nothing of this event and of what follows: its stream cannot go on.
    StreamEnds,
}

/// One stream on its way to an older reader.
#[derive(Clone, Debug, Default)]
pub struct Downgrade {
    /// How often each step is open: once the tags are gone, the steps of two owners are one.
    steps: HashMap<StepName, usize>,
    run: RunEnd,
}

/// How the latest run of the stream ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RunEnd {
    /// It did not, or by RUN_FINISHED, or there was none.
    #[default]
    Open,
    /// By RUN_ERROR: older clients take nothing behind it.
    Failed,
    /// Cancelled, which an earlier stream told as a failure.
    ToldAsFailed,
}

impl Downgrade {
    /// Goes on within a run that has these steps open, each as often as it has owners.
    pub fn within_run(steps: HashMap<StepName, usize>) -> Self {
        Self {
            steps,
            run: RunEnd::Open,
        }
    }

    /// Goes on behind a run that was cancelled, whose end an earlier stream told.
    pub fn behind_cancelled() -> Self {
        Self {
            steps: HashMap::new(),
            run: RunEnd::ToldAsFailed,
        }
    }

    /// What the reader gets of the next event of its stream.
    pub fn take(&mut self, event: &Event) -> Downgraded {
        match &event.body {
            EventBody::Unknown { .. }
            | EventBody::SubagentStarted { .. }
            | EventBody::SubagentFinished { .. }
            | EventBody::SubagentError { .. } => return Downgraded::LeftOut,
            EventBody::StepStarted { step } if !self.opens(step) => return Downgraded::LeftOut,
            EventBody::StepFinished { step } if !self.closes(step) => return Downgraded::LeftOut,
            EventBody::RunStarted { .. } => {
                if self.run == RunEnd::Failed {
                    return Downgraded::StreamEnds;
                }
                *self = Self::default();
            }
            EventBody::RunFinished {
                outcome: Outcome::Cancelled,
                ..
            } => {
                self.run = RunEnd::Failed;
                return Downgraded::Event(run::cancelled_to_error(event));
            }
            // A late failure of a run that counts as failed already.
            EventBody::RunError { .. } if self.run != RunEnd::Open => return Downgraded::LeftOut,
            EventBody::RunError { .. } => self.run = RunEnd::Failed,
            _ => {}
        }
        Downgraded::Event(in_older_form(event))
    }

    /// Whether the step was not open before.
    fn opens(&mut self, step: &StepName) -> bool {
        let count = self.steps.entry(step.clone()).or_default();
        *count += 1;
        *count == 1
    }

    /// Whether the step is not open any more.
    fn closes(&mut self, step: &StepName) -> bool {
        match self.steps.get_mut(step) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            _ => {
                self.steps.remove(step);
                true
            }
        }
    }
}

/// The event without what older clients refuse; every other byte stays.
fn in_older_form(event: &Event) -> RawJson {
    let edited = edit_object(event.json.as_str(), |name, value| {
        match (&event.body, name) {
            (_, "subagentRunId") => Edit::Drop,
            (EventBody::RunStarted { .. }, "input") => Edit::if_some(run::input(value)),
            (EventBody::RunFinished { .. }, "outcome") => run::outcome(value),
            (EventBody::MessagesSnapshot { .. }, "messages") => {
                Edit::if_some(messages::in_older_form(value))
            }
            (EventBody::ToolCallResult { content, .. }, "content") => messages::as_text(content),
            (EventBody::StateDelta { .. }, "delta")
            | (EventBody::ActivityDelta { .. }, "patch") => Edit::if_some(known_operations(value)),
            _ => Edit::Keep,
        }
    });
    edited.map_or_else(|| event.json.clone(), RawJson::from_trusted)
}

/// A patch without the operations that nobody knows, which older clients take for a failure of the
/// whole; `None` if there are none.
fn known_operations(json: &str) -> Option<String> {
    edit_array(json, |operation| {
        let fields = Fields::of(operation).ok();
        let op = fields.as_ref().and_then(|fields| fields::tag(fields, "op"));
        Edit::drop_if(!op.is_some_and(|op| patch::is_operation(&op)))
    })
}

#[cfg(test)]
mod tests;
