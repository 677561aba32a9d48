//! Activity messages: set whole, or patched.

use serde_json::Value;
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::MessageId;
use threadcast_agui::json::Metadata;
use threadcast_agui::message::{Message, MessageBody};
use threadcast_agui::patch::Patch;

use crate::conversation::messages::Messages;
use crate::conversation::metadata;
use crate::patch::{StateLimits, apply_patch};

pub(super) fn apply(messages: &mut Messages, event: &Event) {
    match &event.body {
        EventBody::ActivitySnapshot {
            message,
            activity_type,
            content,
            replace,
        } => {
            let body = MessageBody::Activity {
                activity_type: activity_type.clone(),
                content: content.clone(),
            };
            set(messages, event, message, body, *replace);
        }
        EventBody::ActivityDelta {
            message,
            activity_type,
            patch,
        } => {
            let Some(message) = messages.get_mut(message) else {
                return;
            };
            let MessageBody::Activity {
                activity_type: own_type,
                content,
            } = &mut message.body
            else {
                return;
            };
            // Metadata counts even when the patch does not apply.
            metadata::merge(&mut message.metadata, event.metadata.as_ref());
            if let Some(patched) = patch_content(content, patch) {
                (*own_type, *content) = (activity_type.clone(), patched);
            }
        }
        _ => {}
    }
}

fn set(messages: &mut Messages, event: &Event, id: &MessageId, body: MessageBody, replace: bool) {
    let Some(known) = messages.get_mut(id) else {
        let (owner, metadata) = (event.owner.clone(), event.metadata.clone());
        return messages.append(Message {
            id: id.clone(),
            owner,
            metadata,
            body,
            extra: Vec::new(),
        });
    };
    if matches!(known.body, MessageBody::Activity { .. }) {
        if replace {
            // Metadata gathered so far stays; the owner is whoever sent the snapshot.
            known.body = body;
            known.owner.clone_from(&event.owner);
        }
        metadata::merge(&mut known.metadata, event.metadata.as_ref());
    } else if replace {
        let (owner, metadata) = (event.owner.clone(), event.metadata.clone());
        messages.replace(Message {
            id: id.clone(),
            owner,
            metadata,
            body,
            extra: Vec::new(),
        });
    }
}

/// The content after `patch`; `None` if it does not apply, or leaves no object: the contract knows
/// no other content.
fn patch_content(content: &Metadata, patch: &Patch) -> Option<Metadata> {
    match apply_patch(
        &Value::Object(content.clone()),
        patch,
        &StateLimits::default(),
    ) {
        Ok(Value::Object(content)) => Some(content),
        Ok(_) | Err(_) => None,
    }
}
