use serde_json::{Value, json};

use super::*;
use crate::event::{Event, EventBody, Outcome};
use crate::legacy::OnInterrupt;

fn custom(value: &Value) -> String {
    json!({ "type": "CUSTOM", "name": "on_interrupt", "value": value }).to_string()
}

fn finished() -> String {
    json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r" }).to_string()
}

/// What a run asks that sends these events; those that are no RUN_FINISHED must stay as they are.
fn asked_by(events: &[String]) -> Vec<Interrupt> {
    let mut translator = OnInterrupt::new("r");
    let mut asked = Vec::new();
    for json in events {
        let event = Event::read(json).unwrap();
        let translated = translator.translate(event.clone()).unwrap();
        match &translated.body {
            EventBody::RunFinished {
                outcome: Outcome::Interrupt { interrupts },
                ..
            } => asked.extend(interrupts.clone()),
            _ => assert_eq!(translated, event),
        }
    }
    asked
}

fn asked(values: &[Value]) -> Vec<Interrupt> {
    let mut events: Vec<_> = values.iter().map(custom).collect();
    events.push(finished());
    asked_by(&events)
}

fn json_of(interrupt: &Interrupt) -> Value {
    serde_json::from_str(interrupt.json.as_str()).unwrap()
}

#[test]
fn a_question_in_json_text_becomes_an_interrupt() {
    let value = json!({ "reason": "flight:choose", "message": "Pick", "options": ["A"],
        "responseSchema": { "type": "object" }, "tool_call_id": "c", "expires_at": "2030-01-01" });
    let asked = asked(&[json!(value.to_string())]);
    assert_eq!(
        json_of(&asked[0]),
        json!({
            "id": "r:interrupt-1",
            "reason": "flight:choose",
            "message": "Pick",
            "toolCallId": "c",
            "responseSchema": { "type": "object" },
            "expiresAt": "2030-01-01",
            "metadata": { "threadcast": { "onInterrupt": { "value": value } } },
        })
    );
    assert!(is_asked_by_event(&asked[0]));
}

#[test]
fn a_bare_question_is_its_message() {
    for (value, message, kept) in [
        (
            json!("Sure? \"yes\""),
            json!("Sure? \"yes\""),
            json!("Sure? \"yes\""),
        ),
        (json!("5"), json!("5"), json!("5")),
        (json!("{broken"), json!("{broken"), json!("{broken")),
        (json!({ "a": 1 }), Value::Null, json!({ "a": 1 })),
        (json!("[1]"), Value::Null, json!([1])),
        (json!(7), Value::Null, json!(7)),
        (Value::Null, Value::Null, Value::Null),
    ] {
        let asked = json_of(&asked(std::slice::from_ref(&value))[0]);
        assert_eq!(asked["message"], message, "{value}");
        assert_eq!(asked["reason"], "langgraph:interrupt");
        assert_eq!(
            asked["metadata"]["threadcast"]["onInterrupt"]["value"],
            kept
        );
    }
}

#[test]
fn members_that_do_not_fit_are_left_out() {
    let value = json!({ "reason": 5, "message": null, "toolCallId": "x".repeat(300),
        "responseSchema": "s", "expiresAt": 7, "id": {} });
    let asked = json_of(&asked(&[value])[0]);
    let mut names: Vec<_> = asked.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["id", "metadata", "reason"]);
}

#[test]
fn a_value_too_deep_for_the_log_is_kept_as_text() {
    let deep = format!("{}1{}", "[".repeat(60), "]".repeat(60));
    let asked = json_of(&asked(&[json!(deep)])[0]);
    assert_eq!(
        asked["metadata"]["threadcast"]["onInterrupt"]["value"],
        json!(deep)
    );
}

