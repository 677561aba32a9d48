//! Streams in short notation, for tables of verdicts.
//!
//! A word is a kind, `+` `.` `-` for begin, go on, end, an id, and perhaps `^parent` and
//! `@subagent`: `T+m@x` begins text message `m` of subagent `x`. `T` text, `C` tool call, `P`
//! reasoning span, `G` reasoning message, `S` step, `A` subagent (`A!x` fails). `RUN r`, `FIN r`,
//! `ASK r` (ends with an interrupt) and `ERR` are whole words, as are `RES:m` (result message `m`
//! of call `c`), `ENC:m`, `ENC:c#` (a call), `ACT:m`, `DEL:m`, `LIST:m`, CUSTOM, RAW, NEW, STATE.

use serde_json::{Value, json};
use threadcast_agui::event::Event;

use crate::support::event;

#[track_caller]
pub(crate) fn stream(notation: &str) -> Vec<Event> {
    let mut run = "r1".to_owned();
    notation
        .split_whitespace()
        .map(|word| event(&json_of(word, &mut run).to_string()))
        .collect()
}

fn json_of(word: &str, run: &mut String) -> Value {
    let (word, owner) = word
        .split_once('@')
        .map_or((word, None), |(word, owner)| (word, Some(owner)));
    let (word, parent) = word
        .split_once('^')
        .map_or((word, None), |(word, parent)| (word, Some(parent)));
    let mut json = whole(word, run).unwrap_or_else(|| item(word));
    if let Some(parent) = parent {
        let name = if word.starts_with('A') {
            "parentSubagentRunId"
        } else {
            "parentMessageId"
        };
        json[name] = json!(parent);
    }
    if let Some(owner) = owner {
        match json.get_mut("messages") {
            Some(messages) => messages[0]["subagentRunId"] = json!(owner),
            None => json["subagentRunId"] = json!(owner),
        }
    }
    json
}

fn whole(word: &str, run: &mut String) -> Option<Value> {
    let (kind, id) = word.split_once(':').unwrap_or((word, "r1"));
    Some(match kind {
        "RUN" => {
            *run = id.to_owned();
            json!({"type": "RUN_STARTED", "threadId": "t", "runId": id})
        }
        "FIN" => {
            let id = if word.contains(':') { id } else { run };
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": id})
        }
        "ASK" => {
            let interrupts = json!([{"id": "i", "reason": "ask"}]);
            let outcome = json!({"type": "interrupt", "interrupts": interrupts});
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": run, "outcome": outcome})
        }
        "ERR" => json!({"type": "RUN_ERROR", "message": "broke"}),
        "RES" => {
            json!({"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": "c", "content": "ok"})
        }
        "ENC" => {
            let subtype = if id.ends_with('#') {
                "tool-call"
            } else {
                "message"
            };
            let id = id.trim_end_matches('#');
            json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": subtype, "entityId": id, "encryptedValue": "e"})
        }
        "ACT" => {
            json!({"type": "ACTIVITY_SNAPSHOT", "messageId": id, "activityType": "P", "content": {}})
        }
        "KEEP" => {
            json!({"type": "ACTIVITY_SNAPSHOT", "messageId": id, "activityType": "P", "content": {}, "replace": false})
        }
        "DEL" => {
            json!({"type": "ACTIVITY_DELTA", "messageId": id, "activityType": "P", "patch": []})
        }
        "LIST" => {
            json!({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": id, "role": "assistant", "content": ""}]})
        }
        "CUSTOM" => json!({"type": "CUSTOM", "name": "n", "value": null}),
        "RAW" => json!({"type": "RAW", "event": null}),
        "NEW" => json!({"type": "FROM_LATER"}),
        "STATE" => json!({"type": "STATE_SNAPSHOT", "snapshot": {}}),
        _ => return None,
    })
}

fn item(word: &str) -> Value {
    let (kind, id) = word.split_at(2);
    match kind {
        "T+" => json!({"type": "TEXT_MESSAGE_START", "messageId": id}),
        "T." => json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": id}),
        "T-" => json!({"type": "TEXT_MESSAGE_END", "messageId": id}),
        "C+" => json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "look"}),
        "C." => json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": id}),
        "C-" => json!({"type": "TOOL_CALL_END", "toolCallId": id}),
        "P+" => json!({"type": "REASONING_START", "messageId": id}),
        "P-" => json!({"type": "REASONING_END", "messageId": id}),
        "G+" => json!({"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}),
        "G." => json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": id}),
        "G-" => json!({"type": "REASONING_MESSAGE_END", "messageId": id}),
        "S+" => json!({"type": "STEP_STARTED", "stepName": id}),
        "S-" => json!({"type": "STEP_FINISHED", "stepName": id}),
        "A+" => json!({"type": "SUBAGENT_STARTED", "subagentRunId": id, "name": "helper"}),
        "A-" => json!({"type": "SUBAGENT_FINISHED", "subagentRunId": id}),
        "A!" => json!({"type": "SUBAGENT_ERROR", "subagentRunId": id, "message": "broke"}),
        _ => panic!("{word} is no notation"),
    }
}
