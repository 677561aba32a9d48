//! An agent's stream: each event read, expanded and judged, in that order.
//!
//! What breaks a rule is never passed on, and what came before it stays: the legal prefix is
//! queued, then the run ends.

use threadcast_agui::chunk::Lanes;
use threadcast_agui::event::{Event, EventBody, RunStartedInput};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::legacy::{OnInterrupt, Thinking};
use threadcast_agui::make;
use threadcast_thread_log::entry::{Millis, Origin};
use threadcast_thread_log::run_status::RunStatus;

use super::AgentPolicy;
use super::group::Group;
use super::mending::{self, MENDED_MAX};
use crate::ending::Ending;
use crate::event_bounds::{self, EVENT_BYTES_MAX, OverBound};
use crate::verify::{Expected, Verifier, Violation};

/// The protocol version that the hub speaks where it speaks itself.
const PROTOCOL_VERSION: &str = "1.0";

/// Where an agent's stream stands.
#[derive(Debug)]
pub(super) struct Stream {
    expected: Expected,
    input: RunStartedInput,
    policy: AgentPolicy,
    lanes: Lanes,
    thinking: Thinking,
    on_interrupt: OnInterrupt,
    verifier: Verifier,
    /// Events taken; they are counted from 1.
    taken: u64,
    is_started: bool,
}

/// What one piece of the stream became.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) group: Group,
    /// Why the stream cannot go on.
    pub(super) ending: Option<Ending>,
}

impl From<Ending> for Taken {
    fn from(ending: Ending) -> Self {
        Self {
            group: Group::default(),
            ending: Some(ending),
        }
    }
}

impl Stream {
    pub(super) fn new(
        thread: ThreadId,
        run: RunId,
        input: RunStartedInput,
        policy: AgentPolicy,
    ) -> Self {
        let thinking = Thinking::new(run.as_str());
        let on_interrupt = OnInterrupt::new(run.as_str());
        Self {
            expected: Expected { thread, run },
            input,
            policy,
            lanes: Lanes::default(),
            thinking,
            on_interrupt,
            verifier: Verifier::new(),
            taken: 0,
            is_started: false,
        }
    }

    pub(super) fn take(&mut self, data: &str, now: Millis) -> Taken {
        self.taken += 1;
        if let Err(over) = event_bounds::check_text(data) {
            return self.over_bound(&over).into();
        }
        let read = Event::read(data)
            .and_then(|event| self.thinking.translate(event))
            .and_then(|event| self.on_interrupt.translate(event));
        let event = match read {
            Ok(event) => event,
            Err(error) => return self.violation("event-shape", &error).into(),
        };
        if let Err(over) = event_bounds::check(&event) {
            return self.over_bound(&over).into();
        }
        let Some(event) = self.without_raw(event) else {
            return Taken::default();
        };
        let event = match event {
            Ok(event) => event,
            Err(violation) => return self.broken(&violation).into(),
        };
        let event_type = event.type_name().to_owned();
        let mut expanded = Vec::new();
        if let Err(error) = self.lanes.expand(event, |event| expanded.push(event)) {
            let problem = format!("{event_type}: {error}");
            return self.violation("chunk", &problem).into();
        }
        let mut group = Group::default();
        for piece in expanded {
            if let Err(ending) = self.admit(&mut group, piece.event, piece.from_chunk, now) {
                return Taken {
                    group,
                    ending: Some(ending),
                };
            }
        }
        Taken {
            group,
            ending: None,
        }
    }

    /// The event as the policy has it; `None` if it leaves nothing, though even then it must be
    /// legal.
    fn without_raw(&self, event: Event) -> Option<Result<Event, Violation>> {
        if matches!(event.body, EventBody::Raw { .. })
            && let Err(violation) = self.verifier.judge(&event, &self.expected)
        {
            return Some(Err(violation));
        }
        self.policy.keep(event).map(Ok)
    }

