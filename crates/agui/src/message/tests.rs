use super::*;

/// A message in the order in which it is written; reading and writing gives the same bytes.
#[track_caller]
fn check(json: &str) -> Message {
    let message = Message::read(json).unwrap().unwrap();
    assert_eq!(message.to_json().as_str(), json);
    assert_eq!(
        Message::read(message.to_json().as_str()),
        Ok(Some(message.clone()))
    );
    message
}

#[test]
fn every_role_is_written_as_it_was_read() {
    for (json, role, text) in [
        (
            r#"{"id":"m","role":"activity","activityType":"a","content":{"b":1,"a":null}}"#,
            "activity",
            None,
        ),
        (r#"{"id":"m","role":"assistant"}"#, "assistant", None),
        (
            r#"{"id":"","role":"assistant","content":"\u00e9","toolCalls":[],"name":"n"}"#,
            "assistant",
            Some(r"\u00e9"),
        ),
        (
            r#"{"id":"m","role":"developer","content":"d","name":"n","encryptedValue":"v"}"#,
            "developer",
            Some("d"),
        ),
        (
            r#"{"id":"m","role":"reasoning","content":"","encryptedValue":"v"}"#,
            "reasoning",
            Some(""),
        ),
        (
            r#"{"id":"m","role":"system","content":"s"}"#,
            "system",
            Some("s"),
        ),
        (
            r#"{"id":"m","role":"tool","content":"t","toolCallId":"c","error":"e","encryptedValue":"v"}"#,
            "tool",
            Some("t"),
        ),
        (
            r#"{"id":"m","role":"user","content":[{"type":"text", "text":"a"},{"type":"text","text":"b"}]}"#,
            "user",
            Some("ab"),
        ),
    ] {
        let message = check(json);
        assert_eq!(message.role(), role);
        assert_eq!(message.text().as_ref().map(Escaped::as_escaped), text);
    }
}

#[test]
fn owner_metadata_and_undescribed_members_come_last() {
    let message = check(concat!(
        r#"{"id":"m","role":"user","content":"x","subagentRunId":"s","metadata":{"k":1},"#,
        r#""toolCalls":null,"encryptedValueType":"t","a":[1, 2]}"#,
    ));
    assert_eq!(message.extra.len(), 3);
    let mixed = r#"{"new":1,"metadata":{},"role":"system","content":"x","id":"m"}"#;
    assert_eq!(
        Message::read(mixed).unwrap().unwrap().to_json().as_str(),
        r#"{"id":"m","role":"system","content":"x","metadata":{},"new":1}"#
    );
}

#[test]
fn tool_calls_keep_what_they_hold() {
    let message = check(concat!(
        r#"{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"n","#,
        r#""arguments":"{\"a\""},"encryptedValue":"v","metadata":{"k":null},"new":1}]}"#,
    ));
    assert_eq!(message.tool_calls()[0].arguments.as_escaped(), r#"{\"a\""#);
    assert_eq!(
        check(r#"{"id":"m","role":"reasoning","content":""}"#).tool_calls(),
        []
    );
}

#[test]
fn an_undescribed_role_is_no_message_and_no_error() {
    assert_eq!(Message::read(r#"{"id":1,"role":"wizard"}"#), Ok(None));
    assert_eq!(Message::read(r#"{"id":"m"}"#), Ok(None));
    assert!(Message::read("[]").is_err());
}
