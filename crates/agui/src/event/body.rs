//! What each event type says, read from the members that the protocol describes for it.

use std::sync::Arc;

use super::{EncryptedEntity, EventBody, Outcome, RunStartedInput, SubagentOutcome, TextRole};
use crate::content::Content;
use crate::fields::{self, Fields, Problem, ReadError};
use crate::ids::{
    IdError, InterruptId, MessageId, RunId, StepName, SubagentRunId, ThreadId, ToolCallId,
};
use crate::interrupt::Interrupt;
use crate::message::Message;
use crate::patch::Patch;
use crate::run_input::RunInput;
use crate::usage::TokenUsage;

pub(super) type Read = Result<EventBody, ReadError>;

/// How to read the body of `event_type`; `None` for a type this version does not know.
pub(super) fn reader(event_type: &str) -> Option<fn(&Fields<'_>) -> Read> {
    Some(match event_type {
        "TEXT_MESSAGE_CONTENT" => text_message_content,
        "TOOL_CALL_ARGS" => tool_call_args,
        "REASONING_MESSAGE_CONTENT" => reasoning_message_content,
        "RUN_STARTED" => run_started,
        "RUN_FINISHED" => run_finished,
        "RUN_ERROR" => run_error,
        "STEP_STARTED" => |fields| {
            Ok(EventBody::StepStarted {
                step: step(fields)?,
            })
        },
        "STEP_FINISHED" => |fields| {
            Ok(EventBody::StepFinished {
                step: step(fields)?,
            })
        },
        "TEXT_MESSAGE_START" => text_message_start,
        "TEXT_MESSAGE_END" => |fields| {
            Ok(EventBody::TextMessageEnd {
                message: message(fields)?,
            })
        },
        "TEXT_MESSAGE_CHUNK" => text_message_chunk,
        "TOOL_CALL_START" => tool_call_start,
        "TOOL_CALL_END" => |fields| {
            Ok(EventBody::ToolCallEnd {
                call: call(fields)?,
            })
        },
        "TOOL_CALL_CHUNK" => tool_call_chunk,
        "TOOL_CALL_RESULT" => tool_call_result,
        "STATE_SNAPSHOT" => state_snapshot,
        "STATE_DELTA" => state_delta,
        "MESSAGES_SNAPSHOT" => messages_snapshot,
        "ACTIVITY_SNAPSHOT" => activity_snapshot,
        "ACTIVITY_DELTA" => activity_delta,
        "REASONING_START" => |fields| {
            Ok(EventBody::ReasoningStart {
                span: message(fields)?,
            })
        },
        "REASONING_END" => |fields| {
            Ok(EventBody::ReasoningEnd {
                span: message(fields)?,
            })
        },
        "REASONING_MESSAGE_START" => reasoning_message_start,
        "REASONING_MESSAGE_END" => |fields| {
            Ok(EventBody::ReasoningMessageEnd {
                message: message(fields)?,
            })
        },
        "REASONING_MESSAGE_CHUNK" => reasoning_message_chunk,
        "REASONING_ENCRYPTED_VALUE" => reasoning_encrypted_value,
        "SUBAGENT_STARTED" => subagent_started,
        "SUBAGENT_FINISHED" => subagent_finished,
        "SUBAGENT_ERROR" => subagent_error,
        "RAW" => raw,
        "CUSTOM" => custom,
        _ => return None,
    })
}

fn message(fields: &Fields<'_>) -> Result<MessageId, ReadError> {
    fields.read("messageId", message_id)
}

fn call(fields: &Fields<'_>) -> Result<ToolCallId, ReadError> {
    fields.read("toolCallId", call_id)
}

fn step(fields: &Fields<'_>) -> Result<StepName, ReadError> {
    fields.read("stepName", |json| fields::id(json, StepName::new))
}

fn message_id(json: &str) -> Result<MessageId, ReadError> {
    fields::id(json, MessageId::new)
}

fn call_id(json: &str) -> Result<ToolCallId, ReadError> {
    fields::id(json, ToolCallId::new)
}

fn text_role(json: &str) -> Result<TextRole, ReadError> {
    fields::one_of(json, &TextRole::NAMES, &TextRole::ALL)
}

fn ids<T>(json: &str, new: impl Fn(Arc<str>) -> Result<T, IdError>) -> Result<Vec<T>, ReadError> {
    fields::array(json, |json| fields::id(json, &new))
}

