//! Answering: the checks over resume entries, in the order in which they are told.
//!
//! Whether an entry repeats an answer is asked before whether it is a good one: who comes second is
//! told who came first.

use std::collections::{HashMap, HashSet};

use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::{ResumeEntry, ResumeStatus};
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Class;

use super::run::{Start, must_be_new};
use super::{Answer, Asking, Decision, Draft, Refusal, ResumeCommand, Verdicts};
use crate::agent_name::AgentName;
use crate::fact::{AcceptedResume, AnsweredEntry, Fact, InterruptResolved, SubmittedContent};
use crate::fingerprint::Fingerprint;
use crate::fold::Fold;
use crate::registry::{Answer as Given, RunRecord};
use crate::schema::{PayloadError, Verdict};

pub(super) fn decide(
    fold: &Fold,
    command: &ResumeCommand,
    verdicts: &Verdicts,
    asking: &Asking<'_>,
) -> Result<Decision, Refusal> {
    let ResumeCommand { of, run, entries } = command;
    if let Some(known) = fold.registry().run(run) {
        return repeat(known, command);
    }
    must_be_new(fold, run)?;
    match standing(fold, of, entries, asking)? {
        Standing::Taken(taken) => return Ok(Decision::Settled(Answer::known(taken))),
        Standing::Apply => {}
    }
    let unchecked = check(fold, of, entries, verdicts, asking)?;
    submit(fold, of, run, entries, unchecked, asking)
}

/// A resume under the id of a known run: that run, if it took these very answers.
fn repeat(known: &RunRecord, command: &ResumeCommand) -> Result<Decision, Refusal> {
    let said = command.entries.iter().map(|entry| {
        let payload = entry.payload.as_ref().map(Fingerprint::of_json);
        (&entry.interrupt, entry.status, payload)
    });
    let answers = Fingerprint::of_answers(&command.of, said.collect());
    if known.answers == Some(answers) {
        Ok(Decision::Settled(Answer::known(known)))
    } else {
        Err(Refusal::RunConflict {
            run: known.id.clone(),
        })
    }
}

/// What earlier answers make of a resume.
pub(super) enum Standing<'a> {
    /// All entries are open, or go out once more because the run that took them failed; then
    /// what has expired since may be given up.
    Apply,
    /// A run took these very answers.
    Taken(&'a RunRecord),
}

/// Compares entries with the answers there are.
///
/// # Errors
/// Some entry was answered otherwise, or names an interrupt of an earlier run that has no answer.
pub(super) fn standing<'a>(
    fold: &'a Fold,
    of: &RunId,
    entries: &[ResumeEntry],
    asking: &Asking<'_>,
) -> Result<Standing<'a>, Refusal> {
    let registry = fold.registry();
    let interrupts = registry.interrupts();
    let answer = |entry: &ResumeEntry| interrupts.answer(of, &entry.interrupt);
    let equal = entries.first().and_then(answer).filter(|_| {
        entries
            .iter()
            .all(|entry| answer(entry).is_some_and(|answer| answer.equals(entry)))
    });
    let is_latest = interrupts.latest_run() == Some(of);
    if let Some(taker) = equal.and_then(|answer| registry.run(&answer.run))
        && (!taker.has_failed() || !is_latest)
    {
        return Ok(Standing::Taken(taker));
    }
    let gives_up = |entry: &ResumeEntry, answer: &Given| {
        is_latest
            && entry.status == ResumeStatus::Cancelled
            && registry.run(&answer.run).is_some_and(RunRecord::has_failed)
            && interrupts
                .find_latest(&entry.interrupt)
                .is_some_and(|(_, raised)| raised.has_expired(asking.now))
    };
    for entry in entries {
        if let Some(answer) = answer(entry)
            && !answer.equals(entry)
            && !gives_up(entry, answer)
        {
            return Err(already_resolved(of, &entry.interrupt, answer));
        }
    }
    if is_latest {
        return Ok(Standing::Apply);
    }
    // An earlier run's questions are history: some entries repeat it, the first that does not is
    // unknown.
    let unknown = entries.iter().find(|entry| answer(entry).is_none());
    Err(match unknown.or_else(|| entries.first()) {
        Some(entry) => Refusal::InterruptUnknown {
            interrupt: entry.interrupt.clone(),
        },
        // What is open belongs to another run.
        None => Refusal::ResumeIncomplete {
            missing: Vec::new(),
        },
    })
}

fn already_resolved(of: &RunId, interrupt: &InterruptId, answer: &Given) -> Refusal {
    Refusal::AlreadyResolved {
        of: of.clone(),
        interrupt: interrupt.clone(),
        by: answer.by.clone(),
        at: answer.at,
        run: answer.run.clone(),
    }
}

/// Why a payload was not checked, by interrupt.
pub(super) type Unchecked = HashMap<InterruptId, Box<str>>;

