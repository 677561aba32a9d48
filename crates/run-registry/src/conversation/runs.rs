//! The latest runs' own events, and the tool calls of the latest one.

use std::collections::{BTreeSet, HashSet};

use threadcast_agui::event::{Event, EventBody, Outcome};
use threadcast_agui::ids::ToolCallId;
use threadcast_agui::interrupt::Interrupt;
use threadcast_agui::make;

/// How one run began and ended.
#[derive(Clone, Debug)]
pub(crate) struct RunEvents {
    /// Without `input`: a snapshot holds its messages already.
    pub(crate) started: Event,
    pub(crate) finished: Option<Event>,
    /// Instead of `finished`, or late behind it.
    pub(crate) error: Option<Event>,
}

impl RunEvents {
    pub(crate) fn is_active(&self) -> bool {
        self.finished.is_none() && self.error.is_none()
    }

    fn outcome(&self) -> Option<&Outcome> {
        match self.finished.as_ref().map(|finished| &finished.body) {
            Some(EventBody::RunFinished { outcome, .. }) => Some(outcome),
            _ => None,
        }
    }
}

/// A call of the latest run.
#[derive(Clone, Debug)]
pub(crate) struct StartedCall {
    pub(crate) id: ToolCallId,
    pub(crate) name: Box<str>,
}

/// What the runs leave besides messages and state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    latest: Option<RunEvents>,
    /// The latest run before `latest` that finished; while none did, the latest that failed.
    before: Option<RunEvents>,
    started: Vec<StartedCall>,
    started_ids: HashSet<ToolCallId>,
    /// Sorted, so that a snapshot has the same bytes on every node.
    answered: BTreeSet<ToolCallId>,
}

impl Runs {
    /// Of its parts, as a checkpoint keeps them.
    pub(crate) fn of(
        latest: Option<RunEvents>,
        before: Option<RunEvents>,
        started: Vec<StartedCall>,
        answered: BTreeSet<ToolCallId>,
    ) -> Self {
        Self {
            latest,
            before,
            started_ids: started.iter().map(|call| call.id.clone()).collect(),
            started,
            answered,
        }
    }

    pub(super) fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::RunStarted { .. } => self.start(make::without_input(event)),
            EventBody::RunFinished { .. } => {
                if let Some(run) = &mut self.latest {
                    run.finished = Some(event.clone());
                }
            }
            EventBody::RunError { .. } => {
                if let Some(run) = &mut self.latest {
                    run.error = Some(event.clone());
                }
            }
            EventBody::ToolCallStart { call, name, .. } => self.start_call(call, name),
            EventBody::ToolCallResult { call, .. } => {
                self.answered.insert(call.clone());
            }
            _ => {}
        }
    }

    fn start(&mut self, started: Event) {
        let ended = self.latest.replace(RunEvents {
            started,
            finished: None,
            error: None,
        });
        let has_finished =
            |run: &Option<RunEvents>| run.as_ref().is_some_and(|run| run.finished.is_some());
        if ended.is_some() && (has_finished(&ended) || !has_finished(&self.before)) {
            self.before = ended;
        }
        self.started.clear();
        self.started_ids.clear();
        self.answered.clear();
    }

    fn start_call(&mut self, call: &ToolCallId, name: &str) {
        if self.started_ids.insert(call.clone()) {
            self.started.push(StartedCall {
                id: call.clone(),
                name: name.into(),
            });
        }
    }

    pub(crate) fn latest(&self) -> Option<&RunEvents> {
        self.latest.as_ref()
    }

    /// The run that says what was pending when `latest` began, if any ended before it.
    pub(crate) fn before(&self) -> Option<&RunEvents> {
        self.before.as_ref()
    }

    /// The calls of the latest run, in start order.
    pub(crate) fn started(&self) -> &[StartedCall] {
        &self.started
    }

    /// Whether the call got a result in the latest run, be it before it was started.
    pub(crate) fn is_answered(&self, call: &ToolCallId) -> bool {
        self.answered.contains(call)
    }

    pub(crate) fn answered(&self) -> impl Iterator<Item = &ToolCallId> {
        self.answered.iter()
    }

    /// Whether what is pending follows from the calls, or will: the run is open, or ended without
    /// naming any.
    pub(crate) fn is_tally_asked(&self) -> bool {
        self.latest
            .as_ref()
            .is_some_and(|latest| match latest.outcome() {
                Some(Outcome::Success { pending_tool_calls }) => pending_tool_calls.is_empty(),
                Some(Outcome::Interrupt { .. }) => true,
                Some(Outcome::Cancelled) => false,
                None => latest.is_active(),
            })
    }

    pub(super) fn pending_tool_calls(&self) -> Vec<ToolCallId> {
        if self.is_tally_asked() {
            let unanswered = self
                .started
                .iter()
                .filter(|call| !self.is_answered(&call.id));
            return unanswered.map(|call| call.id.clone()).collect();
        }
        match self.latest.as_ref().and_then(RunEvents::outcome) {
            Some(Outcome::Success { pending_tool_calls }) => pending_tool_calls.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn pending_interrupts(&self) -> &[Interrupt] {
        let finished = [&self.latest, &self.before]
            .into_iter()
            .flatten()
            .find_map(RunEvents::outcome);
        match finished {
            Some(Outcome::Interrupt { interrupts }) => interrupts,
            _ => &[],
        }
    }
}
