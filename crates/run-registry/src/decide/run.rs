//! Starting a run: by a whole AG-UI input, from clients that may know nothing of a hub.
//!
//! A client may send its whole history or only what is new; new is what the thread does not hold
//! under that role and id. Its `state` counts only if it is not one that the thread has left
//! behind. Bounded is what is new: a thread's own history and state come back at any size.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use threadcast_agui::ids::{MessageId, RunId};
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::json::RawJson;
use threadcast_agui::legacy::entries_of_command;
use threadcast_agui::message::Message;
use threadcast_agui::patch::Patch;
use threadcast_agui::run_input::RunInput;
use threadcast_thread_log::entry::Class;
use threadcast_thread_log::lease::LeaseChange;
use threadcast_thread_log::run_status::RunStatus;

use super::resume::{self, Answers, Standing};
use super::{Answer, Asking, Decision, Draft, Proposal, Refusal, RunCommand, Verdicts};
use crate::agent_name::AgentName;
use crate::conversation::THREAD_MESSAGES_BYTES_MAX;
use crate::event_bounds;
use crate::fact::{Fact, RunAccepted, StatePatched, Submission, SubmittedContent};
use crate::fingerprint::Fingerprint;
use crate::fold::Fold;
use crate::patch::{StateLimits, apply_patch};
use crate::thread_record::StoredRecord;

/// Most bytes of the messages that are new with one run: they enter the log within its RUN_STARTED,
/// which has to stay under [`EVENT_BYTES_MAX`](crate::event_bounds::EVENT_BYTES_MAX) with what else
/// the agent says in it.
pub const MESSAGES_BYTES_MAX: usize = 9 << 20;

pub(super) fn decide(
    fold: &Fold,
    command: &RunCommand,
    verdicts: &Verdicts,
    asking: &Asking<'_>,
) -> Result<Decision, Refusal> {
    let RunCommand { agent, input } = command;
    let fingerprint = Fingerprint::of_run(agent, &input.json);
    if let Some(known) = fold.registry().run(&input.run) {
        return if known.fingerprint == fingerprint {
            Ok(Decision::Settled(Answer::known(known)))
        } else {
            Err(Refusal::RunConflict {
                run: input.run.clone(),
            })
        };
    }
    must_be_new(fold, &input.run)?;
    let messages = new_messages(fold, &input.messages);
    let entries = entries(fold, input);
    let answers = match standing(fold, agent, &entries, !messages.is_empty(), asking)? {
        Plain::Settled(answer) => return Ok(Decision::Settled(answer)),
        Plain::Resume(of) => {
            let unchecked = resume::check(fold, of, &entries, verdicts, asking)?;
            Some(Answers {
                of,
                entries: &entries,
                unchecked,
            })
        }
        Plain::Ordinary => None,
    };
    Start {
        run: &input.run,
        agent,
        fingerprint,
        content: SubmittedContent::Input(input.json.clone()),
        messages: &messages,
        state: input.state.as_ref(),
        answers,
    }
    .decide(fold, asking)
}

/// Whether a run that has no record may have this id.
///
/// # Errors
/// It stands in the log all the same.
pub(super) fn must_be_new(fold: &Fold, run: &RunId) -> Result<(), Refusal> {
    if fold.registry().is_unasked(run) {
        return Err(Refusal::RunConflict { run: run.clone() });
    }
    Ok(())
}

/// The entries of an input; those of a client from before there were any stand in its
/// `forwardedProps`, and are for what the latest interrupted run asked.
pub(super) fn entries<'a>(fold: &Fold, input: &'a RunInput) -> Cow<'a, [ResumeEntry]> {
    let props = input.forwarded_props.as_ref();
    let Some(props) = props.filter(|_| input.resume.is_empty()) else {
        return Cow::Borrowed(&input.resume);
    };
    let latest = fold.registry().interrupts().latest().iter();
    let asked: Vec<_> = latest.map(|raised| &raised.interrupt).collect();
    Cow::Owned(entries_of_command(&asked, props))
}

