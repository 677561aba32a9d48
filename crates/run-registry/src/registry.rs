//! What became of a thread's runs and of the questions they asked: the fold of facts and of run
//! starts and ends.
//!
//! It holds no messages and no state (that is the conversation), and knows no clock: whether a
//! deadline has passed is judged by whoever decides.
//!
//! ```text
//! accepted ──▶ running ──▶ error · cancelled · success · interrupted ──(late RUN_ERROR)──▶ error
//!     └────────────(the hub writes RUN_STARTED before the end)──▲
//! ```
//!
//! Invariant: at most one run is active, and the open interrupts are none or some of the latest
//! interrupted run's.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use threadcast_agui::event::{Event, EventBody, Outcome};
use threadcast_agui::ids::RunId;
use threadcast_thread_log::entry::{Entry, Origin};
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::run_status::RunStatus;

use crate::fact::{
    ActivityDiverged, Fact, RunAccepted, StateDiverged, Submission, SubmittedContent,
};
use crate::fingerprint::Fingerprint;

mod interrupts;
mod parts;
mod run;

pub use interrupts::{Answer, Interrupts, RaisedInterrupt};
pub(crate) use run::beginning;
pub use run::{CancelRequest, Diverged, Ended, FAILURE_BYTES_MAX, Failure, RunRecord, Took};

/// Runs, interrupts and answers of one thread.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// In the order of their acceptance.
    runs: Vec<RunRecord>,
    places: HashMap<RunId, usize>,
    active: Option<usize>,
    interrupts: Interrupts,
    /// The shared state at the end of every run so far.
    states: HashSet<Fingerprint>,
    /// Runs that stand in the log without having been asked for here.
    unasked: HashSet<RunId>,
}

impl Registry {
    /// Whether the run stands in the log though nobody asked for it here, such as the made-up run
    /// of a fork: it has no record, and its id is taken.
    pub fn is_unasked(&self, run: &RunId) -> bool {
        self.unasked.contains(run)
    }

    /// The record of a run; runs stay known for the life of the thread.
    pub fn run(&self, run: &RunId) -> Option<&RunRecord> {
        self.places.get(run).map(|place| &self.runs[*place])
    }

    /// The status of a run, [`RunStatus::Unknown`] without a record.
    pub fn status(&self, run: &RunId) -> RunStatus {
        self.run(run)
            .map_or(RunStatus::Unknown, |record| record.status)
    }

    /// All runs in the order of their acceptance.
    pub fn runs(&self) -> &[RunRecord] {
        &self.runs
    }

    /// The run that is accepted or running, if any.
    pub fn active(&self) -> Option<&RunRecord> {
        self.active.map(|place| &self.runs[place])
    }

    pub fn interrupts(&self) -> &Interrupts {
        &self.interrupts
    }

    /// The run that was open behind the entry at `seq`: started, and not ended, by then.
    pub fn open_at(&self, seq: Seq) -> Option<&RunRecord> {
        self.latest_started(seq)
            .filter(|run| !run.has_ended_by(seq))
    }

    /// The run that had started last by the entry at `seq`.
    pub fn latest_started(&self, seq: Seq) -> Option<&RunRecord> {
        let mut latest_first = self.runs.iter().rev();
        latest_first.find(|run| run.started.is_some_and(|started| started <= seq))
    }

    /// Whether the shared state was this one when some run ended.
    pub fn has_ended_with_state(&self, state: Fingerprint) -> bool {
        self.states.contains(&state)
    }

