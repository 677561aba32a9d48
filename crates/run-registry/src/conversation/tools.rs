//! Tool calls inside assistant messages, and their results behind them.

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::message::{Message, MessageBody, ToolCall};
use threadcast_agui::text::Escaped;

use crate::conversation::messages::Messages;
use crate::conversation::size::{Growth, merge_metadata, replaced, set_text};
use crate::patch::measure::text_bytes;

pub(super) fn apply(messages: &mut Messages, event: &Event) {
    match &event.body {
        EventBody::ToolCallStart { call, name, parent } if messages.call(call).is_none() => {
            start(messages, event, call, name, parent.as_ref());
        }
        // A call that is there already keeps its arguments and its place.
        EventBody::ToolCallStart { call, name, .. } => messages.change_call(call, |known| {
            let gone = std::mem::replace(&mut known.name, name.clone());
            replaced(text_bytes(&gone), text_bytes(name))
                .and(merge_metadata(&mut known.metadata, event.metadata.as_ref()))
        }),
        EventBody::ToolCallArgs { call, delta } => messages.change_call(call, |call| {
            call.arguments.push(delta);
            Growth::of_text(delta).and(merge_metadata(&mut call.metadata, event.metadata.as_ref()))
        }),
        EventBody::ToolCallEnd { call } => messages.change_call(call, |call| {
            merge_metadata(&mut call.metadata, event.metadata.as_ref())
        }),
        EventBody::ToolCallResult {
            message,
            call,
            content,
        } => {
            let body = MessageBody::Tool {
                content: content.clone(),
                call: call.clone(),
                error: None,
                encrypted_value: None,
            };
            let (owner, metadata) = (event.owner.clone(), event.metadata.clone());
            // The same result twice gives two messages: a repeated delivery is known by its source,
            // never by content.
            messages.insert_result(
                call,
                Message {
                    id: message.clone(),
                    owner,
                    metadata,
                    body,
                    extra: Vec::new(),
                },
            );
        }
        _ => {}
    }
}

fn start(
    messages: &mut Messages,
    event: &Event,
    call: &ToolCallId,
    name: &str,
    parent: Option<&MessageId>,
) {
    let tool_call = ToolCall {
        id: call.clone(),
        name: name.into(),
        arguments: Escaped::new(),
        encrypted_value: None,
        metadata: event.metadata.clone(),
        extra: Vec::new(),
    };
    // The reference client reads an empty parent id as none.
    let parent = parent.filter(|parent| !parent.as_str().is_empty());
    let found = parent.and_then(|parent| messages.get(parent));
    let holder = match (parent, found) {
        (Some(parent), Some(message)) if matches!(message.body, MessageBody::Assistant { .. }) => {
            return messages.add_call(parent, tool_call);
        }
        (Some(parent), None) => Some(parent.clone()),
        // A parent of another role cannot hold calls.
        (Some(_), Some(_)) | (None, _) => MessageId::new(call.as_str()).ok(),
    };
    // Both kinds of ids have the same bounds, so a call's id is always a message's.
    let Some(id) = holder else { return };
    let owner = if messages.get(&id).is_none() {
        event.owner.clone()
    } else {
        None
    };
    let body = MessageBody::Assistant {
        content: None,
        tool_calls: None,
        name: None,
        encrypted_value: None,
    };
    messages.append(Message {
        id,
        owner,
        metadata: None,
        body,
        extra: Vec::new(),
    });
    messages.add_call_to_last(tool_call);
}

/// Sets the encrypted value of a call.
pub(super) fn encrypt(messages: &mut Messages, call: &ToolCallId, value: &str) {
    messages.change_call(call, |call| {
        set_text(&mut call.encrypted_value, "encryptedValue", value)
    });
}
