//! Questions and answers of a thread.
//!
//! A question is known by the run that raised it and its id: agents raise the same id again in a
//! later run, and an answer to the first must never be taken for one to the second.

use std::collections::HashMap;

use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::{Interrupt, ResumeEntry, ResumeStatus};
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::principal::Principal;

use crate::deadline;
use crate::fact::InterruptResolved;
use crate::fingerprint::Fingerprint;

/// The questions of the latest interrupted run, and every answer ever accepted.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    latest: Option<(RunId, Vec<RaisedInterrupt>)>,
    /// Where in `latest` each id stands.
    places: HashMap<InterruptId, usize>,
    answers: HashMap<RunId, HashMap<InterruptId, Answer>>,
}

/// One question of an interrupted run.
#[derive(Clone, Debug, PartialEq)]
pub struct RaisedInterrupt {
    pub interrupt: Interrupt,
    /// From here on it can only be cancelled; none if it gives no date.
    pub deadline: Option<Millis>,
}

impl RaisedInterrupt {
    pub(crate) fn new(interrupt: &Interrupt) -> Self {
        let deadline = interrupt.expires_at.as_deref().and_then(deadline::parse);
        Self {
            interrupt: interrupt.clone(),
            deadline,
        }
    }

    /// Whether the deadline has passed.
    pub fn has_expired(&self, now: Millis) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

/// What was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: ResumeStatus,
    pub payload: Option<Fingerprint>,
    pub by: Principal,
    pub at: Millis,
    /// The run that took it.
    pub run: RunId,
}

impl Answer {
    /// Whether the entry says the same; its metadata says nothing.
    pub fn equals(&self, entry: &ResumeEntry) -> bool {
        self.status == entry.status
            && self.payload == entry.payload.as_ref().map(Fingerprint::of_json)
    }
}

impl Interrupts {
    /// Of its parts, as a checkpoint keeps them.
    pub(crate) fn of(
        latest: Option<(RunId, Vec<Interrupt>)>,
        answers: HashMap<RunId, HashMap<InterruptId, Answer>>,
    ) -> Self {
        let mut interrupts = Self {
            answers,
            ..Self::default()
        };
        if let Some((of, raised)) = latest {
            interrupts.raise(of, &raised);
        }
        interrupts
    }

    /// Every answer ever accepted, in no order.
    pub(crate) fn answers(&self) -> &HashMap<RunId, HashMap<InterruptId, Answer>> {
        &self.answers
    }

    /// The run that raised the latest interrupts, answered or not.
    pub fn latest_run(&self) -> Option<&RunId> {
        self.latest.as_ref().map(|(of, _)| of)
    }

    /// All interrupts of the latest interrupted run, answered or not, in the agent's order.
    pub fn latest(&self) -> &[RaisedInterrupt] {
        self.latest.as_ref().map_or(&[], |(_, raised)| raised)
    }

    /// The run that raised the latest interrupts, and the one of them with this id.
    pub fn find_latest(&self, id: &InterruptId) -> Option<(&RunId, &RaisedInterrupt)> {
        let (of, raised) = self.latest.as_ref()?;
        Some((of, raised.get(*self.places.get(id)?)?))
    }

    /// The interrupts that wait for an answer; they are all of [`latest_run`](Self::latest_run).
    pub fn open(&self) -> impl Iterator<Item = &RaisedInterrupt> {
        self.latest.iter().flat_map(|(of, raised)| {
            raised
                .iter()
                .filter(|raised| self.answer(of, &raised.interrupt.id).is_none())
        })
    }

    pub fn has_open(&self) -> bool {
        self.open().next().is_some()
    }

    /// The answer to interrupt `id` of run `of`.
    pub fn answer(&self, of: &RunId, id: &InterruptId) -> Option<&Answer> {
        self.answers.get(of)?.get(id)
    }

    pub(super) fn raise(&mut self, of: RunId, interrupts: &[Interrupt]) {
        let ids = interrupts.iter().map(|interrupt| interrupt.id.clone());
        self.places = ids.zip(0..).collect();
        self.latest = Some((of, interrupts.iter().map(RaisedInterrupt::new).collect()));
    }

    pub(super) fn resolve(&mut self, at: Millis, fact: &InterruptResolved) {
        let answer = Answer {
            status: fact.status,
            payload: fact.payload.as_ref().map(Fingerprint::of_json),
            by: fact.by.clone(),
            at,
            run: fact.run_id.clone(),
        };
        let answers = self.answers.entry(fact.of.clone()).or_default();
        match answers.get_mut(&fact.interrupt_id) {
            // Sent once more: who decided, and when, stays.
            Some(known) if known.status == answer.status && known.payload == answer.payload => {
                known.run = answer.run
            }
            _ => drop(answers.insert(fact.interrupt_id.clone(), answer)),
        }
    }

    pub(super) fn reopen(&mut self, of: &RunId, ids: &[InterruptId]) {
        if let Some(answers) = self.answers.get_mut(of) {
            for id in ids {
                answers.remove(id);
            }
        }
    }
}
