//! What a run has open, begun again so that its continuation is legal for a client that joins.
//!
//! Beginning an item again changes nothing where its message is there, and tells its owner. Calls
//! are begun for the sake of what is pending too: a client derives it from the calls that a run
//! began and did not answer, in that order.

use std::collections::{BTreeMap, HashSet};

use threadcast_agui::event::{Event, TextRole};
use threadcast_agui::ids::MessageId;
use threadcast_agui::make;

use crate::conversation::{Conversation, StartedCall};
use crate::snapshot::List;
use crate::snapshot::results::Results;
use crate::verify::{Owners, RunScope};

pub(super) struct Reopening<'a> {
    conversation: &'a Conversation,
    scope: &'a RunScope,
    /// Calls that are open, and calls that are closed and unanswered.
    calls: Vec<&'a StartedCall>,
}

impl<'a> Reopening<'a> {
    pub(super) fn of(conversation: &'a Conversation, scope: &'a RunScope) -> Self {
        let runs = conversation.runs();
        let is_begun =
            |call: &&StartedCall| scope.calls.contains(&call.id) || !runs.is_answered(&call.id);
        Self {
            conversation,
            scope,
            calls: runs.started().iter().filter(is_begun).collect(),
        }
    }

    pub(super) fn scope(&self) -> &'a RunScope {
        self.scope
    }

    pub(super) fn calls(&self) -> &[&'a StartedCall] {
        &self.calls
    }

    /// Whether a client that was `told` so much, and then what is begun again, knows what
    /// this run has told, no less and no more, and holds no message that is gone.
    pub(super) fn completes(&self, told: &Owners, results: &Results<'_>) -> bool {
        let (scope, owners) = (self.scope, &self.scope.owners);
        let begun: HashSet<_> = self.calls.iter().map(|call| &call.id).collect();
        let restated = self.conversation.runs().started().iter();
        let restated = restated.filter(|call| self.is_restated(call, results));
        let begun_or_restated: HashSet<_> = restated
            .map(|call| &call.id)
            .chain(begun.iter().copied())
            .collect();
        let is_call_told = |call| told.calls.contains_key(call) || begun_or_restated.contains(call);
        let is_held = |id| self.conversation.message(id).is_some();
        told.is_part_of(owners)
            && owners
                .messages
                .keys()
                .all(|id| told.messages.contains_key(id) || scope.messages.contains(id))
            && owners.activities.len() == told.activities.len()
            && owners.calls.keys().all(is_call_told)
            && scope.messages.in_order().into_iter().all(is_held)
            && scope.reasoning_messages.in_order().into_iter().all(is_held)
            && begun
                .into_iter()
                .all(|call| self.conversation.tool_call_name(call).is_some())
    }

    /// Whether a call that is answered can be begun and ended again for the sake of its owner.
    fn is_restated(&self, call: &StartedCall, results: &Results<'_>) -> bool {
        results.is_answered(&call.id) && self.conversation.tool_call_name(&call.id).is_some()
    }

    /// Whether an open call would count as unanswered to a client that is given `results`.
    pub(super) fn miscounts(&self, results: &Results<'_>) -> bool {
        let runs = self.conversation.runs();
        let mut calls = self.calls.iter();
        calls.any(|call| runs.is_answered(&call.id) && !results.is_answered(&call.id))
    }

    /// Whether a list of `messages` tells nothing that this run has not told.
    pub(super) fn has_told_all_of(&self, messages: &List<'_>) -> bool {
        let mut told = Owners::default();
        told.seed_all(messages.iter().map(AsRef::as_ref));
        told.is_part_of(&self.scope.owners)
    }

    /// Begins calls again: those that are open, those that are unanswered, and those whose owner is
    /// not `told` yet. With a `parent` they leave the messages alone that the client holds, for it
    /// may not hold them yet.
    pub(super) fn push_calls(
        &self,
        events: &mut Vec<Event>,
        told: &Owners,
        results: &Results<'_>,
        parent: Option<&MessageId>,
    ) {
        let (runs, scope) = (self.conversation.runs(), self.scope);
        let is_begun = |call: &&StartedCall| {
            let is_open = scope.calls.contains(&call.id);
            let is_untold = !told.calls.contains_key(&call.id) && self.is_restated(call, results);
            is_open || is_untold || !runs.is_answered(&call.id)
        };
        for call in runs.started().iter().filter(is_begun) {
            let owner = scope.owners.calls.get(&call.id).and_then(Option::as_ref);
            let name = self.conversation.tool_call_name(&call.id);
            let name = name.unwrap_or(&call.name);
            events.push(make::tool_call_start(&call.id, name, parent, owner));
            if !scope.calls.contains(&call.id) {
                events.push(make::tool_call_end(&call.id, owner));
            }
        }
    }

    /// Begins the open messages again that are gone.
    pub(super) fn push_gone(&self, events: &mut Vec<Event>) {
        let told = Owners::default();
        self.push_messages(events, &told, |id| self.conversation.message(id).is_none());
    }

    /// Begins everything else again, and tells the owners of reasoning that are not `told`.
    pub(super) fn push_present(&self, events: &mut Vec<Event>, told: &Owners) {
        let scope = self.scope;
        self.push_messages(events, told, |id| self.conversation.message(id).is_some());
        self.push_spans(events, told);
        // Subagents with those that have ended, for they may be named as parents still.
        for invocation in scope.subagents.invocations() {
            events.push(invocation.started.clone());
            events.extend(invocation.ended.clone());
        }
        for (owner, step) in scope.steps.in_order() {
            events.push(make::step_started(step, owner.as_ref()));
        }
    }

    /// The owner is left out where the client was `told` of another: it would not take it.
    fn push_messages(
        &self,
        events: &mut Vec<Event>,
        told: &Owners,
        is_meant: impl Fn(&MessageId) -> bool,
    ) {
        let (scope, owners) = (self.scope, &self.scope.owners);
        for message in scope.messages.in_order() {
            if is_meant(message) {
                let owner = owners.messages.get(message);
                let is_agreed = told
                    .messages
                    .get(message)
                    .is_none_or(|told| Some(told) == owner);
                let owner = owner.filter(|_| is_agreed).and_then(Option::as_ref);
                let role = TextRole::Assistant;
                events.push(make::text_message_start(message, role, None, owner));
            }
        }
        for message in scope.reasoning_messages.in_order() {
            if is_meant(message) {
                let owner = owners.reasoning.get(message).and_then(Option::as_ref);
                events.push(make::reasoning_message_start(message, owner));
            }
        }
    }

    /// Reasoning messages and spans share their ids' owners, and a span makes no message; so a span
    /// tells the owner of either.
    fn push_spans(&self, events: &mut Vec<Event>, told: &Owners) {
        let scope = self.scope;
        let closed: BTreeMap<_, _> = scope
            .owners
            .reasoning
            .iter()
            .filter(|(id, _)| {
                !told.reasoning.contains_key(id)
                    && !scope.spans.contains(id)
                    && !scope.reasoning_messages.contains(id)
            })
            .collect();
        for (span, owner) in closed {
            events.push(make::reasoning_start(span, owner.as_ref()));
            events.push(make::reasoning_end(span, owner.as_ref()));
        }
        for span in scope.spans.in_order() {
            let owner = scope.owners.reasoning.get(span).and_then(Option::as_ref);
            events.push(make::reasoning_start(span, owner));
        }
    }
}
