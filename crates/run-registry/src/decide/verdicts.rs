//! Payloads judged by their interrupts' schemas, apart from deciding: judging may be slow, deciding
//! may not.

use std::borrow::Cow;
use std::collections::HashMap;

use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::{Interrupt, ResumeEntry, ResumeStatus};

use super::Command;
use crate::fold::Fold;
use crate::schema::{self, Verdict};

/// What was judged of one command's payloads.
#[derive(Clone, Debug, Default)]
pub struct Verdicts(HashMap<(RunId, InterruptId), Verdict>);

impl Verdicts {
    /// Nothing judged: `decide` judges what it needs.
    pub fn none() -> Self {
        Self::default()
    }

    /// The verdict over an entry for an interrupt of run `of`; judged now if that interrupt was not
    /// there before.
    pub(super) fn of<'a>(
        &'a self,
        of: &RunId,
        entry: &ResumeEntry,
        interrupt: &Interrupt,
    ) -> Cow<'a, Verdict> {
        match self.0.get(&(of.clone(), interrupt.id.clone())) {
            Some(verdict) => Cow::Borrowed(verdict),
            None => Cow::Owned(schema::judge(interrupt, entry)),
        }
    }
}

/// Judges the payloads of `command` by the schemas of the interrupts it answers; takes as long as
/// they are large.
pub fn verdicts(fold: &Fold, command: &Command) -> Verdicts {
    let interrupts = fold.registry().interrupts();
    let Some(latest) = interrupts.latest_run() else {
        return Verdicts::none();
    };
    let entries = match command {
        Command::Cancel(_) => return Verdicts::none(),
        Command::Resume(command) if command.of == *latest => &command.entries,
        Command::Resume(_) => return Verdicts::none(),
        Command::Run(command) => &command.input.resume,
    };
    let mut verdicts = HashMap::new();
    for entry in entries
        .iter()
        .filter(|entry| entry.status == ResumeStatus::Resolved)
    {
        let raised = interrupts
            .latest()
            .iter()
            .find(|raised| raised.interrupt.id == entry.interrupt);
        // Only the first of several entries counts: two for one interrupt are refused anyway.
        if let Some(raised) = raised {
            let key = (latest.clone(), entry.interrupt.clone());
            verdicts
                .entry(key)
                .or_insert_with(|| schema::judge(&raised.interrupt, entry));
        }
    }
    Verdicts(verdicts)
}