/// What an input's resume entries amount to.
enum Plain<'a> {
    /// Nothing: there are none, or they repeat what was answered before beside something new.
    Ordinary,
    /// Answers to this run.
    Resume(&'a RunId),
    Settled(Answer),
}

fn standing<'a>(
    fold: &'a Fold,
    agent: &AgentName,
    entries: &[ResumeEntry],
    brings_new: bool,
    asking: &Asking<'_>,
) -> Result<Plain<'a>, Refusal> {
    let interrupts = fold.registry().interrupts();
    // Plain clients cannot say which run they answer: entries that all fit the latest interrupted
    // run are for it.
    let mut asked_by = None;
    for entry in entries {
        let Some((of, _)) = interrupts.find_latest(&entry.interrupt) else {
            return Err(Refusal::InterruptUnknown {
                interrupt: entry.interrupt.clone(),
            });
        };
        asked_by = Some(of);
    }
    let Some(of) = asked_by else {
        return ordinary(fold);
    };
    let standing = resume::standing(fold, of, entries, asking)?;
    if matches!(standing, Standing::Taken(_)) && brings_new {
        return ordinary(fold);
    }
    let expected = resume::agent_of(fold, of)?;
    if expected != agent {
        let (expected, found) = (expected.clone(), agent.clone());
        return Err(Refusal::ForeignAgent {
            of: of.clone(),
            expected,
            found,
        });
    }
    Ok(match standing {
        Standing::Taken(taker) => Plain::Settled(Answer::known(taker)),
        Standing::Apply => Plain::Resume(of),
    })
}

fn ordinary(fold: &Fold) -> Result<Plain<'_>, Refusal> {
    let interrupts = fold.registry().interrupts();
    let open: Vec<_> = interrupts
        .open()
        .map(|raised| raised.interrupt.clone())
        .collect();
    match interrupts.latest_run() {
        Some(of) if !open.is_empty() => Err(Refusal::InterruptsOpen {
            of: of.clone(),
            interrupts: open,
        }),
        _ => Ok(Plain::Ordinary),
    }
}

/// The messages that the thread does not hold; of two with one role and id the first.
fn new_messages(fold: &Fold, messages: &[Message]) -> Vec<Message> {
    let held = fold
        .conversation()
        .messages()
        .map(|message| (message.role(), &message.id));
    let mut known: HashSet<_> = held.collect();
    messages
        .iter()
        .filter(|message| known.insert((message.role(), &message.id)))
        .cloned()
        .collect()
}

/// A run that nothing speaks against but the thread's own business.
pub(super) struct Start<'a> {
    pub(super) run: &'a RunId,
    pub(super) agent: &'a AgentName,
    pub(super) fingerprint: Fingerprint,
    pub(super) content: SubmittedContent,
    /// What the thread does not hold.
    pub(super) messages: &'a [Message],
    /// As submitted.
    pub(super) state: Option<&'a RawJson>,
    pub(super) answers: Option<Answers<'a>>,
}