    /// Takes in an event of the log; `state` is the shared state after it.
    pub(crate) fn apply_event(&mut self, entry: &Entry, event: &Event, state: &Value) {
        let place = entry
            .record
            .run
            .as_ref()
            .and_then(|run| self.places.get(run));
        let Some(place) = place.copied() else {
            if let EventBody::RunStarted { run, .. } = &event.body {
                self.unasked.insert(run.clone());
            }
            return;
        };
        let run = &mut self.runs[place];
        match &event.body {
            EventBody::RunStarted { .. } if run.ended.is_none() => {
                run.status = RunStatus::Running;
                run.is_heard = entry.record.origin != Origin::Hub;
                run.started = Some(entry.seq);
            }
            EventBody::RunFinished { outcome, .. } if run.ended.is_none() => {
                run.finish(entry, finished_status(outcome));
                if let Outcome::Interrupt { interrupts } = outcome {
                    self.interrupts.raise(run.id.clone(), interrupts);
                }
                self.end(place, state);
            }
            EventBody::RunError { message, code, .. } => {
                let is_late = run.ended.is_some();
                run.fail(entry, message, code.as_deref());
                if !is_late {
                    self.end(place, state);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, place: usize, state: &Value) {
        if self.active == Some(place) {
            self.active = None;
        }
        self.states.insert(Fingerprint::of_value(state));
    }

    /// Takes in a fact of the log.
    pub(crate) fn apply_fact(&mut self, entry: &Entry, fact: &Fact) {
        match fact {
            Fact::InterruptReopened(fact) => self.interrupts.reopen(&fact.of, &fact.interrupt_ids),
            Fact::InterruptResolved(fact) => self.interrupts.resolve(entry.record.at, fact),
            Fact::RunAccepted { public, submission } => self.accept(entry, public, submission),
            Fact::RunCancelRequested { public, .. } => {
                if let Some(run) = self.run_mut(&public.run_id) {
                    run.cancel = Some(CancelRequest {
                        by: public.by.clone(),
                        at: entry.record.at,
                        seq: entry.seq,
                    });
                }
            }
            Fact::RunDispatched(fact) => {
                if let Some(run) = self.run_mut(&fact.run_id) {
                    run.is_dispatched = true;
                }
            }
            Fact::ActivityDiverged(ActivityDiverged {
                run_id, failure, ..
            })
            | Fact::StateDiverged(StateDiverged {
                run_id, failure, ..
            }) => {
                if let Some(run) = self.run_mut(run_id).filter(|_| failure.stricter) {
                    Diverged::note(&mut run.diverged, entry.seq);
                }
            }
            Fact::RunTrailing(_)
            | Fact::StatePatched(_)
            | Fact::StreamRepaired(_)
            | Fact::ThreadForked(_) => {}
        }
    }

    fn run_mut(&mut self, run: &RunId) -> Option<&mut RunRecord> {
        self.places.get(run).map(|place| &mut self.runs[*place])
    }

    fn accept(&mut self, entry: &Entry, public: &RunAccepted, submission: &Submission) {
        if self.places.contains_key(&public.run_id) {
            return;
        }
        let took = public.resume.as_ref().map(Took::new);
        let inherits = match (&submission.content, &took) {
            (SubmittedContent::Resume(_), Some(took)) => self.run(&took.of).map(RunRecord::input),
            _ => None,
        };
        let answers = took.as_ref().and_then(|took| self.answers(took));
        self.places.insert(public.run_id.clone(), self.runs.len());
        self.active = Some(self.runs.len());
        self.runs.push(RunRecord {
            id: public.run_id.clone(),
            agent: public.agent.clone(),
            by: public.by.clone(),
            accepted: entry.seq,
            at: entry.record.at,
            fingerprint: submission.fingerprint,
            status: RunStatus::Accepted,
            is_dispatched: false,
            is_heard: false,
            started: None,
            diverged: None,
            cancel: None,
            ended: None,
            failure: None,
            in_doubt: false,
            took,
            answers,
            inherits,
        });
        debug_assert_eq!(
            self.places.len(),
            self.runs.len(),
            "every run has its place"
        );
    }

    /// What the answers say that a run takes: they stand right before its acceptance.
    fn answers(&self, took: &Took) -> Option<Fingerprint> {
        let said = took.interrupts.iter().map(|id| {
            let answer = self.interrupts.answer(&took.of, id)?;
            Some((id, answer.status, answer.payload))
        });
        let said: Option<Vec<_>> = said.collect();
        Some(Fingerprint::of_answers(&took.of, said?))
    }
}

/// The status of a run that ended so by its own account.
pub(crate) fn finished_status(outcome: &Outcome) -> RunStatus {
    match outcome {
        Outcome::Success { .. } => RunStatus::Success,
        Outcome::Interrupt { .. } => RunStatus::Interrupted,
        Outcome::Cancelled => RunStatus::Cancelled,
    }
}
