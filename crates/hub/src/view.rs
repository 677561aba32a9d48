//! The hub's own view of a thread, from its fold.
//!
//! Time is the caller's: whether an interrupt has expired is judged when the view is made.

use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::registry::{Failure, RunRecord};
use threadcast_run_registry::snapshot::leaves_state_out;
use threadcast_thread_log::position::Position;
use threadcast_thread_log::run_status::RunStatus;
use threadcast_wire::answer::{RunAnswer, ThreadAnswer};
use threadcast_wire::view::{InterruptView, RUNS_MAX, RunErrorView, RunView, ThreadView};

pub(crate) use crate::clock::now;

/// The view without the state.
pub(crate) fn thread_view(fold: &Fold) -> ThreadView {
    let registry = fold.registry();
    let runs = registry.runs();
    let now = now();
    let interrupts = registry.interrupts();
    let open = interrupts.open().filter_map(|raised| {
        Some(InterruptView {
            of: interrupts.latest_run()?.clone(),
            interrupt: raised.interrupt.json.clone(),
            expired: raised.has_expired(now),
        })
    });
    let active = registry.active();
    ThreadView {
        status: active
            .or_else(|| runs.last())
            .map_or(RunStatus::Unknown, |run| run.status),
        active_run: active.map(|run| run.id.clone()),
        runs: runs[runs.len().saturating_sub(RUNS_MAX)..]
            .iter()
            .map(run_record_view)
            .collect(),
        interrupts: open.collect(),
        state: None,
    }
}

/// The view, and where the log stands.
pub(crate) fn thread_answer(fold: &Fold) -> ThreadAnswer {
    let view = thread_view(fold);
    let Position { epoch, seq } = fold.position().clone();
    ThreadAnswer {
        id: fold.thread().clone(),
        epoch,
        seq,
        status: view.status,
        thread: view,
    }
}

/// The view as a baseline carries it: with the state if no event could.
pub(crate) fn thread_view_with_state(fold: &Fold) -> ThreadView {
    let conversation = fold.conversation();
    let state = leaves_state_out(conversation).then(|| RawJson::from_value(conversation.state()));
    ThreadView {
        state,
        ..thread_view(fold)
    }
}

/// The view of a run, if the thread has a record of it, and where the log stands.
pub(crate) fn run_answer(fold: &Fold, run: RunId) -> RunAnswer {
    let view = fold.registry().run(&run).map(run_record_view);
    let Position { epoch, seq } = fold.position().clone();
    RunAnswer {
        thread: fold.thread().clone(),
        id: run,
        epoch,
        seq,
        status: view.as_ref().map_or(RunStatus::Unknown, |run| run.status),
        run: view,
    }
}

fn run_record_view(run: &RunRecord) -> RunView {
    RunView {
        run: run.id.clone(),
        status: run.status,
        agent: run.agent.to_string(),
        by: run.by.clone(),
        seq: run.accepted,
        at: run.at,
        end_seq: run.ended.map(|ended| ended.seq),
        error: run.failure.as_ref().map(error_view),
        in_doubt: run.in_doubt,
    }
}

fn error_view(failure: &Failure) -> RunErrorView {
    RunErrorView {
        code: failure.code.as_deref().map(Into::into),
        message: (*failure.message).into(),
    }
}
