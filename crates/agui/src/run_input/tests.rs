use super::*;

fn read(members: &str) -> Result<RunInput, ReadError> {
    RunInput::read(&format!(r#"{{"threadId":"t","runId":"r"{members}}}"#))
}

#[test]
fn a_submission_needs_ids_and_messages_only() {
    let input = read(r#","messages":[]"#).unwrap();
    assert_eq!((input.thread.as_str(), input.run.as_str()), ("t", "r"));
    assert_eq!(
        input.json.as_str(),
        r#"{"threadId":"t","runId":"r","messages":[]}"#
    );
    assert!(
        input.state.is_none()
            && input.tools.is_none()
            && input.context.is_none()
            && input.resume.is_empty()
    );
    assert_eq!(read("").unwrap_err().to_string(), "`messages` is missing");
    assert_eq!(
        RunInput::read(r#"{"runId":"r","messages":[]}"#)
            .unwrap_err()
            .to_string(),
        "`threadId` is missing"
    );
}

#[test]
fn described_members_are_read() {
    let input = read(concat!(
        r#","protocolVersion":"1.0","parentRunId":"p","state":{"n": 1.0},"tools":[{"name":"n","description":"","parameters":{}}],"#,
        r#""context":[{"description":"d","value":"v"}],"forwardedProps":{"x": 1},"new":null,"#,
        r#""messages":[{"id":"u","role":"user","content":"x"},{"id":"w","role":"wizard"}],"#,
        r#""resume":[{"interruptId":"i","status":"cancelled"}]"#,
    ))
    .unwrap();
    assert_eq!(input.protocol_version.as_deref(), Some("1.0"));
    assert_eq!(
        input.state.as_ref().map(RawJson::as_str),
        Some(r#"{"n": 1.0}"#)
    );
    assert_eq!(
        input.forwarded_props.as_ref().map(RawJson::as_str),
        Some(r#"{"x": 1}"#)
    );
    assert_eq!(
        input.context.as_ref().map(RawJson::as_str),
        Some(r#"[{"description":"d","value":"v"}]"#)
    );
    assert_eq!((input.messages.len(), input.resume.len()), (1, 1));
}

#[test]
fn activity_messages_are_left_out() {
    let input = read(concat!(
        r#","messages":[{"id":"a","role":"activity","activityType":"a","content":{}},"#,
        r#"{"id":"r","role":"reasoning","content":"x"}]"#,
    ))
    .unwrap();
    assert_eq!(
        input.messages.iter().map(Message::role).collect::<Vec<_>>(),
        ["reasoning"]
    );
}

#[test]
fn nulls_read_as_absent_where_older_clients_send_them() {
    let input = read(r#","messages":[],"state":null,"forwardedProps":null"#).unwrap();
    assert_eq!((input.state, input.forwarded_props), (None, None));
    assert_eq!(
        input.json.as_str(),
        r#"{"threadId":"t","runId":"r","messages":[],"state":null}"#
    );
}

#[test]
fn wrong_members_are_refused() {
    for (members, at) in [
        (r#","messages":null"#, "messages"),
        (r#","messages":[],"tools":null"#, "tools"),
        (
            r#","messages":[],"tools":[{"name":"n"}]"#,
            "tools[0].description",
        ),
        (
            r#","messages":[],"context":[{"description":"d","value":1}]"#,
            "context[0].value",
        ),
        (
            r#","messages":[],"resume":[{"interruptId":"i","status":"maybe"}]"#,
            "resume[0].status",
        ),
        (r#","messages":[],"parentRunId":"""#, "parentRunId"),
        (r#","messages":[],"protocolVersion":1"#, "protocolVersion"),
    ] {
        assert_eq!(read(members).unwrap_err().at, at);
    }
}