impl Start<'_> {
    pub(super) fn decide(self, fold: &Fold, asking: &Asking<'_>) -> Result<Decision, Refusal> {
        if let Some(active) = fold.registry().active() {
            return Err(Refusal::ThreadBusy {
                run: active.id.clone(),
            });
        }
        must_be_kept(fold, self.messages)?;
        let state = self
            .state
            .map_or(Ok(None), |state| other_state(fold, state))?;
        let mut draft = Draft::new(fold, asking);
        if let Some(answers) = &self.answers {
            answers.push_resolved(&mut draft, self.run);
        }
        let messages: Vec<String> = self
            .messages
            .iter()
            .map(|message| message.to_json().to_string())
            .collect();
        let messages = format!("[{}]", messages.join(","));
        must_have_room(fold, self.messages, messages.len())?;
        let public = RunAccepted {
            by: asking.by.clone(),
            run_id: self.run.clone(),
            agent: self.agent.clone(),
            messages: RawJson::from_trusted(messages),
            resume: self.answers.as_ref().map(Answers::to_accepted),
        };
        let submission = Submission {
            attempt: asking.attempt.clone(),
            fingerprint: self.fingerprint,
            content: self.content,
        };
        draft.push(
            Class::CONTROL,
            self.run,
            &Fact::RunAccepted { public, submission },
        );
        if let Some(state) = state {
            draft.guard.state = Some(fold.versions().state);
            let fact = StatePatched {
                by: asking.by.clone(),
                patch: state,
            };
            draft.push(Class::STATE, self.run, &Fact::StatePatched(fact));
        }
        let record = StoredRecord::of(fold).with_accepted(self.run);
        let lease = LeaseChange::Take {
            token: asking.lease.clone(),
            node: asking.node.clone(),
        };
        Ok(Decision::Append(Box::new(Proposal {
            append: draft.into_append(lease, true, record),
            answer: Answer {
                run: self.run.clone(),
                status: RunStatus::Accepted,
                duplicate: false,
            },
            starts: Some(self.run.clone()),
        })))
    }
}

/// What is too deep could not come back in an input. And every client takes a message that comes
/// under a held id for the one it holds: whatever its role, it would be lost for all but the agent.
fn must_be_kept(fold: &Fold, new: &[Message]) -> Result<(), Refusal> {
    let mut roles: HashMap<&MessageId, &str> = HashMap::with_capacity(new.len());
    for message in new {
        event_bounds::check_message(message).map_err(|over| Refusal::InputInvalid {
            at: "messages",
            reason: format!("message `{}`: {over}", message.id).into(),
        })?;
        let held = fold.conversation().message(&message.id).map(Message::role);
        let taken = held.or_else(|| roles.insert(&message.id, message.role()));
        if let Some(taken) = taken {
            let (id, role) = (&message.id, message.role());
            return Err(Refusal::InputInvalid {
                at: "messages",
                reason: format!("`{id}` is the id of a message of role `{taken}`, not `{role}`")
                    .into(),
            });
        }
    }
    Ok(())
}

/// `bytes` is the length of the list of new messages.
fn must_have_room(fold: &Fold, new: &[Message], bytes: usize) -> Result<(), Refusal> {
    must_fit("the list of new messages", bytes, MESSAGES_BYTES_MAX)?;
    if new.is_empty() {
        return Ok(());
    }
    let total = fold.conversation().messages_bytes() + bytes;
    must_fit(
        "the list of all messages of the thread",
        total,
        THREAD_MESSAGES_BYTES_MAX,
    )
}

fn must_fit(what: &'static str, found: usize, limit: usize) -> Result<(), Refusal> {
    if found > limit {
        return Err(Refusal::TooLarge { what, limit, found });
    }
    Ok(())
}

/// The patch that makes the submitted state the thread's, if it says something: neither nothing,
/// nor what the thread holds or has left behind.
fn other_state(fold: &Fold, state: &RawJson) -> Result<Option<RawJson>, Refusal> {
    let limits = StateLimits::default();
    let invalid = |reason: String| Refusal::InputInvalid {
        at: "state",
        reason: reason.into(),
    };
    let value = state
        .to_value()
        .map_err(|error| invalid(error.to_string()))?;
    let held = fold.conversation().state();
    let fingerprint = Fingerprint::of_value(&value);
    let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty);
    let is_known = fingerprint == Fingerprint::of_value(held)
        || fold.registry().has_ended_with_state(fingerprint);
    if is_empty || is_known {
        return Ok(None);
    }
    must_fit("state", state.as_str().len(), limits.bytes_max)?;
    let patch = RawJson::from_trusted(format!(r#"[{{"op":"replace","path":"","value":{state}}}]"#));
    let read = Patch::read(patch.as_str()).map_err(|error| invalid(error.to_string()))?;
    apply_patch(held, &read, &limits).map_err(|error| invalid(error.to_string()))?;
    Ok(Some(patch))
}
