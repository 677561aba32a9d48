//! Messages by role, as they stand in a run input, a snapshot or a fold.

use crate::content::Content;
use crate::fields::{self, Fields, ReadError};
use crate::ids::{MessageId, SubagentRunId, ToolCallId};
use crate::json::{self, Extra, Metadata, RawJson};
use crate::text::Escaped;
use crate::write::{ObjectWriter, push_array};

/// One message of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: MessageId,
    pub owner: Option<SubagentRunId>,
    pub metadata: Option<Metadata>,
    pub body: MessageBody,
    /// Members the protocol does not describe, as they came; written back after the known ones.
    pub extra: Extra,
}

impl Message {
    /// Reads one message; `None` is a role that the protocol does not describe.
    ///
    /// # Errors
    /// The text is no JSON, or a described member is missing or has a wrong value.
    pub fn read(json: &str) -> Result<Option<Self>, ReadError> {
        Self::from_checked(&json::checked(json)?)
    }

    pub(crate) fn from_checked(json: &str) -> Result<Option<Self>, ReadError> {
        let fields = Fields::of(json)?;
        let Some(body) = MessageBody::from_fields(&fields)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            id: fields.read("id", |json| fields::id(json, MessageId::new))?,
            owner: fields.read_if("subagentRunId", |json| fields::id(json, SubagentRunId::new))?,
            metadata: fields.read_if("metadata", fields::metadata)?,
            extra: fields.extra(body.described()),
            body,
        }))
    }

    /// Writes the message as JSON, the same bytes for the same message: id and role, what the role
    /// holds, owner, metadata, then what the protocol does not describe.
    pub fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::begin(out);
        object.string("id", self.id.as_str());
        object.string("role", self.role());
        self.body.write(&mut object);
        object.string_if(
            "subagentRunId",
            self.owner.as_ref().map(SubagentRunId::as_str),
        );
        write_open(&mut object, self.metadata.as_ref(), &self.extra);
        object.end();
    }

    /// The message as JSON, see [`Message::write`].
    pub fn to_json(&self) -> RawJson {
        let mut out = String::new();
        self.write(&mut out);
        RawJson::from_trusted(out)
    }

    /// The role as it stands in JSON.
    pub fn role(&self) -> &'static str {
        self.body.role()
    }

    /// The text alone, see [`Content::text`]; `None` for an activity and for an assistant message
    /// without content.
    pub fn text(&self) -> Option<Escaped> {
        match &self.body {
            MessageBody::Activity { .. } => None,
            MessageBody::Assistant { content, .. } => content.clone(),
            MessageBody::Developer { content, .. }
            | MessageBody::Reasoning { content, .. }
            | MessageBody::System { content, .. } => Some(content.clone()),
            MessageBody::Tool { content, .. } | MessageBody::User { content, .. } => {
                Some(content.text())
            }
        }
    }

    /// The calls of an assistant message; none for every other role.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match &self.body {
            MessageBody::Assistant {
                tool_calls: Some(calls),
                ..
            } => calls,
            _ => &[],
        }
    }
}

fn write_open(object: &mut ObjectWriter<'_>, metadata: Option<&Metadata>, extra: &Extra) {
    if let Some(metadata) = metadata {
        let json = serde_json::to_string(metadata).expect("JSON values always have a JSON form");
        object.raw("metadata", &json);
    }
    for (name, value) in extra {
        object.raw(name, value.as_str());
    }
}

/// What a message holds, by role.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageBody {
    Activity {
        activity_type: Box<str>,
        content: Metadata,
    },
    Assistant {
        content: Option<Escaped>,
        tool_calls: Option<Vec<ToolCall>>,
        name: Option<Box<str>>,
        encrypted_value: Option<Box<str>>,
    },
    Developer {
        content: Escaped,
        name: Option<Box<str>>,
        encrypted_value: Option<Box<str>>,
    },
    Reasoning {
        content: Escaped,
        encrypted_value: Option<Box<str>>,
    },
    System {
        content: Escaped,
        name: Option<Box<str>>,
        encrypted_value: Option<Box<str>>,
    },
    Tool {
        content: Content,
        call: ToolCallId,
        error: Option<Box<str>>,
        encrypted_value: Option<Box<str>>,
    },
    User {
        content: Content,
        name: Option<Box<str>>,
        encrypted_value: Option<Box<str>>,
    },
}

