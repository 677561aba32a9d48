use super::*;
use crate::event::Event;

/// Reads `before` and expects the bytes `after`.
#[track_caller]
fn check(before: &str, after: &str) {
    let event = Event::read(before).unwrap();
    assert_eq!(event.json.as_str(), after);
    assert_eq!(
        Event::read(after).unwrap(),
        event,
        "the present form is read as the retired one was"
    );
}

#[test]
fn nulls_that_were_once_allowed_are_taken_out() {
    check(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":null,"result":null,"rawEvent":null}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
    );
    check(
        r#"{"result": null, "type":"SUBAGENT_FINISHED","subagentRunId":"s","new":null}"#,
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","new":null}"#,
    );
    for event_type in ["TOOL_CALL_START", "TOOL_CALL_CHUNK"] {
        check(
            &format!(
                r#"{{"type":"{event_type}","toolCallId":"c","toolCallName":"n","parentMessageId":null}}"#
            ),
            &format!(r#"{{"type":"{event_type}","toolCallId":"c","toolCallName":"n"}}"#),
        );
    }
    check(
        r#"{"type":"CUSTOM","name":"n","value":null,"rawEvent":null}"#,
        r#"{"type":"CUSTOM","name":"n","value":null}"#,
    );
}

#[test]
fn other_nulls_stay_refused() {
    for event in [
        r#"{"type":"RUN_ERROR","message":"m","code":null}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","name":null}"#,
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":null}"#,
        r#"{"type":"CUSTOM","name":"n","value":1,"metadata":null}"#,
        r#"{"type":"CUSTOM","name":"n","value":1,"subagentRunId":null}"#,
        r#"{"type":"CUSTOM","name":"n","value":1,"timestamp":null}"#,
    ] {
        let refused = Event::read(event).unwrap_err();
        assert!(refused.to_string().ends_with("found null"), "{refused}");
    }
}

#[test]
fn nulls_in_an_echoed_input_are_taken_out() {
    check(
        concat!(
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","state":null,"#,
            r#""forwardedProps":null,"tools":[{"name":"n","description":"d","parameters":null}],"#,
            r#""resume":[{"interruptId":"i","status":"resolved","payload":null}],"messages":[{"id":"u","role":"user","#,
            r#""content":[{"type":"image","metadata":null,"source":{"type":"url","value":"x"}}]}]}}"#,
        ),
        concat!(
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","state":null,"#,
            r#""tools":[{"name":"n","description":"d"}],"#,
            r#""resume":[{"interruptId":"i","status":"resolved"}],"messages":[{"id":"u","role":"user","#,
            r#""content":[{"type":"image","source":{"type":"url","value":"x"}}]}]}}"#,
        ),
    );
}

#[track_caller]
fn check_parts(before: &str, after: &str) {
    let event = |parts: &str| {
        format!(
            r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"id":"u","role":"user","content":[{parts}]}}]}}"#
        )
    };
    check(&event(before), &event(after));
}

#[test]
fn binary_parts_become_media_parts() {
    check_parts(
        r#"{"type":"binary","mimeType":"image/png","data":"AA==","filename":"a\u00e9.png"}"#,
        r#"{"type":"image","source":{"type":"data","value":"AA==","mimeType":"image/png"},"metadata":{"filename":"a\u00e9.png"}}"#,
    );
    for (mime_type, kind) in [
        ("audio/x", "audio"),
        ("video/x", "video"),
        ("text/html", "document"),
        ("image", "document"),
    ] {
        check_parts(
            &format!(r#"{{"type":"binary","mimeType":"{mime_type}","url":"u","data":""}}"#),
            &format!(
                r#"{{"type":"{kind}","source":{{"type":"url","value":"u","mimeType":"{mime_type}"}}}}"#
            ),
        );
    }
}

#[test]
fn a_binary_part_that_has_only_an_id_is_left_and_not_read() {
    let part = r#"{"type":"binary","mimeType":"image/png","id":"f"}"#;
    check_parts(part, part);
}

#[test]
fn a_binary_part_beside_its_own_media_part_is_taken_out() {
    let binary = r#"{"type":"binary","mimeType":"image/png","url":"u","filename":"f"}"#;
    let media = |metadata: &str| {
        format!(
            r#"{{"type":"image","source":{{"type":"url","value":"u","mimeType":"image/png"}}{metadata}}}"#
        )
    };
    let twin = media(r#","metadata":{"filename":"f"}"#);
    check_parts(&format!("{binary},{twin}"), &twin);
    check_parts(
        &format!("{},{binary}", media("")),
        &format!("{},{twin}", media("")),
    );
}

/// What thinking events become, as the bytes of each.
#[track_caller]
fn check_thinking(events: &[&str], expected: &[&str]) {
    let mut thinking = Thinking::new("r");
    let found: Vec<_> = events
        .iter()
        .map(|event| {
            thinking
                .translate(Event::read(event).unwrap())
                .unwrap()
                .json
                .to_string()
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn thinking_becomes_reasoning_under_minted_ids() {
    check_thinking(
        &[
            r#"{"type":"THINKING_START","title":"t","timestamp":1}"#,
            r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#,
            r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"x","new":1}"#,
            r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#,
            r#"{"type":"THINKING_END","rawEvent":null}"#,
            r#"{"type":"THINKING_START"}"#,
        ],
        &[
            r#"{"type":"REASONING_START","timestamp":1,"messageId":"r:thinking-1"}"#,
            r#"{"type":"REASONING_MESSAGE_START","messageId":"r:thinking-2","role":"reasoning"}"#,
            r#"{"type":"REASONING_MESSAGE_CONTENT","delta":"x","new":1,"messageId":"r:thinking-2"}"#,
            r#"{"type":"REASONING_MESSAGE_END","messageId":"r:thinking-2"}"#,
            r#"{"type":"REASONING_END","messageId":"r:thinking-1"}"#,
            r#"{"type":"REASONING_START","messageId":"r:thinking-3"}"#,
        ],
    );
}

#[test]
fn thinking_that_nothing_opened_gets_an_id_of_its_own() {
    check_thinking(
        &[
            r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#,
            r#"{"type":"THINKING_END"}"#,
        ],
        &[
            r#"{"type":"REASONING_MESSAGE_END","messageId":"r:thinking-1"}"#,
            r#"{"type":"REASONING_END","messageId":"r:thinking-2"}"#,
        ],
    );
}

#[test]
fn other_events_pass_and_broken_thinking_is_refused() {
    let mut thinking = Thinking::new("r");
    let other = Event::read(r#"{"type":"META","delta":1}"#).unwrap();
    assert_eq!(thinking.translate(other.clone()).unwrap(), other);
    let broken = Event::read(r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT"}"#).unwrap();
    assert_eq!(
        thinking.translate(broken).unwrap_err().to_string(),
        "`delta` is missing"
    );
}

#[test]
fn ids_minted_under_a_long_prefix_are_still_ids() {
    let mut thinking = Thinking::new(&"é".repeat(128));
    let event = Event::read(r#"{"type":"THINKING_START"}"#).unwrap();
    assert!(thinking.translate(event).is_ok());
}
