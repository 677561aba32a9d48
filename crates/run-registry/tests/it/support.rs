//! Random valid AG-UI histories, and small ways to write events.

pub(crate) mod fixtures;
pub(crate) mod notation;

use serde_json::Value;
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::message::Message;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::verify::{Expected, Violation};

/// Reads an event from JSON text.
#[track_caller]
pub(crate) fn event(json: &str) -> Event {
    match Event::read(json) {
        Ok(event) => event,
        Err(error) => panic!("{error}: {json}"),
    }
}

/// Reads one event a line; empty lines are skipped.
#[track_caller]
pub(crate) fn events(lines: &str) -> Vec<Event> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(event).collect()
}

pub(crate) fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Conversation {
    let mut conversation = Conversation::new();
    events
        .into_iter()
        .for_each(|event| conversation.apply(event));
    conversation
}

/// In a stream of several runs, each run is expected as its own RUN_STARTED names it.
pub(crate) fn expected(event: &Event, conversation: &Conversation) -> Expected {
    let run = match &event.body {
        EventBody::RunStarted { run, .. } => run.clone(),
        _ => conversation
            .verifier()
            .active_run()
            .cloned()
            .unwrap_or_else(|| "none".parse().expect("an id")),
    };
    Expected {
        thread: "t".parse().expect("an id"),
        run,
    }
}

/// Folds a stream of several runs as long as it is legal; tells which event is not.
pub(crate) fn judge(events: &[Event]) -> Result<Conversation, (usize, Violation)> {
    let mut conversation = Conversation::new();
    for (at, event) in events.iter().enumerate() {
        conversation
            .verifier()
            .judge(event, &expected(event, &conversation))
            .map_err(|violation| (at, violation))?;
        conversation.apply(event);
    }
    Ok(conversation)
}

/// A message as its JSON value.
pub(crate) fn value(message: &Message) -> Value {
    serde_json::from_str(message.to_json().as_str()).expect("a message without broken text")
}

/// All messages as one JSON array.
pub(crate) fn messages(conversation: &Conversation) -> Value {
    conversation.messages().map(value).collect()
}