impl MessageBody {
    fn from_fields(fields: &Fields<'_>) -> Result<Option<Self>, ReadError> {
        let Some(role) = fields::tag(fields, "role") else {
            return Ok(None);
        };
        let text = || fields.read("content", fields::escaped);
        let content = || fields.read("content", Content::from_checked);
        let name = || fields.read_if("name", fields::text);
        let encrypted_value = || fields.read_if("encryptedValue", fields::text);
        Ok(Some(match role.as_ref() {
            "activity" => Self::Activity {
                activity_type: fields.read("activityType", fields::text)?,
                content: fields.read("content", fields::metadata)?,
            },
            "assistant" => Self::Assistant {
                content: fields.read_if("content", fields::escaped)?,
                tool_calls: fields.read_if("toolCalls", |json| {
                    fields::array(json, ToolCall::from_checked)
                })?,
                name: name()?,
                encrypted_value: encrypted_value()?,
            },
            "developer" => Self::Developer {
                content: text()?,
                name: name()?,
                encrypted_value: encrypted_value()?,
            },
            "reasoning" => Self::Reasoning {
                content: text()?,
                encrypted_value: encrypted_value()?,
            },
            "system" => Self::System {
                content: text()?,
                name: name()?,
                encrypted_value: encrypted_value()?,
            },
            "tool" => Self::Tool {
                content: content()?,
                call: fields.read("toolCallId", |json| fields::id(json, ToolCallId::new))?,
                error: fields.read_if("error", fields::text)?,
                encrypted_value: encrypted_value()?,
            },
            "user" => Self::User {
                content: content()?,
                name: name()?,
                encrypted_value: encrypted_value()?,
            },
            _ => return Ok(None),
        }))
    }

    /// The members that the protocol describes for this role.
    fn described(&self) -> &'static [&'static str] {
        macro_rules! members {
            ($($own:literal)*) => { &["id", "role", "subagentRunId", "metadata", $($own),*] };
        }
        match self {
            Self::Activity { .. } => members!("activityType" "content"),
            Self::Assistant { .. } => members!("content" "toolCalls" "name" "encryptedValue"),
            Self::Developer { .. } | Self::System { .. } | Self::User { .. } => {
                members!("content" "name" "encryptedValue")
            }
            Self::Reasoning { .. } => members!("content" "encryptedValue"),
            Self::Tool { .. } => members!("content" "toolCallId" "error" "encryptedValue"),
        }
    }

    fn role(&self) -> &'static str {
        match self {
            Self::Activity { .. } => "activity",
            Self::Assistant { .. } => "assistant",
            Self::Developer { .. } => "developer",
            Self::Reasoning { .. } => "reasoning",
            Self::System { .. } => "system",
            Self::Tool { .. } => "tool",
            Self::User { .. } => "user",
        }
    }

    fn write(&self, object: &mut ObjectWriter<'_>) {
        let (name, encrypted_value) = match self {
            Self::Activity {
                activity_type,
                content,
            } => {
                object.string("activityType", activity_type);
                let json =
                    serde_json::to_string(content).expect("JSON values always have a JSON form");
                object.raw("content", &json);
                (None, None)
            }
            Self::Assistant {
                content,
                tool_calls,
                name,
                encrypted_value,
            } => {
                if let Some(content) = content {
                    object.escaped("content", content);
                }
                if let Some(calls) = tool_calls {
                    push_array(object.name("toolCalls"), calls, ToolCall::write);
                }
                (name.as_deref(), encrypted_value.as_deref())
            }
            Self::Developer {
                content,
                name,
                encrypted_value,
            }
            | Self::System {
                content,
                name,
                encrypted_value,
            } => {
                object.escaped("content", content);
                (name.as_deref(), encrypted_value.as_deref())
            }
            Self::Reasoning {
                content,
                encrypted_value,
            } => {
                object.escaped("content", content);
                (None, encrypted_value.as_deref())
            }
            Self::Tool {
                content,
                call,
                error,
                encrypted_value,
            } => {
                content.write(object.name("content"));
                object.string("toolCallId", call.as_str());
                object.string_if("error", error.as_deref());
                (None, encrypted_value.as_deref())
            }
            Self::User {
                content,
                name,
                encrypted_value,
            } => {
                content.write(object.name("content"));
                (name.as_deref(), encrypted_value.as_deref())
            }
        };
        object.string_if("name", name);
        object.string_if("encryptedValue", encrypted_value);
    }
}

/// One tool call of an assistant message; `type` is always `function`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub id: ToolCallId,
    pub name: Box<str>,
    pub arguments: Escaped,
    pub encrypted_value: Option<Box<str>>,
    pub metadata: Option<Metadata>,
    pub extra: Extra,
}

impl ToolCall {
    fn from_checked(json: &str) -> Result<Self, ReadError> {
        let fields = Fields::of(json)?;
        fields.read("type", |json| fields::one_of(json, &["function"], &[()]))?;
        let (name, arguments) = fields.read("function", |json| {
            let function = Fields::of(json)?;
            Ok((
                function.read("name", fields::text)?,
                function.read("arguments", fields::escaped)?,
            ))
        })?;
        Ok(Self {
            id: fields.read("id", |json| fields::id(json, ToolCallId::new))?,
            name,
            arguments,
            encrypted_value: fields.read_if("encryptedValue", fields::text)?,
            metadata: fields.read_if("metadata", fields::metadata)?,
            extra: fields.extra(&["id", "type", "function", "encryptedValue", "metadata"]),
        })
    }

    /// Writes the call as it stands in its message, the same bytes for the same call.
    pub fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::begin(out);
        object.string("id", self.id.as_str());
        object.string("type", "function");
        let mut function = ObjectWriter::begin(object.name("function"));
        function.string("name", &self.name);
        function.escaped("arguments", &self.arguments);
        function.end();
        object.string_if("encryptedValue", self.encrypted_value.as_deref());
        write_open(&mut object, self.metadata.as_ref(), &self.extra);
        object.end();
    }
}

#[cfg(test)]
mod tests;
