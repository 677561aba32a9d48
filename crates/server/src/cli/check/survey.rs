//! Goes through a stream and keeps what there is to say about it.

use threadcast_agui::event::{Event, EventBody, Outcome as RunOutcome};
use threadcast_agui::ids::ToolCallId;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::stream_judge::Unfinished;
use threadcast_thread_log::run_status::RunStatus;

use super::verdict::{Count, Outcome, PendingCall, RawInterrupt, RunFailure, RunFound, Verdict};
use super::warnings::Warnings;
use crate::cli::file::{Format, History, Item, Piece, Stop, Taken};

/// What was seen so far.
#[derive(Debug)]
pub(super) struct Survey {
    name: String,
    history: History,
    events: u64,
    runs: Vec<RunFound>,
    pub(super) warnings: Warnings,
}

impl Survey {
    pub(super) fn new(name: String) -> Self {
        Self {
            history: History::new(name.clone()),
            name,
            events: 0,
            runs: Vec::new(),
            warnings: Warnings::default(),
        }
    }

    /// Whether there was nothing at all: neither an event nor an entry of a log.
    pub(super) fn is_empty(&self) -> bool {
        self.events == 0 && self.history.at() == 0
    }

    /// Takes the next item.
    ///
    /// # Errors
    /// As for [`History::take`].
    pub(super) fn take(&mut self, item: &Item) -> Result<(), Stop> {
        if matches!(item.piece, Piece::Anew { .. }) {
            self.runs.clear();
        }
        let (events, runs, warnings) = (&mut self.events, &mut self.runs, &mut self.warnings);
        self.history.take(item, |taken| {
            *events += 1;
            for piece in &taken.became {
                note_run(runs, taken.place.number(), &piece.event);
            }
            warn(warnings, &taken);
        })
    }

    /// What a stream that ends here is, if no rule is broken.
    pub(super) fn outcome(&self) -> Outcome {
        match self.history.judge().finish() {
            None => Outcome::Legal,
            Some(unfinished @ Unfinished::InsideRun(_)) => Outcome::Unfinished(format!(
                "{unfinished}, and a stream that breaks off is never a success"
            )),
            // A log may hold facts alone.
            Some(Unfinished::Empty) if self.events == 0 => Outcome::Legal,
            Some(Unfinished::Empty) => {
                Outcome::Unfinished("it begins no run: all its types are unknown".to_owned())
            }
        }
    }

    pub(super) fn into_verdict(self, format: Option<Format>, outcome: Outcome) -> Verdict {
        let conversation = self.history.conversation();
        let mut verdict = Verdict::new(self.name, format, outcome);
        verdict.events = self.events;
        verdict.runs = self.runs;
        verdict.messages = count_roles(conversation);
        let pending = conversation.pending_tool_calls();
        verdict.pending_tool_calls = pending
            .into_iter()
            .map(|call| pending_call(conversation, &call))
            .collect();
        let interrupts = conversation.pending_interrupts().iter();
        verdict.pending_interrupts = interrupts
            .map(|interrupt| RawInterrupt(interrupt.json.clone()))
            .collect();
        verdict.warnings = self.warnings.kept;
        verdict.more_warnings = self.warnings.more;
        verdict
    }
}

fn note_run(runs: &mut Vec<RunFound>, at: u64, event: &Event) {
    let begun = |run_id, status| RunFound {
        run_id,
        status,
        from: at,
        to: None,
        error: None,
    };
    match &event.body {
        EventBody::RunStarted { run, .. } => {
            runs.push(begun(Some(run.as_str().to_owned()), RunStatus::Running));
        }
        EventBody::RunFinished { outcome, .. } => {
            if let Some(run) = runs.last_mut() {
                run.to = Some(at);
                run.status = match outcome {
                    RunOutcome::Success { .. } => RunStatus::Success,
                    RunOutcome::Interrupt { .. } => RunStatus::Interrupted,
                    RunOutcome::Cancelled => RunStatus::Cancelled,
                };
            }
        }
        EventBody::RunError { message, code, .. } => {
            if runs.is_empty() {
                runs.push(begun(None, RunStatus::Error));
            }
            if let Some(run) = runs.last_mut() {
                run.to = Some(at);
                // Who stopped a run does not care how it came down.
                if run.status != RunStatus::Cancelled {
                    run.status = RunStatus::Error;
                }
                run.error = Some(RunFailure {
                    code: code.as_deref().map(str::to_owned),
                    message: message.to_string(),
                });
            }
        }
        _ => {}
    }
}

fn warn(warnings: &mut Warnings, taken: &Taken<'_>) {
    let mut add = |message| warnings.add(taken.line, taken.place, message);
    if let Some(unapplied) = &taken.unapplied {
        add(unapplied.clone());
    }
    let itself = taken.became.iter().find(|piece| !piece.from_chunk);
    let chunk = itself
        .is_none()
        .then(|| Event::read(taken.json).ok())
        .flatten();
    let Some(event) = itself.map(|piece| &piece.event).or(chunk.as_ref()) else {
        return;
    };
    let event_type = event.type_name();
    if matches!(event.body, EventBody::Unknown { .. }) {
        return add(format!(
            "`{event_type}` is no event type of AG-UI 1.0; plain clients drop it"
        ));
    }
    for member in event.undescribed_members() {
        add(format!(
            "`{member}` is no member of {event_type} in AG-UI 1.0; plain clients drop it"
        ));
    }
    if itself.is_some() && is_translated(event, taken.json) {
        add(format!(
            "a shape that AG-UI 1.0 retired, read as the {event_type} it stands for"
        ));
    }
}

/// Whether reading changed the event, but for line breaks and white space around it.
fn is_translated(event: &Event, json: &str) -> bool {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let sent = json.trim().bytes().filter(|byte| !is_break(byte));
    !event.json.as_str().bytes().eq(sent)
}

/// How many messages each role has, in the order in which roles come.
fn count_roles(conversation: &Conversation) -> Vec<Count> {
    let mut counts: Vec<Count> = Vec::new();
    for message in conversation.messages() {
        let role = message.role();
        match counts.iter_mut().find(|count| count.role == role) {
            Some(count) => count.count += 1,
            None => counts.push(Count { role, count: 1 }),
        }
    }
    counts
}

fn pending_call(conversation: &Conversation, call: &ToolCallId) -> PendingCall {
    let held = conversation
        .messages()
        .flat_map(|message| message.tool_calls());
    let name = held
        .filter(|held| held.id == *call)
        .map(|held| held.name.to_string())
        .next();
    PendingCall {
        tool_call_id: call.as_str().to_owned(),
        name,
    }
}
