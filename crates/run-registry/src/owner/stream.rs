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

use super::group::Group;
use super::{AgentPolicy, EVENT_BYTES_MAX};
use crate::ending::Ending;
use crate::nesting::depth_around;
use crate::verify::{Expected, Verifier, Violation};

/// Largest STATE_SNAPSHOT event in bytes.
pub const STATE_SNAPSHOT_BYTES_MAX: usize = 8 << 20;

/// Deepest metadata of an event, and content of an activity: the message that keeps them must not be
/// too deep inside a run input, inside a frame.
pub const KEPT_DEPTH_MAX: usize = 56;

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
            Err(error) => return self.violation("event-shape", &error).into(),
        };
        if matches!(event.body, EventBody::StateSnapshot { .. })
            && let Err(ending) = must_fit("a state", &event, STATE_SNAPSHOT_BYTES_MAX)
        {
            return ending.into();
        }
        if let Err(problem) = must_be_flat(&event) {
            return self.violation("event-shape", &problem).into();
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
        self.verifier
            .judge(&event, &self.expected)
            .map_err(|violation| self.broken(&violation))?;
        let event = match &event.body {
            EventBody::RunStarted { .. } => {
                let started = make::run_started_with_input(&event, self.input.clone());
                must_fit("a RUN_STARTED with its input", &started, EVENT_BYTES_MAX)?;
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

fn must_be_flat(event: &Event) -> Result<(), String> {
    let content = match &event.body {
        EventBody::ActivitySnapshot { content, .. } => Some(("content", content)),
        _ => None,
    };
    let metadata = event.metadata.as_ref().map(|kept| ("metadata", kept));
    for (name, kept) in metadata.into_iter().chain(content) {
        let found = depth_around(kept.values());
        if found > KEPT_DEPTH_MAX {
            return Err(format!(
                "`{name}` is nested {found} levels deep, at most {KEPT_DEPTH_MAX} are allowed"
            ));
        }
    }
    Ok(())
}

fn must_fit(what: &str, event: &Event, max: usize) -> Result<(), Ending> {
    let found = event.json.as_str().len();
    if found <= max {
        return Ok(());
    }
    let what = format!("{what} of {found} bytes, at most {max} are allowed");
    Err(Ending::TooLarge { what: what.into() })
}
