//! Text and reasoning messages: begun, appended to, ended.

use threadcast_agui::content::Content;
use threadcast_agui::event::{Event, EventBody, TextRole};
use threadcast_agui::ids::MessageId;
use threadcast_agui::message::{Message, MessageBody};
use threadcast_agui::text::Escaped;

use crate::conversation::messages::Messages;
use crate::conversation::size::{Growth, merge_metadata, new_member, set_text};

pub(super) fn apply(messages: &mut Messages, event: &Event) {
    match &event.body {
        EventBody::TextMessageStart {
            message,
            role,
            name,
        } => {
            start(messages, event, message, || text_body(*role, name.clone()));
        }
        EventBody::ReasoningMessageStart { message } => {
            let body = || MessageBody::Reasoning {
                content: Escaped::new(),
                encrypted_value: None,
            };
            start(messages, event, message, body);
        }
        EventBody::TextMessageContent { message, delta }
        | EventBody::ReasoningMessageContent { message, delta } => {
            change_streamed(messages, message, |message| {
                push_text(&mut message.body, delta).and(merge_metadata(
                    &mut message.metadata,
                    event.metadata.as_ref(),
                ))
            });
        }
        EventBody::TextMessageEnd { message } | EventBody::ReasoningMessageEnd { message } => {
            merge_into_streamed(messages, message, event);
        }
        _ => {}
    }
}

/// A message with this id that is there already goes on as it is, whatever its role and name.
fn start(
    messages: &mut Messages,
    event: &Event,
    id: &MessageId,
    body: impl FnOnce() -> MessageBody,
) {
    if messages.get(id).is_none() {
        let (owner, metadata) = (event.owner.clone(), event.metadata.clone());
        messages.append(Message {
            id: id.clone(),
            owner,
            metadata,
            body: body(),
            extra: Vec::new(),
        });
    } else {
        merge_into_streamed(messages, id, event);
    }
}

fn text_body(role: TextRole, name: Option<Box<str>>) -> MessageBody {
    let (content, encrypted_value) = (Escaped::new(), None);
    match role {
        TextRole::Assistant => MessageBody::Assistant {
            content: Some(content),
            tool_calls: None,
            name,
            encrypted_value,
        },
        TextRole::Developer => MessageBody::Developer {
            content,
            name,
            encrypted_value,
        },
        TextRole::System => MessageBody::System {
            content,
            name,
            encrypted_value,
        },
        TextRole::User => MessageBody::User {
            content: Content::Text(content),
            name,
            encrypted_value,
        },
    }
}

/// Every role takes text but an activity: that would cost it its structured content.
fn change_streamed(
    messages: &mut Messages,
    id: &MessageId,
    change: impl FnOnce(&mut Message) -> Growth,
) {
    let is_streamed = messages
        .get(id)
        .is_some_and(|message| !matches!(message.body, MessageBody::Activity { .. }));
    if is_streamed {
        messages.change(id, change);
    }
}

fn merge_into_streamed(messages: &mut Messages, id: &MessageId, event: &Event) {
    change_streamed(messages, id, |message| {
        merge_metadata(&mut message.metadata, event.metadata.as_ref())
    });
}

/// Content that is no text (parts, or nothing yet) begins anew.
fn push_text(body: &mut MessageBody, delta: &Escaped) -> Growth {
    let begins = match body {
        MessageBody::Activity { .. } => return Growth::NONE,
        MessageBody::Assistant { content, .. } => {
            let begins = match content {
                None => new_member("content", r#""""#.len()),
                Some(_) => Growth::NONE,
            };
            content.get_or_insert_default().push(delta);
            begins
        }
        MessageBody::Developer { content, .. }
        | MessageBody::Reasoning { content, .. }
        | MessageBody::System { content, .. } => {
            content.push(delta);
            Growth::NONE
        }
        MessageBody::Tool { content, .. } | MessageBody::User { content, .. } => match content {
            Content::Text(text) => {
                text.push(delta);
                Growth::NONE
            }
            Content::Parts(_) => {
                *content = Content::Text(delta.clone());
                Growth::Unknown
            }
        },
    };
    begins.and(Growth::of_text(delta))
}

/// Sets the encrypted value of a message; an activity has none.
pub(super) fn encrypt(messages: &mut Messages, id: &MessageId, value: &str) {
    messages.change(id, |message| match &mut message.body {
        MessageBody::Activity { .. } => Growth::NONE,
        MessageBody::Assistant {
            encrypted_value, ..
        }
        | MessageBody::Developer {
            encrypted_value, ..
        }
        | MessageBody::Reasoning {
            encrypted_value, ..
        }
        | MessageBody::System {
            encrypted_value, ..
        }
        | MessageBody::Tool {
            encrypted_value, ..
        }
        | MessageBody::User {
            encrypted_value, ..
        } => set_text(encrypted_value, "encryptedValue", value),
    });
}