#[test]
fn ids_are_those_the_agent_gave_while_they_are_unique() {
    let native = |id: &str| {
        let mut event: Value = serde_json::from_str(&custom(&json!("q"))).unwrap();
        event["rawEvent"] = json!({ "value": "q", "id": id });
        event.to_string()
    };
    let own = custom(&json!({ "id": "order-7" }));
    let taken = custom(&json!({ "id": "r:interrupt-1" }));
    let events = [
        native("9f"),
        native("9f"),
        own.clone(),
        own,
        taken,
        native(""),
        finished(),
    ];
    let asked = asked_by(&events);
    let ids: Vec<_> = asked
        .iter()
        .map(|asked| asked.id.as_str().to_owned())
        .collect();
    assert_eq!(
        ids,
        [
            "9f",
            "r:interrupt-1",
            "order-7",
            "r:interrupt-2",
            "r:interrupt-3",
            "r:interrupt-4"
        ]
    );
}

#[test]
fn questions_belong_to_their_subagents() {
    let mut event: Value = serde_json::from_str(&custom(&json!("q"))).unwrap();
    event["subagentRunId"] = json!("s");
    let asked = asked_by(&[event.to_string(), finished()]);
    assert_eq!(json_of(&asked[0])["subagentRunId"], "s");
}

#[test]
fn an_agent_that_sends_an_outcome_has_said_it_itself() {
    for outcome in [
        json!({ "type": "success" }),
        json!({ "type": "cancelled" }),
        json!({ "type": "interrupt", "interrupts": [{ "id": "own", "reason": "x" }] }),
    ] {
        let mut finished: Value = serde_json::from_str(&finished()).unwrap();
        finished["outcome"] = outcome;
        let asked = asked_by(&[custom(&json!("q")), finished.to_string()]);
        assert!(asked.iter().all(|asked| asked.id.as_str() == "own"));
        assert!(!asked.iter().any(is_asked_by_event));
    }
}

#[test]
fn a_question_is_of_its_run_alone() {
    let started = json!({ "type": "RUN_STARTED", "threadId": "t", "runId": "r" }).to_string();
    let error = json!({ "type": "RUN_ERROR", "message": "m" }).to_string();
    assert!(asked_by(&[custom(&json!("q")), error, finished()]).is_empty());
    assert!(asked_by(&[custom(&json!("q")), started, finished()]).is_empty());
    let other = json!({ "type": "CUSTOM", "name": "other", "value": "q" }).to_string();
    assert!(asked_by(&[other, finished()]).is_empty());
}

#[test]
fn too_many_questions_are_refused() {
    let mut translator = OnInterrupt::new("r");
    let large = Event::read(&custom(&json!("x".repeat(1 << 20)))).unwrap();
    let refused = (0..8).find_map(|_| translator.translate(large.clone()).err());
    let refused = refused.unwrap().to_string();
    assert!(refused.contains("at most 4194304 are allowed"), "{refused}");
}

fn entry(id: &str, payload: Option<Value>) -> ResumeEntry {
    let entry = match payload {
        Some(payload) => json!({ "interruptId": id, "status": "resolved", "payload": payload }),
        None => json!({ "interruptId": id, "status": "cancelled" }),
    };
    ResumeEntry::read(&entry.to_string()).unwrap()
}

#[test]
fn one_answer_goes_as_its_payload() {
    let asked = asked(&[json!("q")]);
    let id = asked[0].id.as_str();
    for (payload, expected) in [
        (json!({ "pick": "A" }), json!({ "pick": "A" })),
        (json!("AA1"), json!("AA1")),
        (json!("no"), json!("no")),
        (json!("nothing [yet]"), json!("nothing [yet]")),
        // It is read as JSON where it begins so, also where it is none but for the agent.
        (json!("[NaN]"), json!("\"[NaN]\"")),
        (
            json!("\n{\"a\":Infinity}"),
            json!("\"\\n{\\\"a\\\":Infinity}\""),
        ),
        (json!("-Infinity"), json!("\"-Infinity\"")),
        (
            json!("[".repeat(500)),
            json!(format!("\"{}\"", "[".repeat(500))),
        ),
        (json!("42"), json!("\"42\"")),
        (json!(" true "), json!("\" true \"")),
        (json!("NaN"), json!("\"NaN\"")),
        (json!("\"q\""), json!("\"\\\"q\\\"\"")),
        (json!(false), json!(false)),
    ] {
        let command = command_resume(&asked, &[entry(id, Some(payload.clone()))]).unwrap();
        let found: Value = serde_json::from_str(command.as_str()).unwrap();
        assert_eq!(found, expected, "{payload}");
    }
    let command = command_resume(&asked, &[entry(id, None)]).unwrap();
    let expected = json!({ "__agui_cancelled__": true, "interrupt_id": id });
    assert_eq!(
        serde_json::from_str::<Value>(command.as_str()).unwrap(),
        expected
    );
}

