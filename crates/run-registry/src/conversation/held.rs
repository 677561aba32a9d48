//! A message of a thread, shared between copies of its list, with its length.
//!
//! Invariant: `bytes` is the length of the message as JSON; `content_bytes`, once it is known, that
//! of the content of an activity.

use std::num::NonZeroUsize;
use std::sync::Arc;

use serde_json::Value;
use threadcast_agui::content::Content;
use threadcast_agui::message::{Message, MessageBody};
use threadcast_agui::patch::Patch;
use threadcast_agui::text::Escaped;

use crate::conversation::size::{Growth, message_bytes};
use crate::patch::measure::json_bytes;
use crate::patch::{Document, PatchFailure, StateLimits};

#[derive(Clone, Debug)]
pub(super) struct Held {
    message: Arc<Message>,
    bytes: usize,
    /// So that a patch costs what it touches: no content is shorter than `{}`.
    content_bytes: Option<NonZeroUsize>,
}

impl Held {
    pub(super) fn message(&self) -> &Message {
        &self.message
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Changes the message by `change`, which tells what it did to the length.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Message) -> Growth) {
        self.bytes = match change(Arc::make_mut(&mut self.message)) {
            Growth::By(by) => self
                .bytes
                .checked_add_signed(by)
                .expect("what goes was counted"),
            Growth::Unknown => {
                self.content_bytes = None;
                message_bytes(&self.message)
            }
        };
    }

    /// Patches the content of an activity in place.
    ///
    /// # Errors
    /// The patch does not apply, or would leave no object; the content is as it was.
    pub(super) fn patch(&mut self, patch: &Patch) -> Result<(), PatchFailure> {
        let MessageBody::Activity { content, .. } = &mut Arc::make_mut(&mut self.message).body
        else {
            return Ok(());
        };
        let before = self
            .content_bytes
            .map_or_else(|| json_bytes(content), NonZeroUsize::get);
        let value = Value::Object(std::mem::take(content));
        let mut document = Document::with_bytes(value, before);
        let done = document.apply_to_object(patch, &StateLimits::default());
        let after = document.bytes();
        if let Value::Object(patched) = document.into_value() {
            *content = patched;
        }
        self.content_bytes = NonZeroUsize::new(after);
        self.bytes = self.bytes - before + after;
        done
    }
}

impl Held {
    /// The same as from the message alone; its JSON but for its text is written to `scratch`, in
    /// place of what stood there, so that many messages take one small buffer.
    pub(super) fn measured(mut message: Message, scratch: &mut String) -> Self {
        let text = text_of(&mut message.body).map(std::mem::take);
        scratch.clear();
        message.write(scratch);
        let text_bytes = text.as_ref().map_or(0, Escaped::len);
        if let (Some(place), Some(text)) = (text_of(&mut message.body), text) {
            *place = text;
        }
        Self {
            message: message.into(),
            bytes: scratch.len() + text_bytes,
            content_bytes: None,
        }
    }
}

/// The text that is written as it is.
fn text_of(body: &mut MessageBody) -> Option<&mut Escaped> {
    match body {
        MessageBody::Assistant { content, .. } => content.as_mut(),
        MessageBody::Developer { content, .. }
        | MessageBody::Reasoning { content, .. }
        | MessageBody::System { content, .. } => Some(content),
        MessageBody::Tool { content, .. } | MessageBody::User { content, .. } => match content {
            Content::Text(text) => Some(text),
            Content::Parts(_) => None,
        },
        MessageBody::Activity { .. } => None,
    }
}

impl From<Message> for Held {
    fn from(message: Message) -> Self {
        let bytes = message_bytes(&message);
        let message = message.into();
        Self {
            message,
            bytes,
            content_bytes: None,
        }
    }
}

#[cfg(test)]
mod tests;
