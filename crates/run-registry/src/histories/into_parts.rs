//! A sort of history that clients with other words for content end differently on.

use threadcast_agui::content::Content;
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::message::{Message, MessageBody};

use crate::conversation::Conversation;

/// Whether text is streamed into a message whose content stands in parts: it takes their place,
/// but follows their text where that is all a client knows of them (docs/protocol.md §13.8).
pub fn streams_into_parts(events: &[Event]) -> bool {
    let mut conversation = Conversation::new();
    events.iter().any(|event| {
        let into = match &event.body {
            EventBody::TextMessageContent { message, .. } => conversation.message(message),
            _ => None,
        };
        let is_into_parts = into.is_some_and(has_parts);
        conversation.apply(event);
        is_into_parts
    })
}

fn has_parts(message: &Message) -> bool {
    matches!(
        &message.body,
        MessageBody::Tool {
            content: Content::Parts(_),
            ..
        } | MessageBody::User {
            content: Content::Parts(_),
            ..
        }
    )
}