#[test]
fn several_answers_go_by_the_ids_of_their_questions() {
    let asked = asked(&[json!({ "id": "a" }), json!({ "id": "b" })]);
    let command =
        command_resume(&asked, &[entry("b", None), entry("a", Some(json!("7")))]).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(command.as_str()).unwrap(),
        json!({ "a": "7", "b": { "__agui_cancelled__": true, "interrupt_id": "b" } })
    );
}

#[test]
fn what_an_agent_asked_in_its_outcome_is_no_command() {
    let own = Interrupt::read(r#"{"id":"i","reason":"x","metadata":{"threadcast":{}}}"#).unwrap();
    assert_eq!(command_resume(&[own], &[entry("i", Some(json!(1)))]), None);
    assert_eq!(command_resume(&[], &[]), None);
}

#[test]
fn the_command_stands_beside_other_members() {
    let resume = RawJson::parse("7").unwrap();
    for (props, expected) in [
        (None, r#"{"command":{"resume":7}}"#),
        (Some("\"opaque\""), r#"{"command":{"resume":7}}"#),
        (Some(r#"{"a":1}"#), r#"{"a":1,"command":{"resume":7}}"#),
        (
            Some(r#"{"command":{"goto":"x","resume":1},"a":1}"#),
            r#"{"command":{"goto":"x","resume":7},"a":1}"#,
        ),
        (
            Some(r#"{"command":{"goto":"x"}}"#),
            r#"{"command":{"goto":"x","resume":7}}"#,
        ),
        (Some(r#"{"command":null}"#), r#"{"command":{"resume":7}}"#),
    ] {
        assert_eq!(with_command_resume(props, &resume), expected);
    }
}

#[test]
fn a_command_of_an_older_client_is_an_answer() {
    let one = asked(&[json!("q")]);
    let two = asked(&[json!({ "id": "a" }), json!({ "id": "b" })]);
    let own = [Interrupt::read(r#"{"id":"i","reason":"x"}"#).unwrap()];
    let check = |asked: &[Interrupt], props: Value, expected: &[(&str, Value)]| {
        let props = RawJson::from_value(&props);
        let entries = entries_of_command(&asked.iter().collect::<Vec<_>>(), &props);
        let found: Vec<_> = entries
            .iter()
            .map(|entry| {
                let payload = entry.payload.as_ref().unwrap().to_value().unwrap();
                (entry.interrupt.as_str(), payload)
            })
            .collect();
        assert_eq!(found, expected, "{props}");
    };
    let command = |resume: Value| json!({ "command": { "resume": resume } });
    check(
        &one,
        command(json!({ "a": 1 })),
        &[("r:interrupt-1", json!({ "a": 1 }))],
    );
    check(
        &one,
        command(json!("{\"a\":1}")),
        &[("r:interrupt-1", json!({ "a": 1 }))],
    );
    check(
        &one,
        command(json!("AA1")),
        &[("r:interrupt-1", json!("AA1"))],
    );
    check(&one, command(Value::Null), &[]);
    check(&one, json!({ "command": "x" }), &[]);
    check(&one, json!({}), &[]);
    check(
        &two,
        command(json!({ "a": 1, "b": 2 })),
        &[("a", json!(1)), ("b", json!(2))],
    );
    check(&two, command(json!({ "a": 1 })), &[]);
    check(&two, command(json!(1)), &[]);
    check(&own, command(json!(1)), &[]);
    check(&[], command(json!(1)), &[]);
}