fn usage(fields: &Fields<'_>) -> Result<Vec<TokenUsage>, ReadError> {
    let usage = fields.read_if("usage", |json| {
        fields::array(json, TokenUsage::from_checked)
    })?;
    Ok(usage.unwrap_or_default())
}

fn run_started(fields: &Fields<'_>) -> Read {
    Ok(EventBody::RunStarted {
        thread: fields.read("threadId", |json| fields::id(json, ThreadId::new))?,
        run: fields.read("runId", |json| fields::id(json, RunId::new))?,
        protocol_version: fields.read_if("protocolVersion", fields::text)?,
        parent_run: fields.read_if("parentRunId", |json| fields::id(json, RunId::new))?,
        input: fields.read_if("input", |json| {
            let input = RunInput::from_checked(&fields::any(json)?)?;
            Ok(RunStartedInput {
                json: input.json,
                messages: input.messages,
            })
        })?,
    })
}

fn run_finished(fields: &Fields<'_>) -> Read {
    Ok(EventBody::RunFinished {
        thread: fields.read("threadId", fields::exact)?.into(),
        run: fields.read("runId", fields::exact)?.into(),
        result: fields.read_if("result", fields::any_but_null)?,
        outcome: fields
            .read_if("outcome", outcome)?
            .unwrap_or(Outcome::Success {
                pending_tool_calls: Vec::new(),
            }),
        usage: usage(fields)?,
    })
}

/// An outcome that the protocol does not describe reads as success, as an absent one does.
fn outcome(json: &str) -> Result<Outcome, ReadError> {
    let fields = Fields::of(json)?;
    match fields::tag(&fields, "type").as_deref() {
        Some("cancelled") => Ok(Outcome::Cancelled),
        Some("interrupt") => {
            let interrupts = fields.read("interrupts", |json| {
                fields::array(json, Interrupt::from_checked)
            })?;
            if interrupts.is_empty() {
                return Err(ReadError::at("interrupts", Problem::Empty));
            }
            Ok(Outcome::Interrupt { interrupts })
        }
        Some("success") => {
            let pending =
                fields.read_if("pendingToolCallIds", |json| ids(json, ToolCallId::new))?;
            Ok(Outcome::Success {
                pending_tool_calls: pending.unwrap_or_default(),
            })
        }
        _ => Ok(Outcome::Success {
            pending_tool_calls: Vec::new(),
        }),
    }
}

fn run_error(fields: &Fields<'_>) -> Read {
    Ok(EventBody::RunError {
        message: fields.read("message", fields::text)?,
        code: fields.read_if("code", fields::text)?,
        usage: usage(fields)?,
    })
}

fn text_message_start(fields: &Fields<'_>) -> Read {
    Ok(EventBody::TextMessageStart {
        message: message(fields)?,
        role: fields
            .read_if("role", text_role)?
            .unwrap_or(TextRole::Assistant),
        name: fields.read_if("name", fields::text)?,
    })
}

fn text_message_content(fields: &Fields<'_>) -> Read {
    let delta = fields.read("delta", fields::escaped)?;
    Ok(EventBody::TextMessageContent {
        message: message(fields)?,
        delta,
    })
}

fn text_message_chunk(fields: &Fields<'_>) -> Read {
    Ok(EventBody::TextMessageChunk {
        message: fields.read_if("messageId", message_id)?,
        role: fields.read_if("role", text_role)?,
        name: fields.read_if("name", fields::text)?,
        delta: fields.read_if("delta", fields::escaped)?,
    })
}

fn tool_call_start(fields: &Fields<'_>) -> Read {
    Ok(EventBody::ToolCallStart {
        call: call(fields)?,
        name: fields.read("toolCallName", fields::text)?,
        parent: fields.read_if("parentMessageId", message_id)?,
    })
}

fn tool_call_args(fields: &Fields<'_>) -> Read {
    let delta = fields.read("delta", fields::escaped)?;
    Ok(EventBody::ToolCallArgs {
        call: call(fields)?,
        delta,
    })
}

fn tool_call_chunk(fields: &Fields<'_>) -> Read {
    Ok(EventBody::ToolCallChunk {
        call: fields.read_if("toolCallId", call_id)?,
        name: fields.read_if("toolCallName", fields::text)?,
        parent: fields.read_if("parentMessageId", message_id)?,
        delta: fields.read_if("delta", fields::escaped)?,
    })
}

fn tool_call_result(fields: &Fields<'_>) -> Read {
    fields.read_if("role", |json| fields::one_of(json, &["tool"], &[()]))?;
    let content = fields.read("content", Content::from_checked)?;
    Ok(EventBody::ToolCallResult {
        message: message(fields)?,
        call: call(fields)?,
        content,
    })
}

