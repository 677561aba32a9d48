//! Answering: the checks over resume entries, in the order in which they are told.
//!
//! Whether an entry repeats an answer is asked before whether it is a good one: who comes second is
//! told who came first.

use std::collections::HashSet;

use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::{ResumeEntry, ResumeStatus};
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Class;

use super::run::Start;
use super::{Answer, Asking, Decision, Draft, Refusal, ResumeCommand, Verdicts};
use crate::agent_name::AgentName;
use crate::fact::{AcceptedResume, AnsweredEntry, Fact, InterruptResolved, SubmittedContent};
use crate::fingerprint::Fingerprint;
use crate::fold::Fold;
use crate::registry::{Interrupts, RunRecord};
use crate::schema::{PayloadError, Verdict};

pub(super) fn decide(
    fold: &Fold,
    command: &ResumeCommand,
    verdicts: &Verdicts,
    asking: &Asking<'_>,
) -> Result<Decision, Refusal> {
    let ResumeCommand { of, run, entries } = command;
    if let Some(known) = fold.registry().run(run) {
        return repeat(fold, known, command);
    }
    match standing(fold, of, entries)? {
        Standing::Taken(taken) => return Ok(Decision::Settled(Answer::known(taken))),
        Standing::Apply => {}
    }
    let unchecked = check(fold, of, entries, verdicts, asking)?;
    submit(fold, of, run, entries, unchecked, asking)
}

/// A resume under the id of a known run: that run, if it took these very answers.
fn repeat(fold: &Fold, known: &RunRecord, command: &ResumeCommand) -> Result<Decision, Refusal> {
    let took_all = known.took.as_ref().is_some_and(|took| {
        let answered = |entry: &ResumeEntry| {
            // Answers that were reopened are gone from the history; the record still says which
            // they were.
            let answer = fold
                .registry()
                .interrupts()
                .answer(&took.of, &entry.interrupt);
            answer.is_none_or(|answer| answer.run != known.id || answer.equals(entry))
        };
        took.of == command.of
            && took.interrupts.len() == command.entries.len()
            && command
                .entries
                .iter()
                .all(|entry| took.interrupts.contains(&entry.interrupt) && answered(entry))
    });
    if took_all {
        Ok(Decision::Settled(Answer::known(known)))
    } else {
        Err(Refusal::RunConflict {
            run: known.id.clone(),
        })
    }
}

/// What earlier answers make of a resume.
pub(super) enum Standing<'a> {
    /// All entries are open, or go out once more because the run that took them failed.
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
    for entry in entries {
        if let Some(answer) = answer(entry).filter(|answer| !answer.equals(entry)) {
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
        None => no_answers(interrupts),
    })
}

fn already_resolved(
    of: &RunId,
    interrupt: &InterruptId,
    answer: &crate::registry::Answer,
) -> Refusal {
    Refusal::AlreadyResolved {
        of: of.clone(),
        interrupt: interrupt.clone(),
        by: answer.by.clone(),
        at: answer.at,
        run: answer.run.clone(),
    }
}

fn no_answers(interrupts: &Interrupts) -> Refusal {
    let missing = interrupts
        .open()
        .map(|raised| raised.interrupt.id.clone())
        .collect();
    Refusal::ResumeIncomplete { missing }
}

/// Why a payload was not checked, by interrupt.
pub(super) type Unchecked = Vec<(InterruptId, Box<str>)>;

/// Checks entries that are to be applied to the latest interrupted run.
pub(super) fn check(
    fold: &Fold,
    of: &RunId,
    entries: &[ResumeEntry],
    verdicts: &Verdicts,
    asking: &Asking<'_>,
) -> Result<Unchecked, Refusal> {
    let raised = fold.registry().interrupts().latest();
    let find = |id: &InterruptId| raised.iter().find(|raised| raised.interrupt.id == *id);
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
    let ids = raised.iter().map(|raised| &raised.interrupt.id);
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
            Verdict::Unchecked(reason) => unchecked.push((interrupt, reason.clone())),
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
            let unchecked = self.unchecked.iter().find(|(id, _)| *id == entry.interrupt);
            let fact = Fact::InterruptResolved(InterruptResolved {
                by: draft.asking.by.clone(),
                of: self.of.clone(),
                interrupt_id: entry.interrupt.clone(),
                status: entry.status,
                payload: entry.payload.clone(),
                run_id: run.clone(),
                unchecked: unchecked.map(|(_, reason)| reason.clone()),
            });
            draft.push(Class::CONTROL, run, &fact);
        }
    }
}