    /// Judges one event of the expanded stream and queues it.
    fn admit(
        &mut self,
        group: &mut Group,
        event: Event,
        from_chunk: bool,
        now: Millis,
    ) -> Result<(), Ending> {
        if matches!(event.body, EventBody::RunFinished { .. }) && !self.policy.strict {
            self.mend(group, &event, now)?;
        }
        self.verifier
            .judge(&event, &self.expected)
            .map_err(|violation| self.broken(&violation))?;
        let event = match &event.body {
            EventBody::RunStarted { .. } => {
                let started = make::run_started_with_input(&event, self.input.clone());
                let found = started.json.as_str().len();
                event_bounds::must_fit("a RUN_STARTED with its input", found, EVENT_BYTES_MAX)
                    .map_err(|over| self.over_bound(&over))?;
                self.is_started = true;
                started
            }
            // A refusal by the agent: it must not be taken for the failure of the run before.
            EventBody::RunError { .. } if !self.is_started => {
                self.start(group, now);
                event
            }
            _ => event,
        };
        self.verifier.advance(&event);
        group.push(&self.expected.run, now, Origin::Agent, event, from_chunk);
        Ok(())
    }

    /// More is open than is closed: the rule that this breaks is told with the bound.
    fn too_much_open(&self, finished: &Event, open: usize) -> Result<(), Ending> {
        match self.verifier.judge(finished, &self.expected) {
            Err(mut violation) if violation.rule.is_mended() => {
                let bound =
                    format!("; {open} are open, at most {MENDED_MAX} are closed for an agent");
                violation.message.push_str(&bound);
                Err(self.broken(&violation))
            }
            // Judged with the event.
            _ => Ok(()),
        }
    }

    /// Closes what the agent left open, if nothing else speaks against its RUN_FINISHED.
    fn mend(&mut self, group: &mut Group, finished: &Event, now: Millis) -> Result<(), Ending> {
        let Some(scope) = self.verifier.scope() else {
            return Ok(());
        };
        let open = mending::open_count(scope);
        if open == 0 {
            return Ok(());
        }
        if open > MENDED_MAX {
            return self.too_much_open(finished, open);
        }
        let closers = mending::closers(scope);
        let mut mended = self.verifier.clone();
        for closer in &closers {
            debug_assert_eq!(
                mended.judge(&closer.event, &self.expected),
                Ok(()),
                "what is open may be closed"
            );
            mended.advance(&closer.event);
        }
        mended
            .judge(finished, &self.expected)
            .map_err(|violation| self.broken(&violation))?;
        self.verifier = mended;
        group.push_repair(&self.expected.run, now, closers);
        Ok(())
    }

    /// Writes the RUN_STARTED that the agent did not send.
    fn start(&mut self, group: &mut Group, now: Millis) {
        let Expected { thread, run } = &self.expected;
        let started =
            make::run_started(thread, run, Some(PROTOCOL_VERSION), None, Some(&self.input));
        self.verifier.advance(&started);
        self.is_started = true;
        group.push(run, now, Origin::Hub, started, false);
    }

    /// What ends the run in place of the agent; nothing that is open is closed for it.
    pub(super) fn end(&mut self, ending: &Ending, now: Millis) -> Group {
        let mut group = Group::default();
        if !self.is_started {
            self.start(&mut group, now);
        }
        let error = make::run_error(&ending.message(), Some(ending.code().as_str()));
        group.push(&self.expected.run, now, Origin::Hub, error, false);
        group
    }

    /// Takes the log's word for whether the run has started.
    pub(super) fn start_over(&mut self, status: RunStatus) {
        self.is_started = status == RunStatus::Running;
    }

    fn over_bound(&self, over: &OverBound) -> Ending {
        match over {
            OverBound::TooLarge { .. } => Ending::TooLarge {
                what: over.to_string().into(),
            },
            OverBound::TooDeep { .. } => self.violation("event-shape", over),
        }
    }

    fn broken(&self, violation: &Violation) -> Ending {
        self.violation(violation.rule.as_str(), &violation.message)
    }

    fn violation(&self, rule: &str, problem: &dyn std::fmt::Display) -> Ending {
        let reason = format!(
            "event {} of the stream breaks rule `{rule}`: {problem}",
            self.taken
        );
        Ending::Violation {
            reason: reason.into(),
        }
    }
}
