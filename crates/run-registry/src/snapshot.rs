//! What an empty AG-UI client is sent to stand where the log stands.
//!
//! A snapshot is legal AG-UI: every event sits inside a run, and what follows in the log may follow
//! it. It restates history and never streams it again, for a client appends what is streamed. A
//! client that holds messages must be emptied first, for a list of messages moves nothing.
//!
//! ```text
//! RUN_STARTED  perhaps MESSAGES_SNAPSHOT  its end                a run before the latest
//! RUN_STARTED  MESSAGES_SNAPSHOT or not  STATE_SNAPSHOT  what is open, or the end   the latest run
//! ```
//!
//! A list of messages tells their owners, and a client binds the open run to what it was told in
//! it. So the list goes into a run before, unless it tells just what the open run has told.

mod gone;
mod older;
mod open_run;
mod reopen;
mod results;
mod stand_in;

use std::borrow::Cow;

use threadcast_agui::event::Event;
use threadcast_agui::ids::MessageId;
use threadcast_agui::make;
use threadcast_agui::message::Message;

use crate::conversation::{Conversation, RunEvents, StartedCall};
use crate::verify::RunScope;

pub use older::snapshot_for_older;

/// Messages in order, most of them as the conversation holds them.
type List<'a> = Vec<Cow<'a, Message>>;

/// One event of a snapshot; a list of messages, which may be all that there is, is not copied.
#[derive(Debug)]
pub enum Told<'a> {
    Event(Box<Event>),
    Messages(Vec<Cow<'a, Message>>),
}

impl Told<'_> {
    /// Writes the event's JSON, the same bytes that [`snapshot`] gives; pieces of it go to `push`.
    pub fn write(&self, mut push: impl FnMut(&str)) {
        match self {
            Self::Event(event) => push(event.json.as_str()),
            Self::Messages(list) => {
                make::write_messages_snapshot(list.iter().map(AsRef::as_ref), push);
            }
        }
    }

    fn into_event(self) -> Event {
        match self {
            Self::Event(event) => *event,
            Self::Messages(list) => {
                let list: Vec<Message> = list.into_iter().map(Cow::into_owned).collect();
                make::messages_snapshot(&list)
            }
        }
    }
}

impl From<Event> for Told<'_> {
    fn from(event: Event) -> Self {
        Self::Event(event.into())
    }
}

/// The events that bring an empty AG-UI client to where `conversation` stands; none when the log
/// has no run.
pub fn snapshot(conversation: &Conversation) -> Vec<Event> {
    let told = telling(conversation).into_iter();
    told.map(Told::into_event).collect()
}

/// The same for who only writes them: no message is copied.
pub fn telling(conversation: &Conversation) -> Vec<Told<'_>> {
    let Some(latest) = conversation.runs().latest() else {
        return Vec::new();
    };
    match conversation.verifier().scope() {
        Some(scope) => open_run::telling(conversation, latest, scope),
        None => of_ended(conversation, latest),
    }
}

/// Whether [`snapshot`] leaves the state out, for want of a run to carry it.
pub fn leaves_state_out(conversation: &Conversation) -> bool {
    let is_initial = conversation
        .state()
        .as_object()
        .is_some_and(serde_json::Map::is_empty);
    conversation.runs().latest().is_none() && !is_initial
}

/// The calls come behind the list where they change nothing, or in front of it, in a message that
/// it removes.
fn of_ended<'a>(conversation: &'a Conversation, latest: &RunEvents) -> Vec<Told<'a>> {
    let runs = conversation.runs();
    let mut events = Vec::new();
    if let Some(before) = pending_before(conversation) {
        events.push(before.started.clone().into());
        push_end(&mut events, before);
    }
    events.push(latest.started.clone().into());
    let unanswered: Vec<_> = runs
        .started()
        .iter()
        .filter(|call| runs.is_tally_asked() && !runs.is_answered(&call.id))
        .collect();
    let is_gone = |call: &&StartedCall| conversation.tool_call_name(&call.id).is_none();
    let holder = unanswered
        .iter()
        .any(is_gone)
        .then(|| free_id(conversation, None));
    let mut calls = Vec::new();
    for call in unanswered {
        let name = conversation.tool_call_name(&call.id).unwrap_or(&call.name);
        calls.push(make::tool_call_start(&call.id, name, holder.as_ref(), None));
        calls.push(make::tool_call_end(&call.id, None));
    }
    let (early, late) = match holder {
        Some(_) => (calls, Vec::new()),
        None => (Vec::new(), calls),
    };
    let messages = conversation.messages().map(Cow::Borrowed).collect();
    events.extend(early.into_iter().map(Told::from));
    events.push(Told::Messages(messages));
    events.push(make::state_snapshot(conversation.state()).into());
    events.extend(late.into_iter().map(Told::from));
    push_end(&mut events, latest);
    events
}

/// The run before the latest, if its interrupts are pending: all that came since failed or is
/// open.
fn pending_before(conversation: &Conversation) -> Option<&RunEvents> {
    let runs = conversation.runs();
    let is_pending =
        !conversation.pending_interrupts().is_empty() && runs.latest()?.finished.is_none();
    runs.before().filter(|_| is_pending)
}

fn push_end<T: From<Event>>(events: &mut Vec<T>, run: &RunEvents) {
    events.extend(run.finished.clone().map(T::from));
    events.extend(run.error.clone().map(T::from));
}

/// An id that no message has, and the open run has not told of.
fn free_id(conversation: &Conversation, scope: Option<&RunScope>) -> MessageId {
    let is_free = |id: &MessageId| {
        conversation.message(id).is_none()
            && scope.is_none_or(|scope| !scope.owners.messages.contains_key(id))
    };
    let ids = (0_u64..).map(|count| MessageId::new(format!("threadcast:gone:{count}")));
    let free = ids.map(|id| id.expect("the id is short")).find(is_free);
    free.expect("there are more numbers than messages")
}
