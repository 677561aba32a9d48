//! A whole AG-UI stream of one or several runs, judged as the hub judges an agent's.
//!
//! Each event is read, brought out of retired shapes, expanded if it is a chunk, judged and folded,
//! in that order. It is not the hub's owner of a run: no run is asked for, so each is expected as
//! its own RUN_STARTED names it, on the thread that the first one names; nothing is mended, left
//! out or put into `input`.
//!
//! Invariant: what was taken is a legal prefix, and nothing is taken after an event that broke a
//! rule.

use std::collections::HashSet;
use std::fmt;

use threadcast_agui::chunk::{Expanded, Lanes};
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::legacy::{OnInterrupt, Thinking};

use crate::conversation::Conversation;
use crate::event_bounds::{self, OverBound};
use crate::patch::PatchFailure;
use crate::verify::{Rule, Violation};

/// Where a stream stands that is judged event by event.
#[derive(Clone, Debug)]
pub struct StreamJudge {
    conversation: Conversation,
    lanes: Lanes,
    thinking: Thinking,
    /// Reads what is asked by CUSTOM events, where that is wanted.
    questions: Option<OnInterrupt>,
    thread: Option<ThreadId>,
    runs: HashSet<RunId>,
    /// Events taken or refused; they are counted from 1.
    seen: u64,
    broken: Option<Broken>,
    /// Why the patch of the event taken last did not apply.
    failure: Option<PatchFailure>,
}

/// The first event of a stream that breaks a rule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("event {event} of the stream breaks rule `{rule}`: {message}")]
pub struct Broken {
    /// Its place in the stream, from 1.
    pub event: u64,
    pub rule: Rule,
    /// Names the event and both sides of what disagrees.
    pub message: String,
    /// The ends that the event brought to items built from chunks; they stand, the event does not.
    pub ends: Vec<Expanded>,
}

/// Why a stream without a broken rule is not whole all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It holds no event of a known type.
    Empty,
    /// It stops inside this run, which therefore did not succeed.
    InsideRun(RunId),
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the stream holds no event"),
            Self::InsideRun(run) => write!(f, "the stream stops inside run `{run}`"),
        }
    }
}

impl Default for StreamJudge {
    fn default() -> Self {
        Self {
            conversation: Conversation::new(),
            lanes: Lanes::default(),
            thinking: Thinking::new("stream"),
            questions: None,
            thread: None,
            runs: HashSet::new(),
            seen: 0,
            broken: None,
            failure: None,
        }
    }
}

impl StreamJudge {
    /// Before the first event. Questions that agents from before 1.0 ask by CUSTOM events are none,
    /// as to AG-UI's reference client.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, but such questions are the interrupts that the hub makes of them.
    pub fn with_questions() -> Self {
        Self {
            questions: Some(OnInterrupt::new("stream")),
            ..Self::default()
        }
    }

    /// Takes the next event of the stream, as JSON text; what it became.
    ///
    /// An event of an unknown type comes back as it is and changes nothing.
    ///
    /// # Errors
    /// This event breaks a rule, or an earlier one did, which is told again.
    pub fn take(&mut self, json: &str) -> Result<Vec<Expanded>, Broken> {
        self.take_as(|judge, taken| judge.judge(json, taken))
    }

    /// Takes the next event of what stood in a log, which nobody bounds by itself: a snapshot's
    /// list of messages is larger than any event of an agent.
    ///
    /// # Errors
    /// As for [`Self::take`].
    pub fn take_logged(&mut self, event: Event) -> Result<Vec<Expanded>, Broken> {
        self.take_as(|judge, taken| judge.judge_event(event, taken))
    }

    fn take_as(
        &mut self,
        judge: impl FnOnce(&mut Self, &mut Vec<Expanded>) -> Result<(), (Rule, String)>,
    ) -> Result<Vec<Expanded>, Broken> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        self.seen += 1;
        self.failure = None;
        let mut taken = Vec::new();
        match judge(self, &mut taken) {
            Ok(()) => Ok(taken),
            Err((rule, message)) => {
                let broken = Broken {
                    event: self.seen,
                    rule,
                    message,
                    ends: taken,
                };
                self.broken = Some(broken.clone());
                Err(broken)
            }
        }
    }

    fn judge(&mut self, json: &str, taken: &mut Vec<Expanded>) -> Result<(), (Rule, String)> {
        event_bounds::check_text(json).map_err(over_bound)?;
        let event = Event::read(json)
            .and_then(|event| self.thinking.translate(event))
            .and_then(|event| match &mut self.questions {
                Some(questions) => questions.translate(event),
                None => Ok(event),
            })
            .map_err(|error| (Rule::EventShape, error.to_string()))?;
        event_bounds::check(&event).map_err(over_bound)?;
        self.judge_event(event, taken)
    }

    fn judge_event(
        &mut self,
        event: Event,
        taken: &mut Vec<Expanded>,
    ) -> Result<(), (Rule, String)> {
        let event_type = event.type_name().to_owned();
        let mut pieces = Vec::new();
        self.lanes
            .expand(event, |piece| pieces.push(piece))
            .map_err(|error| (Rule::Chunk, format!("{event_type}: {error}")))?;
        for piece in pieces {
            self.admit(&piece.event)
                .map_err(|violation| (violation.rule, violation.message))?;
            taken.push(piece);
        }
        Ok(())
    }

    fn admit(&mut self, event: &Event) -> Result<(), Violation> {
        self.conversation.verifier().judge_order(event)?;
        if let EventBody::RunStarted { thread, run, .. } = &event.body {
            self.start(event, thread, run)?;
        }
        self.failure = self.conversation.apply_and_tell(event);
        Ok(())
    }

    fn start(&mut self, event: &Event, thread: &ThreadId, run: &RunId) -> Result<(), Violation> {
        let expected = self.thread.get_or_insert_with(|| thread.clone());
        if thread != expected {
            let problem = format_args!("names thread `{thread}`, expected `{expected}`");
            return Err(Violation::new(Rule::ThreadIdMismatch, event, problem));
        }
        if !self.runs.insert(run.clone()) {
            let problem = format_args!("begins run `{run}` a second time");
            return Err(Violation::new(Rule::RunIdRepeated, event, problem));
        }
        // Minted ids are unique within the thread.
        self.thinking = Thinking::new(run.as_str());
        if let Some(questions) = &mut self.questions {
            *questions = OnInterrupt::new(run.as_str());
        }
        Ok(())
    }

    /// What the events taken so far amount to.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// For what changes it and is no event of the stream: shared state that a person changed.
    pub fn conversation_mut(&mut self) -> &mut Conversation {
        &mut self.conversation
    }

    /// Why the patch of the event taken last did not apply, if it is one that did not.
    pub fn unapplied(&self) -> Option<&PatchFailure> {
        self.failure.as_ref()
    }

    /// Events taken or refused so far.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The event that broke a rule, if one did.
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// Why the stream would not be whole if it ended here; `None` if it would, or if a rule is
    /// broken.
    pub fn finish(&self) -> Option<Unfinished> {
        let verifier = self.conversation.verifier();
        match verifier.active_run() {
            _ if self.broken.is_some() => None,
            Some(run) => Some(Unfinished::InsideRun(run.clone())),
            None if verifier.is_at_start() => Some(Unfinished::Empty),
            None => None,
        }
    }
}

fn over_bound(over: OverBound) -> (Rule, String) {
    let rule = match over {
        OverBound::TooLarge { .. } => Rule::EventSize,
        OverBound::TooDeep { .. } => Rule::EventShape,
    };
    (rule, over.to_string())
}
