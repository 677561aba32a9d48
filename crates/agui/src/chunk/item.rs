//! What a lane assembles, and whether a chunk goes on with it.

use std::fmt;

use super::{Chunk, ChunkError};
use crate::event::{EventBody, TextRole};
use crate::ids::{MessageId, ToolCallId};

/// Items that can be sent as chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    ReasoningMessage,
    TextMessage,
    ToolCall,
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReasoningMessage => "reasoning message",
            Self::TextMessage => "text message",
            Self::ToolCall => "tool call",
        })
    }
}

/// A repeated member that differs from the item's first chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub member: &'static str,
    pub expected: Option<Box<str>>,
    pub found: Box<str>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            member,
            expected,
            found,
        } = self;
        match expected {
            Some(expected) => write!(f, "{member} `{found}`, its first chunk had `{expected}`"),
            None => write!(f, "{member} `{found}`, its first chunk had none"),
        }
    }
}

/// An item with what its first chunk said of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    ReasoningMessage {
        message: MessageId,
    },
    TextMessage {
        message: MessageId,
        role: TextRole,
        name: Option<Box<str>>,
    },
    ToolCall {
        call: ToolCallId,
        name: Box<str>,
        parent: Option<MessageId>,
    },
}

impl Item {
    pub(super) fn opened_by(chunk: &Chunk<'_>) -> Result<Self, ChunkError> {
        let no_id = ChunkError::NoId { kind: chunk.kind };
        match &chunk.event.body {
            EventBody::ReasoningMessageChunk {
                message: Some(message),
                ..
            } => Ok(Self::ReasoningMessage {
                message: message.clone(),
            }),
            EventBody::TextMessageChunk {
                message: Some(message),
                role,
                name,
                ..
            } => Ok(Self::TextMessage {
                message: message.clone(),
                role: role.unwrap_or(TextRole::Assistant),
                name: name.clone(),
            }),
            EventBody::ToolCallChunk {
                call: Some(call),
                name,
                parent,
                ..
            } => {
                let no_name = || ChunkError::NoToolName {
                    id: call.as_str().into(),
                };
                let name = name.clone().ok_or_else(no_name)?;
                Ok(Self::ToolCall {
                    call: call.clone(),
                    name,
                    parent: parent.clone(),
                })
            }
            _ => Err(no_id),
        }
    }

    /// The item of a start event that stands for a first chunk.
    pub(super) fn started_by(body: &EventBody) -> Option<Self> {
        match body {
            EventBody::ReasoningMessageStart { message } => Some(Self::ReasoningMessage {
                message: message.clone(),
            }),
            EventBody::TextMessageStart {
                message,
                role,
                name,
            } => Some(Self::TextMessage {
                message: message.clone(),
                role: *role,
                name: name.clone(),
            }),
            EventBody::ToolCallStart { call, name, parent } => Some(Self::ToolCall {
                call: call.clone(),
                name: name.clone(),
                parent: parent.clone(),
            }),
            _ => None,
        }
    }

    pub(super) fn is_ended_by(&self, body: &EventBody) -> bool {
        match (self, body) {
            (
                Self::ReasoningMessage { message: own },
                EventBody::ReasoningMessageEnd { message },
            )
            | (Self::TextMessage { message: own, .. }, EventBody::TextMessageEnd { message }) => {
                own == message
            }
            (Self::ToolCall { call: own, .. }, EventBody::ToolCallEnd { call }) => own == call,
            _ => false,
        }
    }

    pub(super) fn kind(&self) -> ItemKind {
        match self {
            Self::ReasoningMessage { .. } => ItemKind::ReasoningMessage,
            Self::TextMessage { .. } => ItemKind::TextMessage,
            Self::ToolCall { .. } => ItemKind::ToolCall,
        }
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Self::ReasoningMessage { message } | Self::TextMessage { message, .. } => {
                message.as_str()
            }
            Self::ToolCall { call, .. } => call.as_str(),
        }
    }

    pub(super) fn is(&self, kind: ItemKind, id: &str) -> bool {
        self.kind() == kind && self.id() == id
    }

    pub(super) fn is_continued_by(&self, kind: ItemKind, id: Option<&str>) -> bool {
        self.kind() == kind && id.is_none_or(|id| self.id() == id)
    }

    /// Whether what a continuing chunk repeats is what the first one said.
    pub(super) fn check_agreement(&self, chunk: &EventBody) -> Result<(), ChunkError> {
        match (self, chunk) {
            (
                Self::TextMessage { role, name, .. },
                EventBody::TextMessageChunk {
                    role: own_role,
                    name: own_name,
                    ..
                },
            ) => {
                self.check("role", Some(role.as_str()), own_role.map(TextRole::as_str))?;
                self.check("name", name.as_deref(), own_name.as_deref())
            }
            (
                Self::ToolCall { name, parent, .. },
                EventBody::ToolCallChunk {
                    name: own_name,
                    parent: own_parent,
                    ..
                },
            ) => {
                self.check("toolCallName", Some(name), own_name.as_deref())?;
                let text = |id: &Option<MessageId>| id.as_ref().map(|id| id.as_str().to_owned());
                self.check(
                    "parentMessageId",
                    text(parent).as_deref(),
                    text(own_parent).as_deref(),
                )
            }
            _ => Ok(()),
        }
    }

    fn check(
        &self,
        member: &'static str,
        expected: Option<&str>,
        found: Option<&str>,
    ) -> Result<(), ChunkError> {
        let Some(found) = found.filter(|found| expected != Some(found)) else {
            return Ok(());
        };
        let conflict = Conflict {
            member,
            expected: expected.map(Into::into),
            found: found.into(),
        };
        Err(ChunkError::Conflict {
            kind: self.kind(),
            id: self.id().into(),
            conflict,
        })
    }
}
