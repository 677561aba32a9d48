//! What an empty AG-UI client is sent to stand where the log stands.
//!
//! A snapshot is legal AG-UI: every event sits inside a run, and what follows in the log may follow
//! it. It restates history and never streams it again, for a client appends what is streamed. A
//! client that holds messages must be emptied first, for a list of messages moves nothing.
//!
//! ```text
//! RUN_STARTED  RUN_FINISHED                        the run whose interrupts are pending, if all since then failed
//! RUN_STARTED  MESSAGES_SNAPSHOT  STATE_SNAPSHOT  what is open  RUN_FINISHED or RUN_ERROR      the latest run
//! ```
//!
//! While subagents own messages, an open run's list of messages goes into the run before it. Inside
//! the open run it would record owners that this run never told, and a client would refuse what the
//! run may do with older items. The price: a client cannot be told then which calls the run has
//! answered, so one that the run starts once more after its result counts as pending there.

mod reopen;

use threadcast_agui::event::Event;
use threadcast_agui::make;
use threadcast_agui::message::Message;

use crate::conversation::{Conversation, RunEvents};
use crate::snapshot::reopen::Reopened;

/// The events that bring an empty AG-UI client to where `conversation` stands; none when the log
/// has no run.
pub fn snapshot(conversation: &Conversation) -> Vec<Event> {
    let runs = conversation.runs();
    let Some(latest) = runs.latest() else {
        return Vec::new();
    };
    let messages: Vec<Message> = conversation.messages().cloned().collect();
    let mut list = Some(make::messages_snapshot(&messages));
    let reopened = Reopened::of(conversation);
    let is_owned = messages.iter().any(|message| message.owner.is_some());
    let is_list_early = latest.is_active() && is_owned && reopened.vanished.is_empty();
    let mut events = Vec::new();
    if let Some(before) = runs
        .before()
        .filter(|_| is_list_early || is_pending_before(conversation))
    {
        events.push(before.started.clone());
        events.extend(list.take_if(|_| is_list_early));
        push_end(&mut events, before);
    }
    events.push(latest.started.clone());
    if let Some(list) = list {
        events.extend(reopened.vanished);
        events.extend(reopened.answered);
        events.push(list);
    }
    events.push(make::state_snapshot(conversation.state()));
    events.extend(reopened.present);
    push_end(&mut events, latest);
    events
}

/// Whether [`snapshot`] leaves the state out, for want of a run to carry it.
pub fn leaves_state_out(conversation: &Conversation) -> bool {
    let is_initial = conversation
        .state()
        .as_object()
        .is_some_and(serde_json::Map::is_empty);
    conversation.runs().latest().is_none() && !is_initial
}

/// Whether the interrupts are those of a run before the latest: all that came since failed.
fn is_pending_before(conversation: &Conversation) -> bool {
    let latest = conversation.runs().latest();
    !conversation.pending_interrupts().is_empty()
        && latest.is_some_and(|latest| latest.finished.is_none())
}

fn push_end(events: &mut Vec<Event>, run: &RunEvents) {
    events.extend(run.finished.clone());
    events.extend(run.error.clone());
}
