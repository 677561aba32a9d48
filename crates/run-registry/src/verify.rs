//! Whether an event may come next in an agent's stream.
//!
//! It judges order and ownership of expanded events as the reference client does, and what AG-UI
//! demands beyond that: the ids of run and thread, and unique interrupt ids. The shape of an event
//! was judged when it was read; that a run id is new on its thread is the registry's business; that
//! a stream must not just end is the owner's.
//!
//! ```text
//! Start ──RUN_STARTED──▶ Active ──RUN_FINISHED──▶ Finished ──RUN_ERROR──▶ Errored
//!   └──────RUN_ERROR──────▶└────────RUN_ERROR──────────────────────────▶┘
//! ```
//! From Finished and Errored, RUN_STARTED leads to Active with nothing remembered.

mod demand;
mod judge;
mod open;
mod owners;
mod rule;
mod scope;
mod subagents;

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::{RunId, StepName, ThreadId};

pub(crate) use crate::verify::open::Open;
pub(crate) use crate::verify::owners::{Owner, Owners};
pub use crate::verify::rule::Rule;
pub(crate) use crate::verify::scope::RunScope;
pub(crate) use crate::verify::subagents::Subagents;

/// The run an agent's stream must be of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub thread: ThreadId,
    pub run: RunId,
}

/// An event that may not stand where it came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {message}")]
pub struct Violation {
    pub rule: Rule,
    /// Names the event and both sides of what disagrees.
    pub message: String,
}

impl Violation {
    pub(crate) fn new(rule: Rule, event: &Event, problem: std::fmt::Arguments<'_>) -> Self {
        Self {
            rule,
            message: format!("{} {problem}", event.type_name()),
        }
    }
}

/// Where a stream stands: what may come next.
///
/// Invariant: an event that [`Self::judge`] accepted leaves every prefix rule true after
/// [`Self::advance`]; nothing of a run is remembered once the next one starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verifier {
    phase: Phase,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Phase {
    #[default]
    Start,
    Active(Box<RunScope>),
    Finished,
    Errored,
}

impl Verifier {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Of where it stands, as a checkpoint keeps it.
    pub(crate) fn at(phase: Phase) -> Self {
        Self { phase }
    }

    pub(crate) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Whether `event` may come next in the stream of the run `expected`.
    ///
    /// Unknown types may come at any time, raw chunks whenever a run is open.
    ///
    /// # Errors
    /// The event breaks a rule, which the violation names.
    pub fn judge(&self, event: &Event, expected: &Expected) -> Result<(), Violation> {
        self.judge_order(event)?;
        match &event.body {
            EventBody::RunStarted { thread, run, .. } => demand::must_name(
                event,
                (thread.as_str(), run.as_str()),
                &expected.thread,
                &expected.run,
            ),
            _ => Ok(()),
        }
    }

    /// The same for a stream of any run.
    pub(crate) fn judge_order(&self, event: &Event) -> Result<(), Violation> {
        let refuse =
            |rule, problem: std::fmt::Arguments<'_>| Err(Violation::new(rule, event, problem));
        match (&self.phase, &event.body) {
            (_, EventBody::Unknown { .. }) => Ok(()),
            (Phase::Active(scope), EventBody::RunStarted { run, .. }) => refuse(
                Rule::NestedRun,
                format_args!("of run `{run}` comes while run `{}` is open", scope.run),
            ),
            (_, EventBody::RunStarted { .. }) => Ok(()),
            (Phase::Active(scope), _) => scope.judge(event),
            (Phase::Start | Phase::Finished, EventBody::RunError { .. }) => Ok(()),
            (Phase::Start, _) => refuse(
                Rule::FirstEvent,
                format_args!("comes first, only RUN_STARTED or RUN_ERROR may"),
            ),
            (Phase::Finished, _) => refuse(
                Rule::AfterRunFinished,
                format_args!("comes after RUN_FINISHED, only RUN_STARTED or RUN_ERROR may"),
            ),
            (Phase::Errored, _) => refuse(
                Rule::AfterRunError,
                format_args!("comes after RUN_ERROR, only RUN_STARTED may"),
            ),
        }
    }

    /// Takes in an event that was judged, or stands in a log; never fails.
    pub fn advance(&mut self, event: &Event) {
        match (&mut self.phase, &event.body) {
            (
                _,
                EventBody::RunStarted {
                    thread, run, input, ..
                },
            ) => {
                let mut scope = RunScope::new(thread.clone(), run.clone());
                if let Some(input) = input {
                    scope.owners.seed_unknown(&input.messages);
                }
                self.phase = Phase::Active(Box::new(scope));
            }
            (_, EventBody::RunFinished { .. }) => self.phase = Phase::Finished,
            (_, EventBody::RunError { .. }) => self.phase = Phase::Errored,
            (Phase::Active(scope), _) => scope.advance(event),
            _ => {}
        }
    }

    /// The run that is open, if any.
    pub fn active_run(&self) -> Option<&RunId> {
        self.scope().map(|scope| &scope.run)
    }

    /// The steps that are open, one that several owners have open as often.
    pub fn open_steps(&self) -> impl Iterator<Item = &StepName> {
        let steps = self.scope().map(|scope| scope.steps.in_order());
        steps.into_iter().flatten().map(|(_, step)| step)
    }

    /// Whether nothing of a known type has come yet.
    pub(crate) fn is_at_start(&self) -> bool {
        matches!(self.phase, Phase::Start)
    }

    pub(crate) fn scope(&self) -> Option<&RunScope> {
        match &self.phase {
            Phase::Active(scope) => Some(scope),
            Phase::Start | Phase::Finished | Phase::Errored => None,
        }
    }
}
