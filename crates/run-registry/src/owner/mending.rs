//! Closing what an agent left open before its RUN_FINISHED.
//!
//! Only ends are made up, never content: of steps, messages and reasoning, and the failure of
//! subagents that were left running. A tool call is never closed here, for whoever sees its end may
//! execute it with arguments that were never finished.

use std::collections::HashMap;
use std::fmt;

use threadcast_agui::event::Event;
use threadcast_agui::ids::SubagentRunId;
use threadcast_agui::make;

use crate::fact::{ClosedItem, ClosedKind};
use crate::verify::{Owner, RunScope};

/// Most items that are closed before one RUN_FINISHED: they are one append.
pub const MENDED_MAX: usize = 1_024;

/// The `code` of a subagent that was left running.
pub const LEFT_OPEN: &str = "LEFT_OPEN";

/// An end that the agent did not send.
#[derive(Debug)]
pub(super) struct Closer {
    pub(super) event: Event,
    pub(super) item: ClosedItem,
}

impl Closer {
    fn new(event: Event, kind: ClosedKind, id: impl fmt::Display, owner: &Owner) -> Self {
        let item = ClosedItem {
            kind,
            id: id.to_string().into(),
            subagent_run_id: owner.clone(),
        };
        Self { event, item }
    }

    fn of_subagent(subagent: &SubagentRunId) -> Self {
        let message = "the run ended while this subagent was running";
        let event = make::subagent_error(subagent, message, Some(LEFT_OPEN));
        Self::new(event, ClosedKind::Subagent, subagent, &None)
    }
}

/// How many items `scope` has open, tool calls aside.
pub(super) fn open_count(scope: &RunScope) -> usize {
    scope.messages.len()
        + scope.reasoning_messages.len()
        + scope.spans.len()
        + scope.steps.len()
        + scope.subagents.active_count()
}

/// The ends of all that is open, tool calls aside: what subagents left open and then they
/// themselves, children before their parents; the parent agent's own last.
pub(super) fn closers(scope: &RunScope) -> Vec<Closer> {
    let mut by_owner: HashMap<Owner, Vec<Closer>> = HashMap::new();
    let mut ended = Vec::new();
    for closer in items(scope) {
        match &closer.item.subagent_run_id {
            Some(subagent) if !scope.subagents.is_active(subagent) => ended.push(closer),
            owner => by_owner.entry(owner.clone()).or_default().push(closer),
        }
    }
    let mut closers = ended;
    // Parents began before their children.
    for invocation in scope.subagents.invocations().iter().rev() {
        if let (None, Some(subagent)) = (&invocation.ended, &invocation.started.owner) {
            closers.extend(
                by_owner
                    .remove(&invocation.started.owner)
                    .unwrap_or_default(),
            );
            closers.push(Closer::of_subagent(subagent));
        }
    }
    closers.extend(by_owner.remove(&None).unwrap_or_default());
    closers
}

/// Messages, then the spans and steps around them; of each kind the last begun first.
fn items(scope: &RunScope) -> Vec<Closer> {
    let owners = &scope.owners;
    let unowned = None;
    let mut items = Vec::with_capacity(open_count(scope));
    for id in scope.messages.in_order().into_iter().rev() {
        let owner = owners.messages.get(id).unwrap_or(&unowned);
        let event = make::text_message_end(id, owner.as_ref());
        items.push(Closer::new(event, ClosedKind::TextMessage, id, owner));
    }
    for id in scope.reasoning_messages.in_order().into_iter().rev() {
        let owner = owners.reasoning.get(id).unwrap_or(&unowned);
        let event = make::reasoning_message_end(id, owner.as_ref());
        items.push(Closer::new(event, ClosedKind::ReasoningMessage, id, owner));
    }
    for id in scope.spans.in_order().into_iter().rev() {
        let owner = owners.reasoning.get(id).unwrap_or(&unowned);
        let event = make::reasoning_end(id, owner.as_ref());
        items.push(Closer::new(event, ClosedKind::ReasoningSpan, id, owner));
    }
    for (owner, step) in scope.steps.in_order().into_iter().rev() {
        let event = make::step_finished(step, owner.as_ref());
        items.push(Closer::new(event, ClosedKind::Step, step, owner));
    }
    items
}
