//! The 31 event types of AG-UI 1.0.
//!
//! An event is what it says and the bytes it came in. How one is read stands in `event/read.rs`
//! and, type by type, in `event/body.rs`; how the hub writes its own, in `make.rs`.

mod body;
mod described;
mod read;

use serde_json::Value;

use crate::content::Content;
use crate::edit::{Edit, edit_object};
use crate::ids::{InterruptId, MessageId, RunId, StepName, SubagentRunId, ThreadId, ToolCallId};
use crate::interrupt::Interrupt;
use crate::json::{Metadata, RawJson};
use crate::message::Message;
use crate::patch::Patch;
use crate::text::Escaped;
use crate::usage::TokenUsage;

/// One AG-UI event: what it says, and the bytes it came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The event as its producer wrote it, unknown members included.
    pub json: RawJson,
    /// When the producer made it; informational, by convention milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// Open by key; merged into the item the event belongs to.
    pub metadata: Option<Metadata>,
    /// The subagent invocation the event belongs to; absent means the parent agent.
    pub owner: Option<SubagentRunId>,
    pub body: EventBody,
}

impl Event {
    /// The event without its provider's native form: nothing is left of RAW, others lose
    /// `rawEvent`.
    ///
    /// An event that carries none keeps its bytes.
    pub fn without_raw(&self) -> Option<Self> {
        if matches!(self.body, EventBody::Raw { .. }) {
            return None;
        }
        let edit = |name: &str, _: &str| Edit::drop_if(name == "rawEvent");
        let json = edit_object(self.json.as_str(), edit);
        let json = json.map_or_else(|| self.json.clone(), RawJson::from_trusted);
        Some(Self {
            json,
            ..self.clone()
        })
    }

    /// The `type` of the event as it stands in its JSON.
    pub fn type_name(&self) -> &str {
        self.body.type_name()
    }
}

/// What an event says, by type.
#[derive(Clone, Debug, PartialEq)]
pub enum EventBody {
    RunStarted {
        thread: ThreadId,
        run: RunId,
        protocol_version: Option<Box<str>>,
        parent_run: Option<RunId>,
        input: Option<RunStartedInput>,
    },
    RunFinished {
        thread: Box<str>,
        run: Box<str>,
        result: Option<RawJson>,
        outcome: Outcome,
        usage: Vec<TokenUsage>,
    },
    RunError {
        message: Box<str>,
        code: Option<Box<str>>,
        usage: Vec<TokenUsage>,
    },
    StepStarted {
        step: StepName,
    },
    StepFinished {
        step: StepName,
    },
    TextMessageStart {
        message: MessageId,
        role: TextRole,
        name: Option<Box<str>>,
    },
    TextMessageContent {
        message: MessageId,
        delta: Escaped,
    },
    TextMessageEnd {
        message: MessageId,
    },
    TextMessageChunk {
        message: Option<MessageId>,
        role: Option<TextRole>,
        name: Option<Box<str>>,
        delta: Option<Escaped>,
    },
    ToolCallStart {
        call: ToolCallId,
        name: Box<str>,
        parent: Option<MessageId>,
    },
    ToolCallArgs {
        call: ToolCallId,
        delta: Escaped,
    },
    ToolCallEnd {
        call: ToolCallId,
    },
    ToolCallChunk {
        call: Option<ToolCallId>,
        name: Option<Box<str>>,
        parent: Option<MessageId>,
        delta: Option<Escaped>,
    },
    ToolCallResult {
        message: MessageId,
        call: ToolCallId,
        content: Content,
    },
    StateSnapshot {
        snapshot: Value,
    },
    StateDelta {
        delta: Patch,
    },
    MessagesSnapshot {
        messages: Vec<Message>,
    },
    ActivitySnapshot {
        message: MessageId,
        activity_type: Box<str>,
        content: Metadata,
        replace: bool,
    },
    ActivityDelta {
        message: MessageId,
        activity_type: Box<str>,
        patch: Patch,
    },
    ReasoningStart {
        span: MessageId,
    },
    ReasoningEnd {
        span: MessageId,
    },
    ReasoningMessageStart {
        message: MessageId,
    },
    ReasoningMessageContent {
        message: MessageId,
        delta: Escaped,
    },
    ReasoningMessageEnd {
        message: MessageId,
    },
    ReasoningMessageChunk {
        message: Option<MessageId>,
        delta: Option<Escaped>,
    },
    ReasoningEncryptedValue {
        entity: EncryptedEntity,
        value: Box<str>,
    },
    /// `owner` of the event is the invocation itself.
    SubagentStarted {
        name: Box<str>,
        description: Option<Box<str>>,
        parent: Option<SubagentRunId>,
        parent_call: Option<ToolCallId>,
        parent_message: Option<MessageId>,
    },
    SubagentFinished {
        result: Option<RawJson>,
        outcome: SubagentOutcome,
    },
    SubagentError {
        message: Box<str>,
        code: Option<Box<str>>,
    },
    Raw {
        event: RawJson,
        source: Option<Box<str>>,
    },
    Custom {
        name: Box<str>,
        value: RawJson,
    },
    /// A type this version does not know: relayed, never folded.
    Unknown {
        event_type: Box<str>,
    },
}

