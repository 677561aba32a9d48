use serde_json::json;

use super::*;
use crate::text::Escaped;

/// The bytes an event has; reading them gives the same event.
#[track_caller]
fn check(event: &Event, json: &str) {
    assert_eq!(event.json.as_str(), json);
    assert_eq!(Event::read(json).as_ref(), Ok(event));
}

fn message(id: &str) -> MessageId {
    MessageId::new(id).unwrap()
}

fn call(id: &str) -> ToolCallId {
    ToolCallId::new(id).unwrap()
}

fn user(text: &str) -> Message {
    Message::read(&format!(r#"{{"id":"u","role":"user","content":"{text}"}}"#))
        .unwrap()
        .unwrap()
}

#[test]
fn made_events_read_back_as_they_are() {
    let (thread, run, parent) = (
        ThreadId::new("t").unwrap(),
        RunId::new("r\"").unwrap(),
        RunId::new("p").unwrap(),
    );
    let owner = SubagentRunId::new("s").unwrap();
    let input = RunStartedInput::new(&thread, &run, vec![user("hi")]);
    check(
        &run_started(&thread, &run, Some("1.0"), Some(&parent), Some(&input)),
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r\"","protocolVersion":"1.0","parentRunId":"p","input":{"threadId":"t","runId":"r\"","messages":[{"id":"u","role":"user","content":"hi"}]}}"#,
    );
    check(
        &run_started(&thread, &run, None, None, None),
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r\""}"#,
    );
    check(
        &run_error("m\n", Some("abort")),
        r#"{"type":"RUN_ERROR","message":"m\n","code":"abort"}"#,
    );
    check(
        &messages_snapshot(&[]),
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#,
    );
    check(
        &state_snapshot(&json!({"a": [null]})),
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":[null]}}"#,
    );
    check(
        &text_message_start(&message("m"), TextRole::User, Some("n"), Some(&owner)),
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"n","subagentRunId":"s"}"#,
    );
    check(
        &tool_call_start(&call("c"), "n", Some(&message("m")), None),
        r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n","parentMessageId":"m"}"#,
    );
    check(
        &tool_call_end(&call("c"), Some(&owner)),
        r#"{"type":"TOOL_CALL_END","toolCallId":"c","subagentRunId":"s"}"#,
    );
    check(
        &reasoning_start(&message("m"), None),
        r#"{"type":"REASONING_START","messageId":"m"}"#,
    );
    check(
        &reasoning_message_start(&message("m"), None),
        r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}"#,
    );
    check(
        &step_started(&StepName::new("s").unwrap(), None),
        r#"{"type":"STEP_STARTED","stepName":"s"}"#,
    );
}

#[test]
fn made_ends_and_results_read_back_as_they_are() {
    let (thread, run) = (ThreadId::new("t").unwrap(), RunId::new("r\"").unwrap());
    let owner = SubagentRunId::new("s").unwrap();
    let metadata = json!({"k": null}).as_object().cloned();
    let text = Content::Text(Escaped::from_plain("ok"));
    check(
        &tool_call_result(
            &message("m"),
            &call("c"),
            &text,
            Some(&owner),
            metadata.as_ref(),
        ),
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"ok","subagentRunId":"s","metadata":{"k":null}}"#,
    );
    check(
        &run_finished(&thread, &run),
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r\""}"#,
    );
    check(
        &reasoning_end(&message("m"), None),
        r#"{"type":"REASONING_END","messageId":"m"}"#,
    );
}

#[test]
fn made_ends_of_what_was_left_open_read_back_as_they_are() {
    let owner = SubagentRunId::new("a").unwrap();
    check(
        &text_message_end(&message("m"), Some(&owner)),
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"a"}"#,
    );
    check(
        &reasoning_message_end(&message("m"), None),
        r#"{"type":"REASONING_MESSAGE_END","messageId":"m"}"#,
    );
    check(
        &step_finished(&StepName::new("s").unwrap(), None),
        r#"{"type":"STEP_FINISHED","stepName":"s"}"#,
    );
    check(
        &subagent_error(&owner, "left \"a\"", Some("C")),
        r#"{"type":"SUBAGENT_ERROR","message":"left \"a\"","code":"C","subagentRunId":"a"}"#,
    );
}

#[test]
fn the_input_of_a_started_run_is_replaced_and_nothing_else() {
    let (thread, run) = (ThreadId::new("t").unwrap(), RunId::new("r").unwrap());
    let input = || RunStartedInput::new(&thread, &run, vec![user("new")]);
    let hubs = input().json;
    let with = |input: &str| {
        format!(r#"{{"type": "RUN_STARTED",{input}"threadId":"t", "runId":"r","x":1.0}}"#)
    };
    let agents = with(r#""input": {"threadId":"t","runId":"r","messages":[],"state":{}},"#);
    let started = Event::read(&agents).unwrap();
    check(
        &run_started_with_input(&started, input()),
        &with(&format!(r#""input": {hubs},"#)),
    );
    check(&without_input(&started), &with(""));

    let bare = Event::read(&with("")).unwrap();
    assert_eq!(without_input(&bare), bare);
    let expected = with("").replace("1.0}", &format!("1.0,\"input\":{hubs}}}"));
    check(&run_started_with_input(&bare, input()), &expected);
}

#[test]
fn only_a_started_run_has_an_input() {
    let other = Event::read(r#"{"type":"CUSTOM","name":"n","value":1,"input":{}}"#).unwrap();
    let input = RunStartedInput::new(
        &ThreadId::new("t").unwrap(),
        &RunId::new("r").unwrap(),
        vec![],
    );
    assert_eq!(run_started_with_input(&other, input), other);
    assert_eq!(without_input(&other), other);
}

#[test]
fn an_event_moves_to_another_thread_with_its_bytes() {
    let thread = ThreadId::new("o\"ther").unwrap();
    let moved = |json: &str| on_thread(&Event::read(json).unwrap(), &thread);
    check(
        &moved(
            r#"{ "x":1, "type":"RUN_STARTED","thre\u0061dId":"t","runId":"r","input":{"messages":[],"threadId":"t", "runId":"r","k":"t"}}"#,
        ),
        r#"{ "x":1, "type":"RUN_STARTED","thre\u0061dId":"o\"ther","runId":"r","input":{"messages":[],"threadId":"o\"ther", "runId":"r","k":"t"}}"#,
    );
    check(
        &moved(r#"{"type":"RUN_FINISHED","runId":"t","threadId":"t","result":{"threadId":"t"}}"#),
        r#"{"type":"RUN_FINISHED","runId":"t","threadId":"o\"ther","result":{"threadId":"t"}}"#,
    );
    let custom = r#"{"type":"CUSTOM","name":"n","value":1,"threadId":"t"}"#;
    check(&moved(custom), custom);
}

#[test]
fn an_activity_is_told_as_it_is_held() {
    let held = r#"{"id":"a","role":"activity","activityType":"PLAN","content":{"n":[1.0]},"subagentRunId":"s"}"#;
    let told = activity_snapshot(&Message::read(held).unwrap().unwrap()).unwrap();
    check(
        &told,
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"PLAN","content":{"n":[1.0]},"subagentRunId":"s"}"#,
    );
    assert_eq!(activity_snapshot(&user("hi")), None);
}