/// Checks entries that are to be applied to the latest interrupted run.
pub(super) fn check(
    fold: &Fold,
    of: &RunId,
    entries: &[ResumeEntry],
    verdicts: &Verdicts,
    asking: &Asking<'_>,
) -> Result<Unchecked, Refusal> {
    let interrupts = fold.registry().interrupts();
    let find = |id: &InterruptId| interrupts.find_latest(id).map(|(_, raised)| raised);
    if let Some(entry) = entries
        .iter()
        .find(|entry| find(&entry.interrupt).is_none())
    {
        return Err(Refusal::InterruptUnknown {
            interrupt: entry.interrupt.clone(),
        });
    }
    let mut named = HashSet::with_capacity(entries.len());
    if let Some(entry) = entries.iter().find(|entry| !named.insert(&entry.interrupt)) {
        return Err(Refusal::ResumeDuplicate {
            interrupt: entry.interrupt.clone(),
        });
    }
    let raised = interrupts.latest().iter();
    let ids = raised.map(|raised| &raised.interrupt.id);
    let missing: Vec<_> = ids.filter(|id| !named.contains(id)).cloned().collect();
    if !missing.is_empty() {
        return Err(Refusal::ResumeIncomplete { missing });
    }
    let pairs = || {
        entries
            .iter()
            .filter_map(|entry| Some((entry, find(&entry.interrupt)?)))
    };
    let is_late = |entry: &ResumeEntry| entry.status == ResumeStatus::Resolved;
    if let Some((_, late)) =
        pairs().find(|(entry, raised)| is_late(entry) && raised.has_expired(asking.now))
    {
        let expires_at = late.interrupt.expires_at.clone().unwrap_or_default();
        return Err(Refusal::InterruptExpired {
            interrupt: late.interrupt.id.clone(),
            expires_at,
        });
    }
    let mut unchecked = Unchecked::new();
    for (entry, raised) in pairs() {
        let interrupt = entry.interrupt.clone();
        if entry.status == ResumeStatus::Cancelled {
            if entry.payload.is_some() {
                let errors = vec![PayloadError::on_cancelled()];
                return Err(Refusal::PayloadInvalid { interrupt, errors });
            }
            continue;
        }
        match verdicts.of(of, entry, &raised.interrupt).as_ref() {
            Verdict::Valid => {}
            Verdict::Invalid(errors) => {
                return Err(Refusal::PayloadInvalid {
                    interrupt,
                    errors: errors.clone(),
                });
            }
            Verdict::Unchecked(reason) => drop(unchecked.insert(interrupt, reason.clone())),
        }
    }
    Ok(unchecked)
}

/// Starts a run that takes checked answers and carries on what the interrupted run was given.
fn submit(
    fold: &Fold,
    of: &RunId,
    run: &RunId,
    entries: &[ResumeEntry],
    unchecked: Unchecked,
    asking: &Asking<'_>,
) -> Result<Decision, Refusal> {
    let agent = agent_of(fold, of)?;
    let list: Vec<&str> = entries.iter().map(|entry| entry.json.as_str()).collect();
    Start {
        run,
        agent,
        fingerprint: Fingerprint::of_resume(of, entries),
        content: SubmittedContent::Resume(RawJson::from_trusted(format!("[{}]", list.join(",")))),
        messages: &[],
        state: None,
        answers: Some(Answers {
            of,
            entries,
            unchecked,
        }),
    }
    .decide(fold, asking)
}

/// The same without checks, for answers that the hub makes itself.
pub(super) fn start(
    fold: &Fold,
    of: &RunId,
    run: &RunId,
    entries: &[ResumeEntry],
    asking: &Asking<'_>,
) -> Result<Decision, Refusal> {
    submit(fold, of, run, entries, Unchecked::new(), asking)
}

/// The agent that asked: answers go to no other.
pub(super) fn agent_of<'a>(fold: &'a Fold, of: &RunId) -> Result<&'a AgentName, Refusal> {
    let run = fold
        .registry()
        .run(of)
        .ok_or_else(|| Refusal::RunUnknown { run: of.clone() })?;
    Ok(&run.agent)
}

/// Answers that a run takes.
pub(super) struct Answers<'a> {
    pub(super) of: &'a RunId,
    pub(super) entries: &'a [ResumeEntry],
    pub(super) unchecked: Unchecked,
}

impl Answers<'_> {
    pub(super) fn to_accepted(&self) -> AcceptedResume {
        let entries = self.entries.iter().map(|entry| AnsweredEntry {
            interrupt_id: entry.interrupt.clone(),
            status: entry.status,
        });
        AcceptedResume {
            of: self.of.clone(),
            entries: entries.collect(),
        }
    }

    /// Records each answer; those that go out once more stand in the log already.
    pub(super) fn push_resolved(&self, draft: &mut Draft<'_>, run: &RunId) {
        for entry in self.entries {
            let fact = Fact::InterruptResolved(InterruptResolved {
                by: draft.asking.by.clone(),
                of: self.of.clone(),
                interrupt_id: entry.interrupt.clone(),
                status: entry.status,
                payload: entry.payload.clone(),
                run_id: run.clone(),
                unchecked: self.unchecked.get(&entry.interrupt).cloned(),
            });
            draft.push(Class::CONTROL, run, &fact);
        }
    }
}
