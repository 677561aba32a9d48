//! What a plain AG-UI client holds after the events of a thread: messages, state, what waits for an
//! answer.
//!
//! It folds as the reference client does, event by event, and keeps besides what a snapshot needs:
//! the latest runs' own events and what the open run has open. It judges nothing; that is
//! [`Verifier::judge`]'s business.
//!
//! Invariant: `apply` is total. An event that could not stand in a log changes nothing or what the
//! reference changes.

mod activities;
mod history;
mod messages;
mod metadata;
mod runs;
mod text;
mod tools;

use std::sync::Arc;

use serde_json::{Map, Value};
use threadcast_agui::event::{EncryptedEntity, Event, EventBody};
use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::interrupt::Interrupt;
use threadcast_agui::message::Message;
use threadcast_agui::patch::Patch;

use crate::conversation::messages::Messages;
pub(crate) use crate::conversation::runs::{RunEvents, Runs, StartedCall};
use crate::patch::{Document, PatchFailure, StateLimits};
use crate::verify::Verifier;

/// The fold of a thread's AG-UI events.
///
/// A clone shares messages and state with its original: it is cheap, whatever they hold.
#[derive(Clone, Debug)]
pub struct Conversation {
    messages: Messages,
    state: Arc<Document>,
    runs: Runs,
    verifier: Verifier,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            messages: Messages::default(),
            // What a run input without state means.
            state: Document::new(Value::Object(Map::new())).into(),
            runs: Runs::default(),
            verifier: Verifier::new(),
        }
    }
}

impl Conversation {
    /// Before the first event: no messages, `{}` as state.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in an event that was judged, or stands in a log; never fails.
    ///
    /// Unknown types and chunks (which a log never holds) change nothing, and so does a delta that
    /// does not apply.
    pub fn apply(&mut self, event: &Event) {
        self.verifier.advance(event);
        self.runs.apply(event);
        match &event.body {
            EventBody::RunStarted {
                input: Some(input), ..
            } => self.messages.append_new(&input.messages),
            EventBody::TextMessageStart { .. }
            | EventBody::TextMessageContent { .. }
            | EventBody::TextMessageEnd { .. }
            | EventBody::ReasoningMessageStart { .. }
            | EventBody::ReasoningMessageContent { .. }
            | EventBody::ReasoningMessageEnd { .. } => text::apply(&mut self.messages, event),
            EventBody::ToolCallStart { .. }
            | EventBody::ToolCallArgs { .. }
            | EventBody::ToolCallEnd { .. }
            | EventBody::ToolCallResult { .. } => tools::apply(&mut self.messages, event),
            EventBody::ActivitySnapshot { .. } | EventBody::ActivityDelta { .. } => {
                activities::apply(&mut self.messages, event);
            }
            EventBody::MessagesSnapshot { messages } => {
                history::restate(&mut self.messages, event, messages)
            }
            EventBody::ReasoningEncryptedValue {
                entity: EncryptedEntity::Message(message),
                value,
            } => {
                text::encrypt(&mut self.messages, message, value);
            }
            EventBody::ReasoningEncryptedValue {
                entity: EncryptedEntity::ToolCall(call),
                value,
            } => {
                tools::encrypt(&mut self.messages, call, value);
            }
            EventBody::StateSnapshot { snapshot } => {
                self.state = Document::new(snapshot.clone()).into();
            }
            // A delta that does not apply changes nothing, here as in every client; the run goes on.
            EventBody::StateDelta { delta } => drop(self.patch_state(delta)),
            _ => {}
        }
    }

    /// Applies a change of shared state that came from a person, not from a run.
    ///
    /// # Errors
    /// The patch does not apply; the state is as it was.
    pub fn patch_state(&mut self, patch: &Patch) -> Result<(), PatchFailure> {
        Arc::make_mut(&mut self.state).apply(patch, &StateLimits::default())
    }

    /// All messages in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }

    /// The first message with this id, whatever its role.
    pub fn message(&self, id: &MessageId) -> Option<&Message> {
        self.messages.get(id)
    }

    pub fn state(&self) -> &Value {
        self.state.value()
    }

    /// The state as patches change it.
    pub(crate) fn state_document(&self) -> &Document {
        &self.state
    }

    /// The tool calls that wait for a result: those the latest run started without one, in start
    /// order, or those its end named. None after a cancelled or failed run.
    pub fn pending_tool_calls(&self) -> Vec<ToolCallId> {
        self.runs.pending_tool_calls()
    }

    /// The interrupts as a plain client sees them: those of the latest RUN_FINISHED, which an error
    /// leaves as they are.
    pub fn pending_interrupts(&self) -> &[Interrupt] {
        self.runs.pending_interrupts()
    }

    /// Where the stream stands.
    pub fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// The name of a call that stands in some message.
    pub(crate) fn tool_call_name(&self, call: &ToolCallId) -> Option<&str> {
        self.messages.call(call).map(|call| &*call.name)
    }

    /// The first message that holds the call.
    pub(crate) fn tool_call_holder(&self, call: &ToolCallId) -> Option<&Message> {
        self.messages.holder(call)
    }

    pub(crate) fn runs(&self) -> &Runs {
        &self.runs
    }
}
