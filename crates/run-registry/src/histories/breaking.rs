//! Streams that are broken in one place, or at least touched there: not every change breaks a rule.

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::histories::random::Random;
use crate::histories::retyping::{change_somewhere, rename_one_id};
use crate::histories::streams::values;
use crate::histories::writer::{SUBAGENTS, TEXTS, Writer, spelled};
use crate::stream_judge::StreamJudge;

/// The events of a random stream with one change, as JSON texts.
pub fn broken_stream(seed: u64) -> Vec<String> {
    let events = values(seed);
    let mut random = Random::new(!seed);
    for _ in 0..TRIES {
        let touched = touched(&mut random, events.clone());
        let mut judge = StreamJudge::new();
        if touched.iter().any(|event| judge.take(event).is_err()) {
            return touched;
        }
    }
    // Both must agree as well that a change breaks nothing.
    touched(&mut random, events)
}

/// So many changes are tried that break a rule.
const TRIES: usize = 2;

fn touched(random: &mut Random, mut events: Vec<Value>) -> Vec<String> {
    let at = random.below(events.len());
    if random.one_in(60) {
        let mut texts: Vec<String> = events.iter().map(spelled).collect();
        texts[at] = some_garbage(random, &texts[at]);
        return texts;
    }
    match random.below(16) {
        0 | 1 => drop(events.remove(at)),
        2 => events.insert(at, events[at].clone()),
        3 => {
            let moved = events.remove(at);
            events.insert(random.below(events.len() + 1), moved);
        }
        4 => {
            let other = random.below(events.len());
            events.swap(at, other);
        }
        5 if at + 1 < events.len() => events.swap(at, at + 1),
        6 | 7 => rename_one_id(random, &mut events[at]),
        8 => change_owner(random, &mut events[at]),
        9 | 10 => {
            let unjudged = some_event(random);
            events.insert(random.below(events.len() + 1), unjudged);
        }
        11 => change_type(random, &mut events[at]),
        12 => set_wrong(random, &mut events[at]),
        13 => break_beyond_one_event(random, &mut events),
        _ => change_somewhere(random, &mut events[at]),
    }
    events.iter().map(spelled).collect()
}

/// An event that nobody asked whether it may stand here.
fn some_event(random: &mut Random) -> Value {
    let mut writer = Writer::new(random.below(1 << 30) as u64);
    writer.run = 1 + random.below(3);
    match random.below(6) {
        0 => writer.some_chunk(),
        1 => writer.some_retired_event(),
        2 => writer.some_outcome(),
        3 => {
            let run = writer.run + 3;
            writer.run_started(run)
        }
        _ => writer.some_event(&Conversation::new()),
    }
}

fn change_owner(random: &mut Random, event: &mut Value) {
    match random.below(8) {
        0 => event["subagentRunId"] = Value::Null,
        1 => event["subagentRunId"] = json!(""),
        2 | 3 => {
            if let Some(event) = event.as_object_mut() {
                event.shift_remove("subagentRunId");
            }
        }
        _ => event["subagentRunId"] = json!(*random.pick(&SUBAGENTS)),
    }
}

const TYPES: [&str; 14] = [
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "TEXT_MESSAGE_CHUNK",
    "REASONING_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_END",
    "TOOL_CALL_END",
    "STEP_FINISHED",
    "SUBAGENT_FINISHED",
    "RUN_FINISHED",
    "CUSTOM",
    "NEVER_HEARD_OF",
    "",
];

fn change_type(random: &mut Random, event: &mut Value) {
    event["type"] = json!(*random.pick(&TYPES));
}

/// What takes several places to go wrong, if the stream has them.
fn break_beyond_one_event(random: &mut Random, events: &mut [Value]) {
    let wanted = *random.pick(&["RUN_STARTED", "TOOL_CALL_START", "RUN_FINISHED"]);
    let last = events.iter_mut().rfind(|event| event["type"] == wanted);
    let Some(last) = last else { return };
    match wanted {
        "RUN_STARTED" => last["runId"] = json!("r1"),
        "TOOL_CALL_START" => {
            last["parentMessageId"] = json!(*random.pick(&TEXTS));
            last["subagentRunId"] = json!(*random.pick(&SUBAGENTS));
        }
        _ => {
            if let Some(Value::Array(interrupts)) = last.pointer_mut("/outcome/interrupts") {
                interrupts.extend(interrupts.first().cloned());
            }
        }
    }
}

/// A described member that an event may have, with a value that it may not.
fn set_wrong(random: &mut Random, event: &mut Value) {
    let (name, value) = random
        .pick(&[
            ("timestamp", json!(1.5)),
            ("timestamp", json!("1")),
            ("timestamp", json!(9_007_199_254_740_992_i64)),
            ("timestamp", Value::Null),
            ("metadata", Value::Null),
            ("metadata", json!([1])),
            ("role", json!("wizard")),
            ("role", json!("tool")),
            ("name", Value::Null),
            ("parentMessageId", json!(7)),
            ("replace", json!("no")),
            ("code", Value::Null),
            ("usage", json!([{"inputTokens": -1}])),
            ("usage", json!({})),
            ("outcome", json!([])),
            ("outcome", json!({"type": "interrupt", "interrupts": []})),
            (
                "outcome",
                json!({"type": "success", "pendingToolCallIds": [1]}),
            ),
            ("result", Value::Null),
            ("input", Value::Null),
            ("protocolVersion", json!(1)),
        ])
        .clone();
    event[name] = value;
}

/// Text that is no event at all.
fn some_garbage(random: &mut Random, text: &str) -> String {
    match random.below(5) {
        0 => "null".to_owned(),
        1 => "[]".to_owned(),
        2 => "\"RUN_STARTED\"".to_owned(),
        3 => "{}".to_owned(),
        _ => {
            let mut cut = random.below(text.len());
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            // Nothing at all is no event to either reader.
            text[..cut.max(1)].to_owned()
        }
    }
}
