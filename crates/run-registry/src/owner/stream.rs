//! An agent's stream: each event read, expanded and judged, in that order.
//!
//! What breaks a rule is never passed on, and what came before it stays: the legal prefix is
//! queued, then the run ends.

use threadcast_agui::chunk::Lanes;
use threadcast_agui::event::{Event, EventBody, RunStartedInput};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::legacy::Thinking;
use threadcast_agui::make;
use threadcast_thread_log::entry::{Millis, Origin};
use threadcast_thread_log::run_status::RunStatus;

use super::AgentPolicy;
use super::group::Group;
use crate::ending::Ending;
use crate::verify::{Expected, Verifier, Violation};

/// Largest STATE_SNAPSHOT event in bytes.
pub const STATE_SNAPSHOT_BYTES_MAX: usize = 8 << 20;

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

impl Stream {
    pub(super) fn new(
        thread: ThreadId,
        run: RunId,
        input: RunStartedInput,
        policy: AgentPolicy,
    ) -> Self {
        let thinking = Thinking::new(run.as_str());
        Self {
            expected: Expected { thread, run },
            input,
            policy,
            lanes: Lanes::default(),
            thinking,
            verifier: Verifier::new(),
            taken: 0,
            is_started: false,
        }
    }

    pub(super) fn take(&mut self, data: &str, now: Millis) -> Taken {
        self.taken += 1;
        let read = Event::read(data).and_then(|event| self.thinking.translate(event));
        let event = match read {
            Ok(event) => event,
            Err(error) => return self.violation(Group::default(), "event-shape", &error),
        };
        if matches!(event.body, EventBody::StateSnapshot { .. })
            && data.len() > STATE_SNAPSHOT_BYTES_MAX
        {
            let what = format!(
                "a state of {} bytes, at most {STATE_SNAPSHOT_BYTES_MAX} are allowed",
                data.len()
            );
            return Taken {
                group: Group::default(),
                ending: Some(Ending::TooLarge { what: what.into() }),
            };
        }
        let Some(event) = self.without_raw(event) else {
            return Taken::default();
        };
        let event = match event {
            Ok(event) => event,
            Err(violation) => return self.broken(Group::default(), &violation),
        };
        let event_type = event.type_name().to_owned();
        let mut expanded = Vec::new();
        if let Err(error) = self.lanes.expand(event, |event| expanded.push(event)) {
            return self.violation(Group::default(), "chunk", &format!("{event_type}: {error}"));
        }
        let mut group = Group::default();
        for piece in expanded {
            if let Err(violation) = self.admit(&mut group, piece.event, piece.from_chunk, now) {
                return self.broken(group, &violation);
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
        if self.policy.keep_raw {
            return Some(Ok(event));
        }
        match event.without_raw() {
            Some(event) => Some(Ok(event)),
            None => self.verifier.judge(&event, &self.expected).err().map(Err),
        }
    }

    /// Judges one event of the expanded stream and queues it.
    fn admit(
        &mut self,
        group: &mut Group,
        event: Event,
        from_chunk: bool,
        now: Millis,
    ) -> Result<(), Violation> {
        self.verifier.judge(&event, &self.expected)?;
        let event = match &event.body {
            EventBody::RunStarted { .. } => {
                self.is_started = true;
                make::run_started_with_input(&event, self.input.clone())
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

    fn broken(&self, group: Group, violation: &Violation) -> Taken {
        self.violation(group, violation.rule.as_str(), &violation.message)
    }

    fn violation(&self, group: Group, rule: &str, problem: &dyn std::fmt::Display) -> Taken {
        let reason = format!(
            "event {} of the stream breaks rule `{rule}`: {problem}",
            self.taken
        );
        Taken {
            group,
            ending: Some(Ending::Violation {
                reason: reason.into(),
            }),
        }
    }
}
