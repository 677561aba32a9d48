use super::*;

#[test]
fn an_interrupt_is_read_with_its_bytes() {
    let json = concat!(
        r#"{"id":"i","reason":"tool_call","message":"m","toolCallId":"c","responseSchema":{"type": "object"},"#,
        r#""expiresAt":"later","metadata":{},"subagentRunId":"s","new":null}"#,
    );
    let interrupt = Interrupt::read(json).unwrap();
    assert_eq!(interrupt.json.as_str(), json);
    assert_eq!(
        interrupt.response_schema.as_ref().map(RawJson::as_str),
        Some(r#"{"type": "object"}"#)
    );
    assert_eq!(
        (
            interrupt.call.unwrap().as_str(),
            interrupt.owner.unwrap().as_str()
        ),
        ("c", "s")
    );
    assert_eq!(
        (
            interrupt.expires_at.as_deref(),
            interrupt.message.as_deref()
        ),
        (Some("later"), Some("m"))
    );
}

#[test]
fn a_wrong_interrupt_is_refused() {
    for (json, message) in [
        (r#"{"reason":"x"}"#, "`id` is missing"),
        (r#"{"id":"i"}"#, "`reason` is missing"),
        (
            r#"{"id":"i","reason":"x","responseSchema":true}"#,
            "`responseSchema` must be an object, found a boolean",
        ),
        (
            r#"{"id":"i","reason":"x","metadata":null}"#,
            "`metadata` must be an object, found null",
        ),
        (
            r#"{"id":"i","reason":"x","expiresAt":5}"#,
            "`expiresAt` must be a string, found a number",
        ),
    ] {
        assert_eq!(Interrupt::read(json).unwrap_err().to_string(), message);
    }
}

#[test]
fn an_answer_is_read_and_a_null_payload_is_none() {
    let entry =
        ResumeEntry::read(r#"{"interruptId":"i","status":"resolved","payload":{"ok": true}}"#)
            .unwrap();
    assert_eq!(
        (entry.status, entry.status.as_str()),
        (ResumeStatus::Resolved, "resolved")
    );
    assert_eq!(
        entry.payload.as_ref().map(RawJson::as_str),
        Some(r#"{"ok": true}"#)
    );
    let entry =
        ResumeEntry::read(r#"{"interruptId":"i","status":"cancelled","payload":null}"#).unwrap();
    assert_eq!(
        (entry.payload, entry.json.as_str()),
        (None, r#"{"interruptId":"i","status":"cancelled"}"#)
    );
    assert_eq!(
        ResumeEntry::read(r#"{"interruptId":"i","status":"approved"}"#)
            .unwrap_err()
            .to_string(),
        "`status` must be one of `resolved`, `cancelled`, found `approved`"
    );
}
