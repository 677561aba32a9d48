//! Payloads judged by their interrupts' schemas, apart from deciding: judging may be slow, deciding
//! may not.

use std::borrow::Cow;
use std::collections::HashMap;

use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::{Interrupt, ResumeEntry, ResumeStatus};

use super::{Command, run};
use crate::fold::Fold;
use crate::schema::{self, Verdict};

/// What was judged of one command's payloads.
#[derive(Clone, Debug, Default)]
pub struct Verdicts(HashMap<(RunId, InterruptId), Verdict>);

/// A payload, and the question of run `of` that it answers: all that judging takes, so that no fold
/// is held meanwhile.
#[derive(Clone, Debug)]
pub struct Unjudged {
    of: RunId,
    interrupt: Interrupt,
    entry: ResumeEntry,
}

impl Verdicts {
    /// Nothing judged: `decide` judges what it needs.
    pub fn none() -> Self {
        Self::default()
    }

    /// The payloads of `command` that answer a question with a schema and are not judged yet;
    /// cheap.
    pub fn unjudged(&self, fold: &Fold, command: &Command) -> Vec<Unjudged> {
        let interrupts = fold.registry().interrupts();
        let Some(latest) = interrupts.latest_run() else {
            return Vec::new();
        };
        let entries = match command {
            Command::Resume(command) if command.of == *latest => {
                Cow::Borrowed(command.entries.as_slice())
            }
            Command::Cancel(_) | Command::Resume(_) => return Vec::new(),
            Command::Run(command) => run::entries(fold, &command.input),
        };
        let answered = entries.iter().filter_map(|entry| {
            let (_, raised) = interrupts.find_latest(&entry.interrupt)?;
            let is_due = entry.status == ResumeStatus::Resolved
                && raised.interrupt.response_schema.is_some()
                && self.get(latest, &entry.interrupt).is_none();
            is_due.then(|| Unjudged {
                of: latest.clone(),
                interrupt: raised.interrupt.clone(),
                entry: entry.clone(),
            })
        });
        answered.collect()
    }

    /// Judges payloads by the schemas of the interrupts they answer; takes as long as they are
    /// large.
    pub fn judge(&mut self, payloads: Vec<Unjudged>) {
        for Unjudged {
            of,
            interrupt,
            entry,
        } in payloads
        {
            // Only the first of several entries counts: two for one interrupt are refused anyway.
            self.0
                .entry((of, interrupt.id.clone()))
                .or_insert_with(|| schema::judge(&interrupt, &entry));
        }
    }

    /// The verdict over an entry for an interrupt of run `of`; judged now if that was not done
    /// before.
    pub(super) fn of<'a>(
        &'a self,
        of: &RunId,
        entry: &ResumeEntry,
        interrupt: &Interrupt,
    ) -> Cow<'a, Verdict> {
        match self.get(of, &interrupt.id) {
            Some(verdict) => Cow::Borrowed(verdict),
            None => Cow::Owned(schema::judge(interrupt, entry)),
        }
    }

    fn get(&self, of: &RunId, interrupt: &InterruptId) -> Option<&Verdict> {
        self.0.get(&(of.clone(), interrupt.clone()))
    }
}
