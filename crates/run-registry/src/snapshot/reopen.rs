//! What a run has open, begun again so that its continuation is legal for a client that joins.
//!
//! Beginning an item again changes nothing where its message is there. Where the agent has restated
//! its messages without that of an open item, beginning it would bring the message back; such items
//! come before the list of messages, which removes it once more.

use serde_json::json;
use threadcast_agui::content::Content;
use threadcast_agui::event::{Event, EventBody, TextRole};
use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::json::RawJson;
use threadcast_agui::make;
use threadcast_agui::message::MessageBody;
use threadcast_agui::text::Escaped;

use crate::conversation::{Conversation, StartedCall};
use crate::verify::RunScope;

pub(super) struct Reopened {
    /// To stand before the list of messages, which removes the messages they make.
    pub(super) vanished: Vec<Event>,
    /// Likewise, where there is such a list: results for the calls that the open run has answered.
    pub(super) answered: Vec<Event>,
    /// To stand behind the list of messages.
    pub(super) present: Vec<Event>,
}

impl Reopened {
    pub(super) fn of(conversation: &Conversation) -> Self {
        let mut reopened = Self {
            vanished: Vec::new(),
            answered: Vec::new(),
            present: Vec::new(),
        };
        let scope = conversation.verifier().scope();
        if conversation.runs().is_tally_asked() {
            reopened.calls(conversation, scope);
        }
        if let Some(scope) = scope {
            reopened.messages(conversation, scope);
            reopened.reasoning(conversation, scope);
            reopened.brackets(scope);
        }
        reopened
    }

    fn side(&mut self, is_present: bool) -> &mut Vec<Event> {
        if is_present {
            &mut self.present
        } else {
            &mut self.vanished
        }
    }

    /// Calls that are open, and calls that are closed and unanswered: from these, in this order, a
    /// client derives what is pending. If one has to stand before the list of messages, all do.
    fn calls(&mut self, conversation: &Conversation, scope: Option<&RunScope>) {
        let runs = conversation.runs();
        let is_open =
            |call: &StartedCall| scope.is_some_and(|scope| scope.calls.contains(&call.id));
        let told: Vec<_> = runs
            .started()
            .iter()
            .filter(|call| is_open(call) || !runs.is_answered(&call.id))
            .collect();
        // What is answered already must be answered again, and only in front of the list can it be.
        let is_early = |call: &StartedCall| {
            conversation.tool_call_name(&call.id).is_none() || runs.is_answered(&call.id)
        };
        let stand_in = stand_in(conversation, scope);
        // In front of the list a call must leave the messages alone that come with it.
        let parent = told.iter().any(|call| is_early(call)).then_some(&stand_in);
        let side = self.side(parent.is_none());
        for call in &told {
            let owner = scope
                .and_then(|scope| scope.owners.calls.get(&call.id))
                .and_then(Option::as_ref);
            let name = conversation.tool_call_name(&call.id).unwrap_or(&call.name);
            side.push(make::tool_call_start(&call.id, name, parent, owner));
            if !is_open(call) {
                side.push(make::tool_call_end(&call.id, owner));
            }
        }
        if scope.is_some() {
            self.answered
                .extend(runs.answered().map(|call| empty_result(&stand_in, call)));
        }
    }

    fn messages(&mut self, conversation: &Conversation, scope: &RunScope) {
        for message in scope.messages.in_order() {
            let owner = scope.owners.messages.get(message).and_then(Option::as_ref);
            let start = make::text_message_start(message, TextRole::Assistant, None, owner);
            self.side(conversation.message(message).is_some())
                .push(start);
        }
    }

    fn reasoning(&mut self, conversation: &Conversation, scope: &RunScope) {
        let is_reasoning = |body: &MessageBody| matches!(body, MessageBody::Reasoning { .. });
        let is_restated = conversation
            .messages()
            .any(|message| is_reasoning(&message.body));
        for message in scope.reasoning_messages.in_order() {
            let owner = scope.owners.reasoning.get(message).and_then(Option::as_ref);
            let is_present = conversation.message(message).is_some();
            if !is_present && !is_restated && !scope.messages.contains(message) {
                // A list without reasoning removes none, so the message is made as text.
                let owner = scope.owners.messages.get(message).and_then(Option::as_ref);
                self.vanished.push(make::text_message_start(
                    message,
                    TextRole::Assistant,
                    None,
                    owner,
                ));
                self.vanished.push(text_message_end(message));
            }
            self.side(is_present)
                .push(make::reasoning_message_start(message, owner));
        }
        for span in scope.spans.in_order() {
            let owner = scope.owners.reasoning.get(span).and_then(Option::as_ref);
            self.present.push(make::reasoning_start(span, owner));
        }
    }

    /// Subagents with those that have ended, for they may be named as parents still; then steps.
    fn brackets(&mut self, scope: &RunScope) {
        for invocation in scope.subagents.invocations() {
            self.present.push(invocation.started.clone());
            self.present.extend(invocation.ended.clone());
        }
        for (owner, step) in scope.steps.in_order() {
            self.present.push(make::step_started(step, owner.as_ref()));
        }
    }
}

/// The id of a message that is not there and was not there in this run.
fn stand_in(conversation: &Conversation, scope: Option<&RunScope>) -> MessageId {
    let is_free = |id: &MessageId| {
        conversation.message(id).is_none()
            && scope.is_none_or(|scope| !scope.owners.messages.contains_key(id))
    };
    let ids = (0_u64..).map(|count| MessageId::new(format!("threadcast:gone:{count}")));
    let free = ids.map(|id| id.expect("the id is short")).find(is_free);
    free.expect("there are more numbers than messages")
}

/// Marks a call as answered; its message is removed right behind.
fn empty_result(message: &MessageId, call: &ToolCallId) -> Event {
    let json = RawJson::from_value(&json!({
        "type": "TOOL_CALL_RESULT",
        "messageId": message.as_str(),
        "toolCallId": call.as_str(),
        "content": "",
    }));
    let content = Content::Text(Escaped::new());
    let body = EventBody::ToolCallResult {
        message: message.clone(),
        call: call.clone(),
        content,
    };
    Event {
        json,
        timestamp: None,
        metadata: None,
        owner: None,
        body,
    }
}

fn text_message_end(message: &MessageId) -> Event {
    let json =
        RawJson::from_value(&json!({ "type": "TEXT_MESSAGE_END", "messageId": message.as_str() }));
    let body = EventBody::TextMessageEnd {
        message: message.clone(),
    };
    Event {
        json,
        timestamp: None,
        metadata: None,
        owner: None,
        body,
    }
}
