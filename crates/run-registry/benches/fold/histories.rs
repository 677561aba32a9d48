//! The streams that are measured, as texts an agent would send.

use serde_json::json;
use threadcast_agui::event::Event;

/// A token of a language model, about as long as they are.
const TOKEN: &str = " refund";

pub(crate) fn started() -> String {
    json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r1"}).to_string()
}

pub(crate) fn start(message: &str) -> String {
    json!({"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"}).to_string()
}

pub(crate) fn delta(message: &str) -> String {
    json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": TOKEN}).to_string()
}

pub(crate) fn end(message: &str) -> String {
    json!({"type": "TEXT_MESSAGE_END", "messageId": message}).to_string()
}

pub(crate) fn chunk(message: Option<&str>) -> String {
    match message {
        Some(message) => {
            json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": message, "delta": TOKEN}).to_string()
        }
        None => json!({"type": "TEXT_MESSAGE_CHUNK", "delta": TOKEN}).to_string(),
    }
}

pub(crate) fn call_start(call: &str) -> String {
    json!({"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": "refund"}).to_string()
}

pub(crate) fn call_args(call: &str) -> String {
    json!({"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": r#"{"order":"#}).to_string()
}

pub(crate) fn state_delta(n: usize) -> String {
    let path = format!("/items/{}/count", n % 100);
    json!({"type": "STATE_DELTA", "delta": [{"op": "replace", "path": path, "value": n}]})
        .to_string()
}

pub(crate) fn state() -> String {
    let items: Vec<_> = (0..100)
        .map(|n| json!({"id": n, "name": "an item", "count": 0}))
        .collect();
    json!({"type": "STATE_SNAPSHOT", "snapshot": {"items": items}}).to_string()
}

/// One message of `deltas` deltas, still open.
pub(crate) fn one_message(deltas: usize) -> Vec<String> {
    let mut events = vec![started(), start("m")];
    events.extend((0..deltas).map(|_| delta("m")));
    events
}

/// About `events` events, eight deltas a message.
pub(crate) fn many_messages(events: usize) -> Vec<String> {
    let mut texts = vec![started()];
    for n in 0..events / 10 {
        let message = format!("message-{n}");
        texts.push(start(&message));
        texts.extend((0..8).map(|_| delta(&message)));
        texts.push(end(&message));
    }
    texts
}

/// A thousand messages open at once, their deltas in turn.
pub(crate) fn interleaved(deltas: usize) -> Vec<String> {
    let names: Vec<_> = (0..1000).map(|n| format!("message-{n}")).collect();
    let mut texts = vec![started()];
    texts.extend(names.iter().map(|name| start(name)));
    texts.extend(names.iter().cycle().take(deltas).map(|name| delta(name)));
    texts
}

pub(crate) fn read(texts: &[String]) -> Vec<Event> {
    texts
        .iter()
        .map(|text| Event::read(text).unwrap())
        .collect()
}
