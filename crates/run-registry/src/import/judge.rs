//! Whether an entry may stand where it comes: what a hub would have made sure of before it wrote
//! it.

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;

use super::EntryProblem;
use crate::conversation::THREAD_MESSAGES_BYTES_MAX;
use crate::event_bounds::{self, EVENT_BYTES_MAX, must_fit};
use crate::fact::Fact;
use crate::fold::Fold;

/// Longest private part of a fact: a whole submission (docs/protocol.md §12.1, `inputBytes`), and
/// what stands around it.
pub const PRIVATE_BYTES_MAX: usize = 17 << 20;

/// Whether `event` may come behind the entries of `fold`; `run` is the run that its entry names.
pub(super) fn event(fold: &Fold, event: &Event, run: Option<&RunId>) -> Result<(), EntryProblem> {
    if matches!(
        event.body,
        EventBody::ReasoningMessageChunk { .. }
            | EventBody::TextMessageChunk { .. }
            | EventBody::ToolCallChunk { .. }
    ) {
        let event_type = event.type_name().into();
        return Err(EntryProblem::Chunk { event_type });
    }
    event_bounds::check_text(event.json.as_str())?;
    event_bounds::check(event)?;
    match &event.body {
        EventBody::RunStarted {
            run: begun, input, ..
        } => {
            let messages = input.iter().flat_map(|input| &input.messages);
            messages
                .into_iter()
                .try_for_each(event_bounds::check_message)?;
            may_begin(fold, begun)?;
            must_belong(run, Some(begun))?;
        }
        EventBody::Unknown { .. } => return Ok(()),
        // A late error belongs to the run that ended last.
        _ => must_belong(run, latest_run(fold))?,
    }
    fold.conversation().verifier().judge_order(event)?;
    Ok(())
}

/// The run that began last.
fn latest_run(fold: &Fold) -> Option<&RunId> {
    match &fold.conversation().runs().latest()?.started.body {
        EventBody::RunStarted { run, .. } => Some(run),
        _ => None,
    }
}

fn must_belong(found: Option<&RunId>, expected: Option<&RunId>) -> Result<(), EntryProblem> {
    if found == expected {
        return Ok(());
    }
    Err(EntryProblem::Run {
        expected: expected.cloned(),
        found: found.cloned(),
    })
}

/// A run begins once; while an accepted one waits to begin, it is the next.
fn may_begin(fold: &Fold, run: &RunId) -> Result<(), EntryProblem> {
    let registry = fold.registry();
    let has_begun = |run: &RunId| {
        let record = registry.run(run);
        record.is_some_and(|record| record.started.is_some() || record.ended.is_some())
    };
    if registry.is_unasked(run) || has_begun(run) {
        return Err(EntryProblem::Repeated { run: run.clone() });
    }
    must_be_free(fold, run)
}

fn must_be_free(fold: &Fold, run: &RunId) -> Result<(), EntryProblem> {
    match fold.registry().active() {
        Some(active) if active.id != *run => Err(EntryProblem::Busy {
            run: run.clone(),
            active: active.id.clone(),
        }),
        _ => Ok(()),
    }
}

/// The fact, if it may come behind the entries of `fold`; none if its type is not known.
pub(super) fn fact(
    fold: &Fold,
    public: &RawJson,
    private: Option<&RawJson>,
) -> Result<Option<Fact>, EntryProblem> {
    must_fit("a fact", public.as_str().len(), EVENT_BYTES_MAX)?;
    let private_bytes = private.map_or(0, |private| private.as_str().len());
    must_fit("a private part", private_bytes, PRIVATE_BYTES_MAX)?;
    let fact = Fact::read(public, private)?;
    if let Some(Fact::RunAccepted { public, .. }) = &fact {
        let run = &public.run_id;
        let registry = fold.registry();
        if registry.run(run).is_some() || registry.is_unasked(run) {
            return Err(EntryProblem::Repeated { run: run.clone() });
        }
        must_be_free(fold, run)?;
    }
    Ok(fact)
}

/// Whether the messages of `fold`, to which an entry was added, are still few enough.
pub(super) fn messages(fold: &Fold) -> Result<(), EntryProblem> {
    let found = fold.conversation().messages_bytes();
    must_fit("the thread's messages", found, THREAD_MESSAGES_BYTES_MAX)?;
    Ok(())
}
