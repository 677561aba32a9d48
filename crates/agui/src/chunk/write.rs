//! Writes the events that chunks stand for.

use super::item::Item;
use super::{Chunk, ItemKind, Lane};
use crate::event::{Event, EventBody};
use crate::fields::Fields;
use crate::ids::{MessageId, SubagentRunId};
use crate::json::Extra;
use crate::make;
use crate::write::{self, ObjectWriter};

/// What a chunk says beside its text, as it came.
struct Carried<'a> {
    metadata: Option<&'a str>,
    raw_event: Option<&'a str>,
    extra: Extra,
}

impl<'a> Carried<'a> {
    fn of(chunk: &Chunk<'a>) -> Self {
        let Ok(fields) = Fields::of(chunk.event.json.as_str()) else {
            return Self {
                metadata: None,
                raw_event: None,
                extra: Extra::new(),
            };
        };
        Self {
            metadata: fields.value("metadata"),
            raw_event: fields.value("rawEvent"),
            extra: fields.extra(described(chunk.kind)),
        }
    }

    fn write(&self, object: &mut ObjectWriter<'_>) {
        for (name, value) in [("metadata", self.metadata), ("rawEvent", self.raw_event)] {
            if let Some(value) = value {
                object.raw(name, value);
            }
        }
        for (name, value) in &self.extra {
            object.raw(name, value.as_str());
        }
    }
}

/// The members that the protocol describes for a chunk.
fn described(kind: ItemKind) -> &'static [&'static str] {
    macro_rules! members {
        ($($own:literal)*) => {
            &["type", "timestamp", "rawEvent", "metadata", "subagentRunId", "delta", $($own),*]
        };
    }
    match kind {
        // A start has a role of its own, which an undescribed one must not repeat.
        ItemKind::ReasoningMessage => members!("messageId" "role"),
        ItemKind::TextMessage => members!("messageId" "role" "name"),
        ItemKind::ToolCall => members!("toolCallId" "toolCallName" "parentMessageId"),
    }
}

impl Lane {
    /// The start of the item that `chunk` opens, and its first content.
    pub(super) fn open_with(&self, chunk: &Chunk<'_>, emit: &mut impl FnMut(Event)) {
        let mut carried = Carried::of(chunk);
        let content = self.content(chunk, &carried, false);
        if content.is_some() {
            carried.extra.clear();
        }
        // The provider's native form goes with the content, once.
        carried.raw_event = None;
        emit(self.start(chunk, &carried));
        content.into_iter().for_each(emit);
    }

    /// The content that `chunk` adds; none for a chunk that says nothing.
    pub(super) fn continue_with(&self, chunk: &Chunk<'_>, emit: &mut impl FnMut(Event)) {
        self.content(chunk, &Carried::of(chunk), true)
            .into_iter()
            .for_each(emit);
    }

    /// The start of the item, with nothing of its chunk beside.
    pub(super) fn opening(&self) -> Event {
        let owner = self.owner.as_ref();
        match &self.item {
            Item::ReasoningMessage { message } => make::reasoning_message_start(message, owner),
            Item::TextMessage {
                message,
                role,
                name,
            } => make::text_message_start(message, *role, name.as_deref(), owner),
            Item::ToolCall { call, name, parent } => {
                make::tool_call_start(call, name, parent.as_ref(), owner)
            }
        }
    }

    pub(super) fn end(&self) -> Event {
        let body = match &self.item {
            Item::ReasoningMessage { message } => EventBody::ReasoningMessageEnd {
                message: message.clone(),
            },
            Item::TextMessage { message, .. } => EventBody::TextMessageEnd {
                message: message.clone(),
            },
            Item::ToolCall { call, .. } => EventBody::ToolCallEnd { call: call.clone() },
        };
        self.event(None, body, |object| self.item.write_id(object))
    }

    fn start(&self, chunk: &Chunk<'_>, carried: &Carried<'_>) -> Event {
        let body = match self.item.clone() {
            Item::ReasoningMessage { message } => EventBody::ReasoningMessageStart { message },
            Item::TextMessage {
                message,
                role,
                name,
            } => EventBody::TextMessageStart {
                message,
                role,
                name,
            },
            Item::ToolCall { call, name, parent } => {
                EventBody::ToolCallStart { call, name, parent }
            }
        };
        self.event(Some((chunk, carried)), body, |object| {
            self.item.write_id(object);
            match &self.item {
                Item::ReasoningMessage { .. } => object.string("role", "reasoning"),
                Item::TextMessage { role, name, .. } => {
                    object.string("role", role.as_str());
                    object.string_if("name", name.as_deref());
                }
                Item::ToolCall { name, parent, .. } => {
                    object.string("toolCallName", name);
                    object.string_if("parentMessageId", parent.as_ref().map(MessageId::as_str));
                }
            }
        })
    }

    /// Metadata alone makes content only when no start carries it.
    fn content(
        &self,
        chunk: &Chunk<'_>,
        carried: &Carried<'_>,
        is_continuation: bool,
    ) -> Option<Event> {
        let has_metadata = is_continuation && carried.metadata.is_some();
        if chunk.delta.is_none() && carried.raw_event.is_none() && !has_metadata {
            return None;
        }
        let delta = chunk.delta.cloned().unwrap_or_default();
        let body = match &self.item {
            Item::ReasoningMessage { message } => EventBody::ReasoningMessageContent {
                message: message.clone(),
                delta,
            },
            Item::TextMessage { message, .. } => EventBody::TextMessageContent {
                message: message.clone(),
                delta,
            },
            Item::ToolCall { call, .. } => EventBody::ToolCallArgs {
                call: call.clone(),
                delta,
            },
        };
        Some(self.event(Some((chunk, carried)), body, |object| {
            self.item.write_id(object);
            match chunk.delta {
                Some(delta) => object.escaped("delta", delta),
                None => object.string("delta", ""),
            }
        }))
    }

    fn event(
        &self,
        from: Option<(&Chunk<'_>, &Carried<'_>)>,
        body: EventBody,
        write: impl FnOnce(&mut ObjectWriter<'_>),
    ) -> Event {
        let json = write::object(|object| {
            object.string("type", body.type_name());
            write(object);
            object.string_if(
                "subagentRunId",
                self.owner.as_ref().map(SubagentRunId::as_str),
            );
            if let Some((_, carried)) = from {
                carried.write(object);
            }
        });
        let metadata = from.and_then(|(chunk, _)| chunk.event.metadata.clone());
        Event {
            json,
            timestamp: None,
            metadata,
            owner: self.owner.clone(),
            body,
        }
    }
}

impl Item {
    fn write_id(&self, object: &mut ObjectWriter<'_>) {
        let name = match self {
            Self::ReasoningMessage { .. } | Self::TextMessage { .. } => "messageId",
            Self::ToolCall { .. } => "toolCallId",
        };
        object.string(name, self.id());
    }
}
