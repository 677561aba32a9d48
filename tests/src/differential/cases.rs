//! Streams that the hub judges or folds otherwise than the published client, each by intent; the
//! rows of `docs/protocol.md` §14.7 name them.

use serde_json::{Value, json};
use threadcast_run_registry::verify::Rule;

/// One stream, and where the two part.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: &'static str,
    /// JSON texts.
    pub events: Vec<String>,
    /// The event that the hub refuses, by index.
    pub hub_refuses: Option<(usize, Rule)>,
    /// The event at which the client gives up.
    pub client_gives_up: Option<usize>,
    /// What differs then, by the names of `tests/node/differential.mjs`.
    pub parts: &'static [&'static str],
}

const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;

/// The client takes the whole stream, the hub refuses the event at `index`.
fn refused(name: &'static str, events: &[&str], index: usize, rule: Rule) -> Case {
    Case {
        name,
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        hub_refuses: Some((index, rule)),
        client_gives_up: None,
        parts: &["broken"],
    }
}

/// A member of a text message's start, at which the hub refuses the event or not.
fn of_message(name: &'static str, members: &str, parts: &'static [&'static str]) -> Case {
    let start = format!(r#"{{"type":"TEXT_MESSAGE_START",{members}}}"#);
    let is_kept = !parts.contains(&"broken");
    Case {
        hub_refuses: (!is_kept).then_some((1, Rule::EventShape)),
        parts,
        ..refused(name, &[STARTED, &start], 1, Rule::EventShape)
    }
}

/// A change of `state` that the client makes and the hub does not.
fn of_state(name: &'static str, state: &Value, patch: &Value) -> Case {
    let snapshot = json!({"type": "STATE_SNAPSHOT", "snapshot": state}).to_string();
    let delta = json!({"type": "STATE_DELTA", "delta": patch}).to_string();
    Case {
        name,
        events: vec![STARTED.to_owned(), snapshot, delta],
        hub_refuses: None,
        client_gives_up: None,
        parts: &["state"],
    }
}

/// All of them.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut all = unchecked_rules();
    all.extend(json_texts());
    all.extend(patches());
    all.extend(bounds_of_patches());
    all.extend(lists());
    all
}

fn unchecked_rules() -> Vec<Case> {
    let interrupts = json!([{"id": "i", "reason": "a"}, {"id": "i", "reason": "b"}]);
    let outcome = json!({"type": "interrupt", "interrupts": interrupts});
    let asks = json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": outcome});
    let twice = Case {
        parts: &["broken", "interrupts"],
        ..refused(
            "interrupt-id-repeated",
            &[STARTED, &asks.to_string()],
            1,
            Rule::InterruptIdRepeated,
        )
    };
    let other_run = FINISHED.replace(r#""r""#, r#""other""#);
    let other_thread = STARTED
        .replace(r#""t""#, r#""other""#)
        .replace(r#""r""#, r#""r2""#);
    vec![
        ended(refused(
            "run-id-mismatch",
            &[STARTED, &other_run],
            1,
            Rule::RunIdMismatch,
        )),
        refused(
            "thread-id-mismatch",
            &[STARTED, FINISHED, &other_thread],
            2,
            Rule::ThreadIdMismatch,
        ),
        refused(
            "run-id-repeated",
            &[STARTED, FINISHED, STARTED],
            2,
            Rule::RunIdRepeated,
        ),
        twice,
    ]
}

/// The client has seen an end that the hub has not.
fn ended(case: Case) -> Case {
    Case {
        parts: &["broken", "pending"],
        ..case
    }
}

fn nested(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

fn json_texts() -> Vec<Case> {
    let shape = |name, event: &str| refused(name, &[STARTED, event], 1, Rule::EventShape);
    let deep = format!(r#"{{"type":"CUSTOM","name":"n","value":{}}}"#, nested(64));
    let kept = format!(r#""messageId":"m","metadata":{{"deep":{}}}"#, nested(56));
    let long_id = format!(r#""messageId":"{}""#, "m".repeat(257));
    let state = format!(
        r#"{{"type":"STATE_SNAPSHOT","snapshot":"{}"}}"#,
        "x".repeat(8 << 20)
    );
    let too_large = refused("state-too-large", &[STARTED, &state], 1, Rule::EventSize);
    let run_ids = [
        ("empty-run-id", STARTED.replace(r#""r""#, r#""""#)),
        (
            "control-in-thread-id",
            STARTED.replace(r#""t""#, r#""t\n""#),
        ),
        (
            "empty-parent-run-id",
            STARTED.replace("}", r#","parentRunId":""}"#),
        ),
    ];
    let run_ids = run_ids.map(|(name, event)| refused(name, &[&event], 0, Rule::EventShape));
    let messages: &[&str] = &["broken", "messages", "count"];
    let mut cases = vec![
        shape(
            "member-twice",
            r#"{"type":"CUSTOM","name":"n","name":"n","value":1}"#,
        ),
        shape("nested-deeply", &deep),
        of_message("kept-deeply", &kept, messages),
        of_message("long-id", &long_id, messages),
        of_message("half-character-in-id", r#""messageId":"\ud83e""#, messages),
        of_message(
            "half-character-in-metadata",
            r#""messageId":"m","metadata":{"k":"\ud83e"}"#,
            messages,
        ),
        of_message(
            "half-character-in-name",
            r#""messageId":"m","name":"\ud83e""#,
            &["messages"],
        ),
        of_message(
            "number-beyond-doubles",
            r#""messageId":"m","metadata":{"k":1e400}"#,
            messages,
        ),
        Case {
            parts: &["broken", "state"],
            ..too_large
        },
    ];
    cases.extend(run_ids);
    cases
}

fn patches() -> Vec<Case> {
    let list = json!({"a": [1, 2]});
    let add = |path: &str| json!([{"op": "add", "path": path, "value": 3}]);
    let below_text =
        json!([{"op": "add", "path": "/x", "value": 3}, {"op": "replace", "path": "", "value": 1}]);
    let copies_function = json!([{"op": "copy", "from": "/toString", "path": "/b"}]);
    let dies = Case {
        client_gives_up: Some(2),
        parts: &["broken"],
        ..of_state("copy-of-prototype", &list, &copies_function)
    };
    vec![
        of_state("index-with-leading-zero", &list, &add("/a/01")),
        of_state("index-without-digits", &list, &add("/a/")),
        of_state("index-beyond-32-bits", &list, &add("/a/4294967296")),
        of_state("add-below-scalar-state", &json!("text"), &below_text),
        of_state(
            "move-behind-the-end",
            &list,
            &json!([{"op": "move", "from": "/a/0", "path": "/a/2"}]),
        ),
        of_state(
            "replace-of-prototype",
            &list,
            &json!([{"op": "replace", "path": "/toString", "value": 3}]),
        ),
        dies,
    ]
}

fn bounds_of_patches() -> Vec<Case> {
    let many: Value = (0..501)
        .map(|n| json!({"op": "add", "path": format!("/{n}"), "value": n}))
        .collect();
    let deep: Value = serde_json::from_str(&nested(56)).unwrap();
    let long = "x".repeat(600_000);
    let copies = json!([{"op": "copy", "from": "/a", "path": "/a"}, {"op": "copy", "from": "/a", "path": "/a"},
        {"op": "add", "path": "/b", "value": 1}]);
    let activity = |content: &str| {
        format!(
            r#"{{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"P","content":{content}}}"#
        )
    };
    let delta = r#"{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"P","patch":[{"op":"replace","path":"","value":[1]}]}"#;
    let of_activity = Case {
        hub_refuses: None,
        parts: &["messages"],
        ..refused(
            "activity-without-object",
            &[STARTED, &activity(r#"{"n":1}"#), delta],
            2,
            Rule::EventShape,
        )
    };
    let add = |value: &Value| json!([{"op": "add", "path": "/d", "value": value}]);
    vec![
        of_state("patch-of-many-operations", &json!({}), &many),
        of_state("patch-that-nests-deeply", &json!({}), &add(&deep)),
        of_state(
            "patch-that-grows-the-state",
            &json!({"a": long}),
            &add(&json!("x".repeat(600_000))),
        ),
        of_state("patch-that-copies-much", &json!({"a": long}), &copies),
        of_activity,
    ]
}

fn lists() -> Vec<Case> {
    let result = r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x"}"#;
    let list =
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":""}]}"#;
    let start = r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#;
    let text = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#;
    vec![Case {
        hub_refuses: None,
        parts: &["messages"],
        ..refused(
            "two-messages-of-one-id",
            &[STARTED, result, result, list, start, text],
            0,
            Rule::EventShape,
        )
    }]
}
