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
mod held;
mod history;
mod messages;
mod nodes;
mod runs;
mod shared_map;
mod size;
mod text;
mod tools;

use std::sync::Arc;

use serde_json::{Map, Value};
use threadcast_agui::event::{EncryptedEntity, Event, EventBody};
use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::interrupt::Interrupt;
use threadcast_agui::message::Message;
use threadcast_agui::patch::Patch;

use crate::conversation::held::Held;
use crate::conversation::messages::Messages;
pub(crate) use crate::conversation::runs::{RunEvents, Runs, StartedCall};
use crate::patch::{Document, PatchFailure, StateLimits};
use crate::verify::Verifier;

/// Most bytes of all messages of a thread, as one JSON array: what one viewer may have to be sent
/// at once.
pub const THREAD_MESSAGES_BYTES_MAX: usize = 32 << 20;

/// The fold of a thread's AG-UI events.
///
/// A clone shares messages and state with its original until either changes them. What it copies
/// is what the runs have started and who began it; [`Conversation::messages_ahead`] does without.
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
    /// Of its parts, as a checkpoint keeps them.
    pub(crate) fn of(messages: Vec<Message>, state: Value, runs: Runs, verifier: Verifier) -> Self {
        let mut list = Messages::default();
        list.reserve(messages.len());
        let mut scratch = String::new();
        for message in messages {
            list.append_held(Held::measured(message, &mut scratch));
        }
        Self {
            messages: list,
            state: Document::new(state).into(),
            runs,
            verifier,
        }
    }

    /// Before the first event: no messages, `{}` as state.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in an event that was judged, or stands in a log; never fails.
    ///
    /// Unknown types and chunks (which a log never holds) change nothing, and so does a delta that
    /// does not apply.
    pub fn apply(&mut self, event: &Event) {
        let _unchanged = self.apply_and_tell(event);
    }

    /// The same; why the patch of a delta did not apply, if it did not. A delta without its
    /// activity has nothing to apply to, and tells nothing.
    pub fn apply_and_tell(&mut self, event: &Event) -> Option<PatchFailure> {
        self.verifier.advance(event);
        self.runs.apply(event);
        match &event.body {
            EventBody::StateSnapshot { snapshot } => {
                self.state = Document::new(snapshot.clone()).into();
                None
            }
            // A delta that does not apply changes nothing, here as in every client; the run goes
            // on.
            EventBody::StateDelta { delta } => self.patch_state(delta).err(),
            _ => apply_to_messages(&mut self.messages, event),
        }
    }

    /// Applies a change of shared state that came from a person, not from a run.
    ///
    /// # Errors
    /// The patch does not apply; the state is as it was.
    pub fn patch_state(&mut self, patch: &Patch) -> Result<(), PatchFailure> {
        Arc::make_mut(&mut self.state).apply(patch, &StateLimits::default())
    }

    /// Why an activity's delta does not change it; `None` if it does, or if there is no such
    /// activity.
    pub fn activity_failure(&self, id: &MessageId, patch: &Patch) -> Option<PatchFailure> {
        activities::failure(&self.messages, id, patch)
    }

    /// The messages, to see what events to come make of them.
    pub(crate) fn messages_ahead(&self) -> MessagesAhead {
        MessagesAhead(self.messages.clone())
    }

    /// All messages in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }

    /// The first message with this id, whatever its role.
    pub fn message(&self, id: &MessageId) -> Option<&Message> {
        self.messages.get(id)
    }

    /// Length of all messages as one JSON array, in bytes.
    pub fn messages_bytes(&self) -> usize {
        self.messages.bytes()
    }

    pub fn state(&self) -> &Value {
        self.state.value()
    }

    /// Length of the state as JSON, in bytes.
    pub fn state_bytes(&self) -> usize {
        self.state.bytes()
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

    /// The place of the first message that holds the call.
    pub(crate) fn tool_call_holder(&self, call: &ToolCallId) -> Option<usize> {
        self.messages.holder(call)
    }

    /// All messages in order, each with its place.
    pub(crate) fn placed_messages(&self) -> impl Iterator<Item = (usize, &Message)> {
        self.messages.iter_placed()
    }

    pub(crate) fn runs(&self) -> &Runs {
        &self.runs
    }
}

/// The messages of a thread as events to come would leave them.
#[derive(Debug)]
pub(crate) struct MessagesAhead(Messages);

impl MessagesAhead {
    /// Takes in an event; tells why an activity's delta does not change it.
    pub(crate) fn apply(&mut self, event: &Event) -> Option<PatchFailure> {
        apply_to_messages(&mut self.0, event)
    }

    /// Length of all messages as one JSON array, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// What an event is to messages; tells why an activity's delta does not change it.
fn apply_to_messages(messages: &mut Messages, event: &Event) -> Option<PatchFailure> {
    match &event.body {
        EventBody::RunStarted {
            input: Some(input), ..
        } => messages.append_new(&input.messages),
        EventBody::TextMessageStart { .. }
        | EventBody::TextMessageContent { .. }
        | EventBody::TextMessageEnd { .. }
        | EventBody::ReasoningMessageStart { .. }
        | EventBody::ReasoningMessageContent { .. }
        | EventBody::ReasoningMessageEnd { .. } => text::apply(messages, event),
        EventBody::ToolCallStart { .. }
        | EventBody::ToolCallArgs { .. }
        | EventBody::ToolCallEnd { .. }
        | EventBody::ToolCallResult { .. } => tools::apply(messages, event),
        EventBody::ActivitySnapshot { .. } | EventBody::ActivityDelta { .. } => {
            return activities::apply(messages, event);
        }
        EventBody::MessagesSnapshot { messages: restated } => {
            history::restate(messages, event, restated);
        }
        EventBody::ReasoningEncryptedValue {
            entity: EncryptedEntity::Message(message),
            value,
        } => {
            text::encrypt(messages, message, value);
        }
        EventBody::ReasoningEncryptedValue {
            entity: EncryptedEntity::ToolCall(call),
            value,
        } => {
            tools::encrypt(messages, call, value);
        }
        _ => {}
    }
    None
}