impl EventBody {
    /// The `type` of an event with this body.
    pub fn type_name(&self) -> &str {
        match self {
            Self::RunStarted { .. } => "RUN_STARTED",
            Self::RunFinished { .. } => "RUN_FINISHED",
            Self::RunError { .. } => "RUN_ERROR",
            Self::StepStarted { .. } => "STEP_STARTED",
            Self::StepFinished { .. } => "STEP_FINISHED",
            Self::TextMessageStart { .. } => "TEXT_MESSAGE_START",
            Self::TextMessageContent { .. } => "TEXT_MESSAGE_CONTENT",
            Self::TextMessageEnd { .. } => "TEXT_MESSAGE_END",
            Self::TextMessageChunk { .. } => "TEXT_MESSAGE_CHUNK",
            Self::ToolCallStart { .. } => "TOOL_CALL_START",
            Self::ToolCallArgs { .. } => "TOOL_CALL_ARGS",
            Self::ToolCallEnd { .. } => "TOOL_CALL_END",
            Self::ToolCallChunk { .. } => "TOOL_CALL_CHUNK",
            Self::ToolCallResult { .. } => "TOOL_CALL_RESULT",
            Self::StateSnapshot { .. } => "STATE_SNAPSHOT",
            Self::StateDelta { .. } => "STATE_DELTA",
            Self::MessagesSnapshot { .. } => "MESSAGES_SNAPSHOT",
            Self::ActivitySnapshot { .. } => "ACTIVITY_SNAPSHOT",
            Self::ActivityDelta { .. } => "ACTIVITY_DELTA",
            Self::ReasoningStart { .. } => "REASONING_START",
            Self::ReasoningEnd { .. } => "REASONING_END",
            Self::ReasoningMessageStart { .. } => "REASONING_MESSAGE_START",
            Self::ReasoningMessageContent { .. } => "REASONING_MESSAGE_CONTENT",
            Self::ReasoningMessageEnd { .. } => "REASONING_MESSAGE_END",
            Self::ReasoningMessageChunk { .. } => "REASONING_MESSAGE_CHUNK",
            Self::ReasoningEncryptedValue { .. } => "REASONING_ENCRYPTED_VALUE",
            Self::SubagentStarted { .. } => "SUBAGENT_STARTED",
            Self::SubagentFinished { .. } => "SUBAGENT_FINISHED",
            Self::SubagentError { .. } => "SUBAGENT_ERROR",
            Self::Raw { .. } => "RAW",
            Self::Custom { .. } => "CUSTOM",
            Self::Unknown { event_type } => event_type,
        }
    }
}

/// The part of `RUN_STARTED.input` that changes a fold.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStartedInput {
    pub json: RawJson,
    pub messages: Vec<Message>,
}

/// How a run ended by its own account; absent and unknown outcomes read as success.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Success {
        pending_tool_calls: Vec<ToolCallId>,
    },
    /// At least one.
    Interrupt {
        interrupts: Vec<Interrupt>,
    },
    Cancelled,
}

/// How a subagent invocation ended.
#[derive(Clone, Debug, PartialEq)]
pub enum SubagentOutcome {
    Success,
    Suspended { interrupts: Vec<InterruptId> },
}

/// Who may speak in a text message event; absent is `Assistant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    Assistant,
    Developer,
    System,
    User,
}

impl TextRole {
    pub(crate) const ALL: [Self; 4] = [Self::Assistant, Self::Developer, Self::System, Self::User];
    pub(crate) const NAMES: [&'static str; 4] = ["assistant", "developer", "system", "user"];

    /// The role as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::Developer => "developer",
            Self::System => "system",
            Self::User => "user",
        }
    }
}

/// What an encrypted value belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum EncryptedEntity {
    Message(MessageId),
    ToolCall(ToolCallId),
}

#[cfg(test)]
mod tests;
