//! Activity messages: set whole, or patched.

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::MessageId;
use threadcast_agui::message::{Message, MessageBody};
use threadcast_agui::patch::Patch;

use crate::conversation::held::Held;
use crate::conversation::messages::Messages;
use crate::conversation::size::{Growth, merge_metadata, replaced};
use crate::patch::PatchFailure;
use crate::patch::measure::text_bytes;

/// Sets or patches; why a patch did not apply, if it did not.
pub(super) fn apply(messages: &mut Messages, event: &Event) -> Option<PatchFailure> {
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
            return messages
                .change_held(message, |held| patched(held, event, activity_type, patch))
                .flatten();
        }
        _ => {}
    }
    None
}

fn patched(
    held: &mut Held,
    event: &Event,
    activity_type: &str,
    patch: &Patch,
) -> Option<PatchFailure> {
    if !matches!(held.message().body, MessageBody::Activity { .. }) {
        return None;
    }
    // Metadata counts even when the patch does not apply.
    held.change(|message| merge_metadata(&mut message.metadata, event.metadata.as_ref()));
    let failure = held.patch(patch).err();
    if failure.is_none() {
        held.change(|message| retype(message, activity_type));
    }
    failure
}

fn retype(message: &mut Message, to: &str) -> Growth {
    let MessageBody::Activity { activity_type, .. } = &mut message.body else {
        return Growth::NONE;
    };
    let growth = replaced(text_bytes(activity_type), text_bytes(to));
    *activity_type = to.into();
    growth
}

fn set(messages: &mut Messages, event: &Event, id: &MessageId, body: MessageBody, replace: bool) {
    let (owner, metadata) = (event.owner.clone(), event.metadata.clone());
    let message = |body| Message {
        id: id.clone(),
        owner,
        metadata,
        body,
        extra: Vec::new(),
    };
    match messages.get(id).map(|known| &known.body) {
        None => messages.append(message(body)),
        Some(MessageBody::Activity { .. }) => messages.change(id, |known| {
            let merged = merge_metadata(&mut known.metadata, event.metadata.as_ref());
            if !replace {
                return merged;
            }
            // Metadata gathered so far stays; the owner is whoever sent the snapshot.
            known.body = body;
            known.owner.clone_from(&event.owner);
            Growth::Unknown
        }),
        Some(_) if replace => messages.replace(message(body)),
        Some(_) => {}
    }
}

/// Why a delta would not change the content of its activity; `None` if it would, or if there is no
/// such activity.
pub(super) fn failure(messages: &Messages, id: &MessageId, patch: &Patch) -> Option<PatchFailure> {
    messages.held(id)?.clone().patch(patch).err()
}
