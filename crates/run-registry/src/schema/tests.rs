use super::*;

fn judge_payload(schema: &str, payload: Option<&str>) -> Verdict {
    let interrupt = format!(r#"{{"id":"i","reason":"x","responseSchema":{schema}}}"#);
    let payload = payload
        .map(|payload| format!(r#","payload":{payload}"#))
        .unwrap_or_default();
    let entry = format!(r#"{{"interruptId":"i","status":"resolved"{payload}}}"#);
    judge(
        &Interrupt::read(&interrupt).unwrap(),
        &ResumeEntry::read(&entry).unwrap(),
    )
}

#[track_caller]
fn invalid(schema: &str, payload: &str, paths: &[&str]) {
    let Verdict::Invalid(errors) = judge_payload(schema, Some(payload)) else {
        panic!("{payload} is valid")
    };
    let mut found: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, paths, "{errors:?}");
    assert!(errors.iter().all(|error| !error.message.is_empty()));
}

#[track_caller]
fn unchecked(schema: &str, payload: &str, reason: &str) {
    match judge_payload(schema, Some(payload)) {
        Verdict::Unchecked(found) => assert!(found.contains(reason), "{found}"),
        verdict => panic!("{verdict:?}"),
    }
}

const APPROVAL: &str = r#"{"type":"object","required":["approved"],"additionalProperties":false,
    "properties":{"approved":{"type":"boolean"},"amount":{"type":"number","maximum":10},"note":{"type":"string","pattern":"^(?=a)"}}}"#;

#[test]
fn a_payload_that_fits_is_valid() {
    assert_eq!(
        judge_payload(
            APPROVAL,
            Some(r#"{"approved":true,"amount":9.5,"note":"ab"}"#)
        ),
        Verdict::Valid
    );
    assert_eq!(judge_payload("{}", None), Verdict::Valid);
    assert_eq!(
        judge_payload(r#"{"type":["object","null"]}"#, None),
        Verdict::Valid
    );
}

#[test]
fn every_violation_is_told_with_its_path() {
    invalid(
        APPROVAL,
        r#"{"approved":"yes","amount":11,"note":"b"}"#,
        &["/amount", "/approved", "/note"],
    );
    invalid(APPROVAL, r#"{"approved":true,"extra":1}"#, &[""]);
    invalid(APPROVAL, "[]", &[""]);
    let list =
        r#"{"type":"array","items":{"type":"object","properties":{"a~/b":{"type":"string"}}}}"#;
    invalid(list, r#"[{"a~/b":"x"},{"a~/b":1}]"#, &["/1/a~0~1b"]);
}

#[test]
fn a_missing_payload_is_told_as_such() {
    let expected = vec![PayloadError::whole("the interrupt asks for a payload")];
    assert_eq!(judge_payload(APPROVAL, None), Verdict::Invalid(expected));
}

#[test]
fn a_payload_that_is_too_large_is_invalid_whatever_the_schema() {
    let payload = format!("\"{}\"", "x".repeat(PAYLOAD_BYTES_MAX));
    invalid(r#"{"type":"string"}"#, &payload, &[""]);
}

#[test]
fn a_schema_that_cannot_be_used_does_not_block() {
    unchecked(r#"{"type":"nonsense"}"#, "1", "nonsense");
    unchecked(
        r#"{"$ref":"https://example.com/schema.json"}"#,
        "1",
        "leaves",
    );
    unchecked(r#"{"$ref":"file:///etc/passwd"}"#, "1", "leaves");
    unchecked(r#"{"$ref":"other.json#/a"}"#, "1", "leaves");
    unchecked(r##"{"$ref":"#/$defs/none"}"##, "1", "nowhere");
    unchecked(
        r##"{"properties":{"a":{"$id":"http://x/","$ref":"#/a"}}}"##,
        "1",
        "base",
    );
    let large = format!(r#"{{"description":"{}"}}"#, "x".repeat(SCHEMA_BYTES_MAX));
    unchecked(&large, "1", "bytes");
    let refs = vec![r##"{"$ref":"#/$defs/a"}"##; 201].join(",");
    unchecked(
        &format!(r#"{{"anyOf":[{refs}],"$defs":{{"a":{{}}}}}}"#),
        "1",
        "201 references",
    );
}

#[test]
fn circles_are_seen_before_they_are_walked() {
    unchecked(r##"{"$ref":"#"}"##, "1", "circle");
    unchecked(r##"{"allOf":[{"$ref":"#"}]}"##, "1", "circle");
    unchecked(
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"if":{"$ref":"#/$defs/a"}}}}"##,
        "1",
        "circle",
    );
}

#[test]
fn a_schema_may_refer_to_itself_further_inside() {
    let tree = r##"{"type":"object","required":["v"],"properties":{"v":{"type":"number"},"left":{"$ref":"#"},"right":{"$ref":"#"}}}"##;
    assert_eq!(
        judge_payload(tree, Some(r#"{"v":1,"left":{"v":2,"right":{"v":3}}}"#)),
        Verdict::Valid
    );
    invalid(
        tree,
        r#"{"v":1,"left":{"v":2,"right":{"v":"3"}}}"#,
        &["/left/right/v"],
    );
    let deep = format!(
        "{}{{\"v\":1}}{}",
        r#"{"v":1,"left":"#.repeat(50),
        "}".repeat(50)
    );
    assert_eq!(judge_payload(tree, Some(&deep)), Verdict::Valid);
}

#[test]
fn references_that_fan_out_are_not_followed() {
    let defs = (0..20).map(|at| {
        let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, at + 1);
        format!(r#""d{at}":{{"allOf":[{next},{next}]}}"#)
    });
    let defs = defs.collect::<Vec<_>>().join(",");
    unchecked(
        &format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{defs},"d20":{{}}}}}}"##),
        "1",
        "fan out",
    );
    let by_level =
        r##"{"allOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]}"##;
    let deep = format!("{}1{}", r#"{"x":"#.repeat(40), "}".repeat(40));
    unchecked(by_level, &deep, "fan out");
    assert_eq!(
        judge_payload(by_level, Some(r#"{"x":{"x":1}}"#)),
        Verdict::Valid
    );
}

#[test]
fn a_pattern_that_backtracks_without_end_is_given_up() {
    let schema = r#"{"type":"string","pattern":"^(?=(a+)+$)(a|aa)+$\\1"}"#;
    let payload = format!("\"{}b\"", "a".repeat(60));
    match judge_payload(schema, Some(&payload)) {
        Verdict::Unchecked(reason) => assert!(reason.contains("backtracks")),
        Verdict::Invalid(_) => {}
        Verdict::Valid => panic!("the text does not match"),
    }
}

/// Time is not measured: what is bounded is how often parts of a schema look at places.
#[test]
fn a_schema_that_is_large_for_a_large_payload_is_not_used() {
    let schema = |parts: usize| {
        let parts = vec![r#"{"not":{}}"#; parts].join(",");
        format!(r#"{{"items":{{"anyOf":[{parts}]}}}}"#)
    };
    let zeros = |count: usize| format!("[{}]", vec!["0"; count].join(","));
    unchecked(&schema(4801), &zeros(501), "502 places");
    unchecked(&schema(4801), &zeros(100), "101 places");
    let choices = format!(r#"{{"items":{{"enum":{}}}}}"#, zeros(9_000));
    unchecked(&choices, &zeros(1_000), "9002 visits");
    invalid(&schema(200), &zeros(2), &["/0", "/1"]);
    invalid(&schema(4801), &zeros(1), &["/0"]);
    let flat = r#"{"items":{"type":"number"}}"#;
    assert_eq!(judge_payload(flat, Some(&zeros(30_000))), Verdict::Valid);
}
