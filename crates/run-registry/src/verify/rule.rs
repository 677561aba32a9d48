//! The rules of a stream, each with its name.

use std::fmt;

macro_rules! rules {
    ($($rule:ident = $name:literal: $describes:literal,)+) => {
        /// The rule an event broke; its name stands in `PROTOCOL_VIOLATION` messages and never
        /// changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule {
            $(#[doc = $describes] $rule,)+
        }

        impl Rule {
            /// Every rule, by name.
            pub const ALL: &[Self] = &[$(Self::$rule,)+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)+
                }
            }

            /// When a stream keeps the rule, in a sentence.
            pub fn describes(self) -> &'static str {
                match self {
                    $(Self::$rule => $describes,)+
                }
            }
        }
    };
}

rules! {
    AfterRunError = "after-run-error":
        "Nothing follows RUN_ERROR but RUN_STARTED.",
    AfterRunFinished = "after-run-finished":
        "Nothing follows RUN_FINISHED but RUN_STARTED or one late RUN_ERROR.",
    Chunk = "chunk":
        "A chunk continues one item, or brings what it takes to begin one.",
    EventShape = "event-shape":
        "What AG-UI describes is there and has a value that it allows.",
    EventSize = "event-size":
        "An event is within the sizes that one event may have.",
    FirstEvent = "first-event":
        "The first event is RUN_STARTED or RUN_ERROR.",
    InterruptIdRepeated = "interrupt-id-repeated":
        "Interrupt ids are unique within the run that raises them.",
    MessageAlreadyOpen = "message-already-open":
        "A text message is started only while none with its id is open.",
    MessageLeftOpen = "message-left-open":
        "Text messages are ended before RUN_FINISHED.",
    MessageNotOpen = "message-not-open":
        "Text content and end name a text message that is open.",
    NestedRun = "nested-run":
        "RUN_STARTED comes only while no run is open.",
    OwnerMismatch = "owner-mismatch":
        "An event that names a subagent names the one that began the item it continues.",
    ParentOwnerMismatch = "parent-owner-mismatch":
        "A tool call belongs to the subagent that the message holding it belongs to.",
    ReasoningMessageAlreadyOpen = "reasoning-message-already-open":
        "A reasoning message is started only while none with its id is open.",
    ReasoningMessageLeftOpen = "reasoning-message-left-open":
        "Reasoning messages are ended before RUN_FINISHED.",
    ReasoningMessageNotOpen = "reasoning-message-not-open":
        "Reasoning content and end name a reasoning message that is open.",
    ReasoningSpanAlreadyOpen = "reasoning-span-already-open":
        "A reasoning span is started only while none with its id is open.",
    ReasoningSpanLeftOpen = "reasoning-span-left-open":
        "Reasoning spans are ended before RUN_FINISHED.",
    ReasoningSpanNotOpen = "reasoning-span-not-open":
        "REASONING_END names a reasoning span that is open.",
    RunIdMismatch = "run-id-mismatch":
        "RUN_STARTED names the run that was asked for, RUN_FINISHED the run that is open.",
    RunIdRepeated = "run-id-repeated":
        "A stream that holds several runs gives each an id of its own.",
    StepAlreadyOpen = "step-already-open":
        "A step is started only while its owner has none of that name open.",
    StepLeftOpen = "step-left-open":
        "Steps are finished before RUN_FINISHED.",
    StepNotOpen = "step-not-open":
        "A step is finished by the owner who started it, while it is open.",
    SubagentAlreadyStarted = "subagent-already-started":
        "A subagent's id is started once in a run.",
    SubagentLeftOpen = "subagent-left-open":
        "Subagents are finished before RUN_FINISHED.",
    SubagentNotActive = "subagent-not-active":
        "SUBAGENT_FINISHED and SUBAGENT_ERROR name a subagent that is active.",
    SubagentParentUnknown = "subagent-parent-unknown":
        "A subagent's parent was started in the same run.",
    ThreadIdMismatch = "thread-id-mismatch":
        "RUN_STARTED and RUN_FINISHED name the thread the run was asked for on.",
    ToolCallAlreadyOpen = "tool-call-already-open":
        "A tool call is started only while none with its id is open.",
    ToolCallLeftOpen = "tool-call-left-open":
        "Tool calls are ended before RUN_FINISHED.",
    ToolCallNotOpen = "tool-call-not-open":
        "Tool call arguments and end name a tool call that is open.",
}

impl Rule {
    /// Whether the hub closes what breaks it, for an agent that is not strict.
    pub(crate) fn is_mended(self) -> bool {
        matches!(
            self,
            Self::MessageLeftOpen
                | Self::ReasoningMessageLeftOpen
                | Self::ReasoningSpanLeftOpen
                | Self::StepLeftOpen
                | Self::SubagentLeftOpen
        )
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
