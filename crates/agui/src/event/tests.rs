use serde_json::json;

use super::*;
use crate::content::{MediaKind, PartBody, Source};
use crate::edit::append_member;
use crate::fields::{Problem, ReadError};
use crate::message::MessageBody;
use crate::patch::PatchOp;

mod cases;

use cases::{CASES, Case};

/// Members that every event may have, with a value each refuses.
const BASE: [(&str, &str); 6] = [
    ("timestamp", "1.5"),
    ("timestamp", "\"1\""),
    ("timestamp", "null"),
    ("timestamp", "9007199254740992"),
    ("metadata", "null"),
    ("metadata", "[]"),
];

fn read(json: &str) -> Event {
    Event::read(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[track_caller]
fn check_refused(json: &str, at: &str) -> ReadError {
    let refused = Event::read(json).expect_err(json);
    assert!(
        refused.at.starts_with(at),
        "{json} is refused at `{}`, expected at `{at}`",
        refused.at
    );
    refused
}

fn with(json: &str, name: &str, value: Option<&str>) -> String {
    let edit = |own: &str, _: &str| match value {
        _ if own != name => Edit::Keep,
        Some(value) => Edit::Set(value.to_owned()),
        None => Edit::Drop,
    };
    edit_object(json, edit).unwrap_or_else(|| append_member(json, name, value.unwrap_or("null")))
}

#[test]
fn every_event_type_is_read_with_its_bytes() {
    for Case { example, .. } in CASES {
        let event = read(example);
        assert_eq!(event.json.as_str(), *example);
        assert_eq!(
            *example,
            with(example, "type", Some(&format!("\"{}\"", event.type_name())))
        );
        assert!(
            !matches!(event.body, EventBody::Unknown { .. }),
            "{example}"
        );
    }
    assert_eq!(CASES.len(), 31);
}

#[test]
fn a_missing_or_wrong_required_member_is_refused() {
    for Case {
        example, required, ..
    } in CASES
    {
        for (name, wrong) in *required {
            let missing = check_refused(&with(example, name, None), name);
            assert_eq!(missing.problem, Problem::Missing);
            if let Some(wrong) = wrong {
                check_refused(&with(example, name, Some(wrong)), name);
            }
        }
    }
}

#[test]
fn an_optional_member_may_be_absent_but_not_wrong() {
    for Case {
        example, optional, ..
    } in CASES
    {
        for (name, wrong) in optional.iter().chain(&BASE) {
            check_refused(&with(example, name, Some(wrong)), name);
            if !matches!(*name, "delta" | "messages") {
                read(&with(&with(example, name, Some("0")), name, None));
            }
        }
    }
}

#[test]
fn undescribed_members_change_nothing_but_the_bytes() {
    for Case { example, .. } in CASES {
        let extended = read(&append_member(example, "encryptedValueType", "null"));
        assert_eq!(extended.body, read(example).body);
        assert!(
            extended
                .json
                .as_str()
                .ends_with(r#""encryptedValueType":null}"#)
        );
    }
}

#[test]
fn base_members_are_read_on_every_event() {
    for Case { example, .. } in CASES {
        let json = append_member(
            &append_member(example, "timestamp", "-5.0"),
            "metadata",
            r#"{"a":null}"#,
        );
        let event = read(&with(&json, "subagentRunId", Some("\"s\"")));
        assert_eq!(event.timestamp, Some(-5));
        assert_eq!(event.metadata.map(Value::from), Some(json!({"a": null})));
        let is_of_the_run = matches!(
            event.body,
            EventBody::RunStarted { .. }
                | EventBody::RunFinished { .. }
                | EventBody::RunError { .. }
                | EventBody::MessagesSnapshot { .. }
        );
        assert_eq!(event.owner.is_some(), !is_of_the_run, "{example}");
    }
}

#[test]
fn an_owner_that_is_null_is_refused_where_owners_are_described() {
    check_refused(
        r#"{"type":"CUSTOM","name":"n","value":1,"subagentRunId":null}"#,
        "subagentRunId",
    );
    read(r#"{"type":"RUN_ERROR","message":"m","subagentRunId":null}"#);
}

#[test]
fn an_unknown_type_is_read_whatever_else_it_holds() {
    let event = read(
        r#"{"type":"META","timestamp":"x","metadata":null,"subagentRunId":null,"rawEvent":null}"#,
    );
    assert_eq!(
        event.body,
        EventBody::Unknown {
            event_type: "META".into()
        }
    );
    assert_eq!((event.type_name(), &event.owner), ("META", &None));
}

#[test]
fn what_is_no_event_is_refused() {
    for (json, message) in [
        ("null", "the value must be an object, found null"),
        ("[]", "the value must be an object, found an array"),
        ("{}", "`type` is missing"),
        (r#"{"type":""}"#, "`type` is empty"),
        (r#"{"type":1}"#, "`type` must be a string, found a number"),
        (
            r#"{"type":"RAW","event":1,"event":2}"#,
            "the value is refused: JSON member `event` is repeated within one object",
        ),
    ] {
        assert_eq!(check_refused(json, "").to_string(), message);
    }
    check_refused("[DONE]", "");
}

#[test]
fn an_error_tells_the_whole_path() {
    let json = concat!(
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":["#,
        r#"{"id":"u","role":"user","content":"x"},{"id":"a","role":"assistant","toolCalls":["#,
        r#"{"id":"c","type":"function","function":{"name":5,"arguments":""}}]}]}}"#,
    );
    let refused = check_refused(json, "input");
    assert_eq!(
        refused.to_string(),
        "`input.messages[1].toolCalls[0].function.name` must be a string, found a number"
    );
}

#[test]
fn errors_name_both_sides() {
    for (json, message) in [
        (
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"tool"}"#,
            "`role` must be one of `assistant`, `developer`, `system`, `user`, found `tool`",
        ),
        (
            r#"{"type":"CUSTOM","name":"n","value":1,"timestamp":9007199254740992}"#,
            "`timestamp` must be an integer from -9007199254740991 to 9007199254740991, found 9007199254740992",
        ),
        (
            r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"b"}]}"#,
            "`delta[0].path` is refused: pointer does not begin with `/`",
        ),
        (
            r#"{"type":"RUN_STARTED","threadId":"","runId":"r"}"#,
            "`threadId` is refused: thread id is empty",
        ),
    ] {
        assert_eq!(check_refused(json, "").to_string(), message);
    }
}

#[test]
fn an_undescribed_outcome_reads_as_success() {
    for outcome in [
        r#"{"type":"weird","interrupts":[]}"#,
        "{}",
        r#"{"type":5}"#,
        r#"{"type":"success","interrupts":[]}"#,
    ] {
        let event = read(&format!(
            r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{outcome}}}"#
        ));
        let EventBody::RunFinished { outcome, .. } = event.body else {
            panic!("a finished run")
        };
        assert_eq!(
            outcome,
            Outcome::Success {
                pending_tool_calls: vec![]
            }
        );
    }
    let event =
        read(r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"weird"}}"#);
    assert_eq!(
        event.body,
        EventBody::SubagentFinished {
            result: None,
            outcome: SubagentOutcome::Success
        }
    );
}

