//! The snapshot for clients from before AG-UI 1.0: they know neither owners nor which calls are
//! pending, so much less has to be told.
//!
//! They add a call whenever one is begun, and take no run behind one that failed. So what is open
//! is begun in front of the list, which then puts the messages as they are, and the run before the
//! latest is there only if it finished.

use threadcast_agui::event::{Event, TextRole};
use threadcast_agui::ids::MessageId;
use threadcast_agui::make;
use threadcast_agui::message::Message;

use crate::conversation::Conversation;
use crate::snapshot::{free_id, pending_before, push_end};
use crate::verify::RunScope;

/// The events that bring an empty client from before AG-UI 1.0 to where `conversation` stands, once
/// they are downgraded; none when the log has no run.
pub fn snapshot_for_older(conversation: &Conversation) -> Vec<Event> {
    let Some(latest) = conversation.runs().latest() else {
        return Vec::new();
    };
    let scope = conversation.verifier().scope();
    let mut events = Vec::new();
    if let Some(before) = pending_before(conversation) {
        events.push(before.started.clone());
        events.extend(before.finished.clone());
    }
    events.push(latest.started.clone());
    if let Some(scope) = scope {
        push_calls(&mut events, conversation, scope);
        push_texts(&mut events, scope, |id| conversation.message(id).is_none());
    }
    let messages: Vec<Message> = conversation.messages().cloned().collect();
    events.push(make::messages_snapshot(&messages));
    events.push(make::state_snapshot(conversation.state()));
    match scope {
        Some(scope) => {
            push_texts(&mut events, scope, |id| conversation.message(id).is_some());
            for (owner, step) in scope.steps.in_order() {
                events.push(make::step_started(step, owner.as_ref()));
            }
        }
        None => push_end(&mut events, latest),
    }
    events
}

/// Begins the open calls in a message that the list takes away.
fn push_calls(events: &mut Vec<Event>, conversation: &Conversation, scope: &RunScope) {
    let holder = free_id(conversation, Some(scope));
    let started = conversation.runs().started().iter();
    for call in started.filter(|call| scope.calls.contains(&call.id)) {
        events.push(make::tool_call_start(
            &call.id,
            &call.name,
            Some(&holder),
            None,
        ));
    }
}

/// Begins open text messages: the list takes away what is gone, and what is there keeps its text.
fn push_texts(events: &mut Vec<Event>, scope: &RunScope, is_meant: impl Fn(&MessageId) -> bool) {
    for message in scope.messages.in_order() {
        if is_meant(message) {
            events.push(make::text_message_start(
                message,
                TextRole::Assistant,
                None,
                None,
            ));
        }
    }
}
