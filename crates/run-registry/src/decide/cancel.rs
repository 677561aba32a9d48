//! Cancelling: of an active run a request that is recorded, of an interrupted one a resume that
//! gives up every question.

use threadcast_agui::ids::RunId;
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Class;
use threadcast_thread_log::lease::LeaseChange;

use super::{Answer, Asking, CancelCommand, Decision, Draft, Proposal, Refusal, resume};
use crate::fact::{Fact, RunCancelRequested};
use crate::fold::Fold;
use crate::registry::RunRecord;
use crate::thread_record::StoredRecord;

pub(super) fn decide(
    fold: &Fold,
    command: &CancelCommand,
    asking: &Asking<'_>,
) -> Result<Decision, Refusal> {
    let registry = fold.registry();
    let Some(run) = registry.run(&command.run) else {
        return Err(Refusal::RunUnknown {
            run: command.run.clone(),
        });
    };
    if run.ended.is_none() {
        return Ok(match run.cancel {
            Some(_) => Decision::Settled(Answer::known(run)),
            None => request(fold, run, command, asking),
        });
    }
    let is_asking =
        registry.interrupts().latest_run() == Some(&run.id) && registry.interrupts().has_open();
    if is_asking {
        give_up(fold, &run.id, asking)
    } else {
        Ok(Decision::Settled(Answer::known(run)))
    }
}

fn request(fold: &Fold, run: &RunRecord, command: &CancelCommand, asking: &Asking<'_>) -> Decision {
    let public = RunCancelRequested {
        by: asking.by.clone(),
        run_id: run.id.clone(),
        reason: command.reason.as_deref().map(Into::into),
    };
    let mut draft = Draft::new(fold, asking);
    let fact = Fact::RunCancelRequested {
        public,
        attempt: asking.attempt.clone(),
    };
    draft.push(Class::CONTROL, &run.id, &fact);
    Decision::Append(Box::new(Proposal {
        append: draft.into_append(LeaseChange::Keep, false, StoredRecord::of(fold)),
        answer: Answer {
            run: run.id.clone(),
            status: run.status,
            duplicate: false,
        },
        starts: None,
    }))
}

/// The agent still waits for its answers, so it is told that none will come.
fn give_up(fold: &Fold, of: &RunId, asking: &Asking<'_>) -> Result<Decision, Refusal> {
    let open = fold.registry().interrupts().open();
    let entries: Vec<ResumeEntry> = open
        .map(|raised| cancelled(raised.interrupt.id.as_str()))
        .collect();
    resume::start(fold, of, asking.fresh_run, &entries, asking)
}

fn cancelled(interrupt: &str) -> ResumeEntry {
    let json = serde_json::json!({ "interruptId": interrupt, "status": "cancelled" });
    ResumeEntry::read(RawJson::from_value(&json).as_str())
        .expect("an id and a status make a resume entry")
}
