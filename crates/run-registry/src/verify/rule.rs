//! The rules of a stream, each with its name.

use std::fmt;

macro_rules! rules {
    ($($(#[$doc:meta])+ $rule:ident = $name:literal,)+) => {
        /// The rule an event broke; its name stands in `PROTOCOL_VIOLATION` messages and never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule {
            $($(#[$doc])+ $rule,)+
        }

        impl Rule {
            /// Every rule, by name.
            pub const ALL: &[Self] = &[$(Self::$rule,)+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)+
                }
            }
        }
    };
}

rules! {
    /// Nothing follows RUN_ERROR but RUN_STARTED.
    AfterRunError = "after-run-error",
    /// Nothing follows RUN_FINISHED but RUN_STARTED or one late RUN_ERROR.
    AfterRunFinished = "after-run-finished",
    /// The first event is RUN_STARTED or RUN_ERROR.
    FirstEvent = "first-event",
    /// Interrupt ids are unique within the run that raises them.
    InterruptIdRepeated = "interrupt-id-repeated",
    /// A text message is started only while none with its id is open.
    MessageAlreadyOpen = "message-already-open",
    /// Text messages are ended before RUN_FINISHED.
    MessageLeftOpen = "message-left-open",
    /// Text content and end name a text message that is open.
    MessageNotOpen = "message-not-open",
    /// RUN_STARTED comes only while no run is open.
    NestedRun = "nested-run",
    /// An event that names a subagent names the one that began the item it continues.
    OwnerMismatch = "owner-mismatch",
    /// A tool call belongs to the subagent that the message holding it belongs to.
    ParentOwnerMismatch = "parent-owner-mismatch",
    /// A reasoning message is started only while none with its id is open.
    ReasoningMessageAlreadyOpen = "reasoning-message-already-open",
    /// Reasoning messages are ended before RUN_FINISHED.
    ReasoningMessageLeftOpen = "reasoning-message-left-open",
    /// Reasoning content and end name a reasoning message that is open.
    ReasoningMessageNotOpen = "reasoning-message-not-open",
    /// A reasoning span is started only while none with its id is open.
    ReasoningSpanAlreadyOpen = "reasoning-span-already-open",
    /// Reasoning spans are ended before RUN_FINISHED.
    ReasoningSpanLeftOpen = "reasoning-span-left-open",
    /// REASONING_END names a reasoning span that is open.
    ReasoningSpanNotOpen = "reasoning-span-not-open",
    /// RUN_STARTED names the run that was asked for, RUN_FINISHED the run that is open.
    RunIdMismatch = "run-id-mismatch",
    /// A step is started only while its owner has none of that name open.
    StepAlreadyOpen = "step-already-open",
    /// Steps are finished before RUN_FINISHED.
    StepLeftOpen = "step-left-open",
    /// A step is finished by the owner who started it, while it is open.
    StepNotOpen = "step-not-open",
    /// A subagent's id is started once in a run.
    SubagentAlreadyStarted = "subagent-already-started",
    /// Subagents are finished before RUN_FINISHED.
    SubagentLeftOpen = "subagent-left-open",
    /// SUBAGENT_FINISHED and SUBAGENT_ERROR name a subagent that is active.
    SubagentNotActive = "subagent-not-active",
    /// A subagent's parent was started in the same run.
    SubagentParentUnknown = "subagent-parent-unknown",
    /// RUN_STARTED and RUN_FINISHED name the thread the run was asked for on.
    ThreadIdMismatch = "thread-id-mismatch",
    /// A tool call is started only while none with its id is open.
    ToolCallAlreadyOpen = "tool-call-already-open",
    /// Tool calls are ended before RUN_FINISHED.
    ToolCallLeftOpen = "tool-call-left-open",
    /// Tool call arguments and end name a tool call that is open.
    ToolCallNotOpen = "tool-call-not-open",
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