fn state_snapshot(fields: &Fields<'_>) -> Read {
    Ok(EventBody::StateSnapshot {
        snapshot: fields.read("snapshot", fields::value)?,
    })
}

fn state_delta(fields: &Fields<'_>) -> Read {
    Ok(EventBody::StateDelta {
        delta: fields.read("delta", Patch::from_checked)?,
    })
}

fn messages_snapshot(fields: &Fields<'_>) -> Read {
    let messages = fields.read("messages", |json| {
        fields::known_array(json, Message::from_checked)
    })?;
    Ok(EventBody::MessagesSnapshot { messages })
}

fn activity_snapshot(fields: &Fields<'_>) -> Read {
    Ok(EventBody::ActivitySnapshot {
        message: message(fields)?,
        activity_type: fields.read("activityType", fields::text)?,
        content: fields.read("content", fields::metadata)?,
        replace: fields.read_if("replace", fields::boolean)?.unwrap_or(true),
    })
}

fn activity_delta(fields: &Fields<'_>) -> Read {
    Ok(EventBody::ActivityDelta {
        message: message(fields)?,
        activity_type: fields.read("activityType", fields::text)?,
        patch: fields.read("patch", Patch::from_checked)?,
    })
}

fn reasoning_message_start(fields: &Fields<'_>) -> Read {
    fields.read("role", |json| fields::one_of(json, &["reasoning"], &[()]))?;
    Ok(EventBody::ReasoningMessageStart {
        message: message(fields)?,
    })
}

fn reasoning_message_content(fields: &Fields<'_>) -> Read {
    let delta = fields.read("delta", fields::escaped)?;
    Ok(EventBody::ReasoningMessageContent {
        message: message(fields)?,
        delta,
    })
}

fn reasoning_message_chunk(fields: &Fields<'_>) -> Read {
    Ok(EventBody::ReasoningMessageChunk {
        message: fields.read_if("messageId", message_id)?,
        delta: fields.read_if("delta", fields::escaped)?,
    })
}

fn reasoning_encrypted_value(fields: &Fields<'_>) -> Read {
    let is_call = fields.read("subtype", |json| {
        fields::one_of(json, &["message", "tool-call"], &[false, true])
    })?;
    let entity = if is_call {
        EncryptedEntity::ToolCall(fields.read("entityId", call_id)?)
    } else {
        EncryptedEntity::Message(fields.read("entityId", message_id)?)
    };
    Ok(EventBody::ReasoningEncryptedValue {
        entity,
        value: fields.read("encryptedValue", fields::text)?,
    })
}

fn subagent_started(fields: &Fields<'_>) -> Read {
    Ok(EventBody::SubagentStarted {
        name: fields.read("name", fields::text)?,
        description: fields.read_if("description", fields::text)?,
        parent: fields.read_if("parentSubagentRunId", |json| {
            fields::id(json, SubagentRunId::new)
        })?,
        parent_call: fields.read_if("parentToolCallId", call_id)?,
        parent_message: fields.read_if("parentMessageId", message_id)?,
    })
}

fn subagent_finished(fields: &Fields<'_>) -> Read {
    Ok(EventBody::SubagentFinished {
        result: fields.read_if("result", fields::any_but_null)?,
        outcome: fields
            .read_if("outcome", subagent_outcome)?
            .unwrap_or(SubagentOutcome::Success),
    })
}

fn subagent_outcome(json: &str) -> Result<SubagentOutcome, ReadError> {
    let fields = Fields::of(json)?;
    if fields::tag(&fields, "type").as_deref() != Some("suspended") {
        return Ok(SubagentOutcome::Success);
    }
    let interrupts = fields.read_if("interruptIds", |json| ids(json, InterruptId::new))?;
    Ok(SubagentOutcome::Suspended {
        interrupts: interrupts.unwrap_or_default(),
    })
}

fn subagent_error(fields: &Fields<'_>) -> Read {
    Ok(EventBody::SubagentError {
        message: fields.read("message", fields::text)?,
        code: fields.read_if("code", fields::text)?,
    })
}

fn raw(fields: &Fields<'_>) -> Read {
    Ok(EventBody::Raw {
        event: fields.read("event", fields::any)?,
        source: fields.read_if("source", fields::text)?,
    })
}

fn custom(fields: &Fields<'_>) -> Read {
    Ok(EventBody::Custom {
        name: fields.read("name", fields::text)?,
        value: fields.read("value", fields::any)?,
    })
}
