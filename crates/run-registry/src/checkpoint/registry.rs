//! Runs, questions and answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::{Interrupt, ResumeStatus};
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;

use crate::checkpoint::CheckpointError;
use crate::checkpoint::run::StoredRun;
use crate::fact::status;
use crate::fingerprint::Fingerprint;
use crate::registry::{Answer, Interrupts, Registry};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredRegistry {
    /// In the order of their acceptance.
    runs: Vec<StoredRun>,
    /// The place of the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    active: Option<usize>,
    /// The questions of the latest interrupted run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<StoredQuestions>,
    answers: BTreeMap<RunId, BTreeMap<InterruptId, StoredAnswer>>,
    states: BTreeSet<Fingerprint>,
    unasked: BTreeSet<RunId>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredQuestions {
    of: RunId,
    interrupts: Vec<RawJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAnswer {
    #[serde(with = "status")]
    status: ResumeStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<Fingerprint>,
    by: Principal,
    at: Millis,
    run: RunId,
}

impl StoredRegistry {
    pub(super) fn of(registry: &Registry) -> Self {
        let interrupts = registry.interrupts();
        let raised = interrupts.latest().iter();
        let raised: Vec<_> = raised.map(|one| one.interrupt.json.clone()).collect();
        Self {
            runs: registry.runs().iter().map(StoredRun::of).collect(),
            active: registry.active_place(),
            asked: interrupts.latest_run().map(|of| StoredQuestions {
                of: of.clone(),
                interrupts: raised,
            }),
            answers: answers(interrupts),
            states: registry.states().iter().copied().collect(),
            unasked: registry.unasked().iter().cloned().collect(),
        }
    }

    /// All that it holds lies at or before `head`.
    pub(super) fn read(self, head: Seq) -> Result<Registry, CheckpointError> {
        let runs: Result<Vec<_>, _> = self.runs.into_iter().map(|run| run.read(head)).collect();
        let asked = self.asked.map(StoredQuestions::read).transpose()?;
        let answers = self.answers.into_iter();
        let answers = answers.map(|(of, answers)| (of, read_answers(answers)));
        let interrupts = Interrupts::of(asked, answers.collect());
        let (states, unasked) = (self.states.into_iter(), self.unasked.into_iter());
        Registry::of(
            runs?,
            self.active,
            interrupts,
            states.collect(),
            unasked.collect(),
        )
        .ok_or_else(|| CheckpointError::unreadable("runs are repeated, or the active one is none"))
    }
}

impl StoredQuestions {
    fn read(self) -> Result<(RunId, Vec<Interrupt>), CheckpointError> {
        let interrupts = self.interrupts.iter();
        let interrupts = interrupts.map(|json| Interrupt::read(json.as_str()));
        let interrupts: Result<_, _> = interrupts.collect();
        Ok((self.of, interrupts.map_err(CheckpointError::unreadable)?))
    }
}

/// A run whose answers were all taken back has none.
fn answers(interrupts: &Interrupts) -> BTreeMap<RunId, BTreeMap<InterruptId, StoredAnswer>> {
    let answered = interrupts.answers().iter();
    let answered = answered.filter(|(_, answers)| !answers.is_empty());
    let stored = answered.map(|(of, answers)| {
        let answers = answers.iter();
        let answers = answers.map(|(id, answer)| (id.clone(), StoredAnswer::of(answer)));
        (of.clone(), answers.collect())
    });
    stored.collect()
}

fn read_answers(answers: BTreeMap<InterruptId, StoredAnswer>) -> HashMap<InterruptId, Answer> {
    let answers = answers.into_iter();
    answers.map(|(id, answer)| (id, answer.read())).collect()
}

impl StoredAnswer {
    fn of(answer: &Answer) -> Self {
        Self {
            status: answer.status,
            payload: answer.payload,
            by: answer.by.clone(),
            at: answer.at,
            run: answer.run.clone(),
        }
    }

    fn read(self) -> Answer {
        Answer {
            status: self.status,
            payload: self.payload,
            by: self.by,
            at: self.at,
            run: self.run,
        }
    }
}