#[test]
fn an_interrupt_keeps_its_bytes() {
    let interrupt = r#"{"id":"i","reason":"tool_call","responseSchema":{"type": "object"},"expiresAt":"soon","new":1}"#;
    let event = read(&format!(
        r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{{"type":"interrupt","interrupts":[{interrupt}]}}}}"#
    ));
    let EventBody::RunFinished {
        outcome: Outcome::Interrupt { interrupts },
        ..
    } = event.body
    else {
        panic!("an interrupted run")
    };
    assert_eq!(interrupts, [Interrupt::read(interrupt).unwrap()]);
    assert_eq!(interrupts[0].json.as_str(), interrupt);
    assert_eq!(
        interrupts[0].response_schema.as_ref().map(RawJson::as_str),
        Some(r#"{"type": "object"}"#)
    );
}

#[test]
fn undescribed_operations_are_left_out() {
    let event = read(
        r#"{"type":"STATE_DELTA","delta":[{"op":"frob","path":1},{"path":"x"},{"op":"remove","path":"/b","value":1}]}"#,
    );
    let EventBody::StateDelta {
        delta: Patch(operations),
    } = event.body
    else {
        panic!("a delta")
    };
    assert!(
        matches!(&operations[..], [PatchOp::Remove { path }] if path.as_str() == "/b"),
        "{operations:?}"
    );
}

#[test]
fn undescribed_roles_parts_and_sources_are_left_out() {
    let event = read(concat!(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":5,"role":"wizard"},{"id":"u","role":"user","content":["#,
        r#"{"type":"hologram"},{"type":"image","id":5,"source":{"type":"orbit"}},"#,
        r#"{"type":"image","source":{"type":"url","value":"x","mimeType":"image/png"},"new":1},"#,
        r#"{"type":"text","text":"\ud83d"}]},{}]}"#,
    ));
    let EventBody::MessagesSnapshot { messages } = event.body else {
        panic!("a snapshot")
    };
    let [
        Message {
            body:
                MessageBody::User {
                    content: Content::Parts(parts),
                    ..
                },
            ..
        },
    ] = &messages[..]
    else {
        panic!("one user message with parts, found {messages:?}")
    };
    let source = Source::Url {
        url: "x".into(),
        mime_type: Some("image/png".into()),
    };
    assert_eq!(parts.len(), 2);
    assert_eq!(
        parts[0].body,
        PartBody::Media {
            kind: MediaKind::Image,
            source
        }
    );
    assert!(parts[0].json.as_str().ends_with(r#""new":1}"#));
    assert_eq!(
        parts[1].body,
        PartBody::Text {
            text: Escaped::from_token(r#""\ud83d""#)
        }
    );
}

#[test]
fn a_tool_result_holds_text_or_parts() {
    let event = read(concat!(
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":["#,
        r#"{"type":"text","text":"a"},{"type":"binary","mimeType":"image/png","url":"x"},{"type":"text","text":"b"}]}"#,
    ));
    let EventBody::ToolCallResult { content, .. } = event.body else {
        panic!("a result")
    };
    assert_eq!(content.text().as_escaped(), "ab");
    assert!(
        matches!(content, Content::Parts(parts) if parts.len() == 2),
        "a result never held retired parts"
    );
}

#[test]
fn deltas_stay_escaped() {
    let event = read(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"\u006d","delta":"\ud83d\n"}"#);
    let message = MessageId::new("m").unwrap();
    assert_eq!(
        event.body,
        EventBody::TextMessageContent {
            message,
            delta: Escaped::from_token(r#""\ud83d\n""#)
        }
    );
}

#[test]
fn native_forms_are_taken_out_with_their_member_alone() {
    assert_eq!(read(r#"{"type":"RAW","event":{}}"#).without_raw(), None);
    let stripped = read(r#"{"type":"STEP_STARTED", "rawEvent":{"x":[1]},"stepName":"s"}"#)
        .without_raw()
        .unwrap();
    assert_eq!(stripped, read(r#"{"type":"STEP_STARTED","stepName":"s"}"#));
    let plain = read(r#"{ "type":"STEP_STARTED","stepName":"s"}"#);
    assert_eq!(plain.without_raw(), Some(plain));
}

#[test]
fn line_breaks_between_members_are_taken_out() {
    let event = read("{\n  \"type\": \"STEP_STARTED\",\r\n  \"stepName\": \"a\\nb\"\n}\n");
    assert_eq!(
        event.json.as_str(),
        r#"{  "type": "STEP_STARTED",  "stepName": "a\nb"}"#
    );
}

mod any_input {
    use proptest::prelude::*;

    use super::*;

    /// Members and values that events are made of, in any arrangement.
    fn any_json() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            "type",
            "role",
            "messageId",
            "toolCallId",
            "content",
            "delta",
            "op",
            "path",
            "value",
            "source",
            "messages",
            "outcome",
            "interrupts",
            "input",
            "function",
            "toolCalls",
            "metadata",
            "subagentRunId",
            "rawEvent",
            "id",
            "RUN_STARTED",
            "RUN_FINISHED",
            "MESSAGES_SNAPSHOT",
            "STATE_DELTA",
            "TEXT_MESSAGE_CHUNK",
            "TOOL_CALL_RESULT",
            "user",
            "assistant",
            "text",
            "image",
            "binary",
            "interrupt",
            "add",
            "/a",
            "threadId",
            "runId",
            "",
        ]);
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just(r#""\ud83d""#.to_owned()),
            Just("1e999".to_owned()),
            Just("-5.0".to_owned()),
            word.clone().prop_map(|word| format!("\"{word}\"")),
        ];
        leaf.prop_recursive(5, 40, 6, move |inner| {
            let members = prop::collection::vec((word.clone(), inner.clone()), 0..6);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
                members.prop_map(|all| {
                    let all: Vec<_> = all
                        .iter()
                        .map(|(name, value)| format!("\"{name}\":{value}"))
                        .collect();
                    format!("{{{}}}", all.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn reading_never_panics(json in any_json()) {
            if let Ok(event) = Event::read(&json) {
                prop_assert_eq!(Event::from_raw(event.json.clone()), Ok(event));
            }
        }

        #[test]
        fn damaged_events_never_panic(case in 0..CASES.len(), name in 0..8_usize, value in any_json()) {
            let Case { example, required, optional } = &CASES[case];
            let names = required.iter().map(|(name, _)| *name).chain(optional.iter().map(|(name, _)| *name));
            let names: Vec<_> = names.chain(["rawEvent", "metadata"]).collect();
            let damaged = with(example, names[name % names.len()], Some(&value));
            if let Ok(event) = Event::read(&damaged) {
                prop_assert_eq!(Event::from_raw(event.json.clone()), Ok(event));
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text: String) {
            prop_assert!(Event::read(&text).is_err());
        }
    }
}
