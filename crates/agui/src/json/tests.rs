use proptest::prelude::*;
use serde_json::json;

use super::*;

#[track_caller]
fn check(json: &str, expected: Result<&str, JsonError>) {
    let found = RawJson::parse(json).map(|json| json.to_string());
    assert_eq!(found, expected.map(str::to_owned), "{json}");
}

fn repeated(name: &str) -> Result<&'static str, JsonError> {
    Err(JsonError::RepeatedMember { name: name.into() })
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn text_is_kept_but_for_what_lies_around_and_between_lines() {
    check(
        r#"{"b": 1.50, "a":"é\u00e9"}"#,
        Ok(r#"{"b": 1.50, "a":"é\u00e9"}"#),
    );
    check(
        " \r\n 12345678901234567890123 \t",
        Ok("12345678901234567890123"),
    );
    check("{\r\n  \"a\": [\n1,\r2]\n}", Ok(r#"{  "a": [1,2]}"#));
    check(r#""\n\r""#, Ok(r#""\n\r""#));
}

#[test]
fn half_a_surrogate_pair_is_kept_in_strings_and_refused_in_names() {
    check(r#"{"delta":"\ud83d"}"#, Ok(r#"{"delta":"\ud83d"}"#));
    check(r#"{"\ud83d":1}"#, Err(JsonError::HalfSurrogate));
}

#[test]
fn malformed_text_is_refused_with_its_place() {
    let refused = RawJson::parse("\n{\"a\":\n tru}").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "JSON is malformed at line 3 column 5: expected ident"
    );
    for json in [
        "",
        "nul",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{'a':1}",
        "01",
        "1.",
        "\"\u{1}\"",
        "\"\\x\"",
        "1 2",
        "\u{a0}1",
    ] {
        assert!(
            matches!(RawJson::parse(json), Err(JsonError::Syntax { .. })),
            "{json}"
        );
    }
}

#[test]
fn nesting_is_bounded() {
    assert!(RawJson::parse(&nested(DEPTH_MAX)).is_ok());
    let too_deep = JsonError::TooDeep { max: DEPTH_MAX };
    check(&nested(DEPTH_MAX + 1), Err(too_deep.clone()));
    check(&nested(60_000), Err(too_deep));
    check(
        &format!("\"{}\"", "[".repeat(100)),
        Ok(&format!("\"{}\"", "[".repeat(100))),
    );
}

#[test]
fn what_a_hub_builds_may_nest_a_little_deeper() {
    assert!(RawJson::parse_built(&nested(BUILT_DEPTH_MAX)).is_ok());
    let too_deep = JsonError::TooDeep {
        max: BUILT_DEPTH_MAX,
    };
    assert_eq!(
        RawJson::parse_built(&nested(BUILT_DEPTH_MAX + 1)),
        Err(too_deep)
    );
}

#[test]
fn repeated_names_are_refused_within_one_object_only() {
    check(r#"{"a":1,"b":2,"a":3}"#, repeated("a"));
    check(r#"{"a":1,"\u0061":3}"#, repeated("a"));
    check(r#"[{"x":{"":1,"":2}}]"#, repeated(""));
    check(
        r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#,
        Ok(r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#),
    );
    check(r#"{"b":"a","a":"b"}"#, Ok(r#"{"b":"a","a":"b"}"#));
}

#[test]
fn a_repeated_name_among_many_is_found() {
    let members: Vec<_> = (0..1000)
        .map(|at| format!("\"n{at}\":{{\"x\":1}}"))
        .collect();
    let all = members.join(",");
    assert!(RawJson::parse(&format!("{{{all}}}")).is_ok());
    check(&format!("{{{all},\"n500\":0}}"), repeated("n500"));
}

#[test]
fn a_value_is_taken_only_if_it_can_be_held() {
    let value = |json: &str| RawJson::parse(json).unwrap().to_value();
    assert_eq!(
        value(r#"{"a":[1,-2.5,null]}"#).unwrap(),
        json!({"a": [1, -2.5, null]})
    );
    assert_eq!(
        value("123456789012345678901").unwrap(),
        json!(123456789012345678901.0)
    );
    assert_eq!(
        value("[1e999]").unwrap_err().to_string(),
        "JSON value at column 6 cannot be held: number out of range"
    );
    assert!(matches!(
        value(r#""\ud83d""#),
        Err(JsonError::NoValue { .. })
    ));
}

#[test]
fn it_passes_through_serde_verbatim() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Frame {
        event: RawJson,
    }
    let text = r#"{"event":{"n": 1.10 , "s":"\u00e9"}}"#;
    let frame: Frame = serde_json::from_str(text).unwrap();
    assert_eq!(frame.event.as_str(), r#"{"n": 1.10 , "s":"\u00e9"}"#);
    assert_eq!(serde_json::to_string(&frame).unwrap(), text);
    assert!(serde_json::from_str::<Frame>(r#"{"event":{"a":1,"a":2}}"#).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..6)
                .prop_map(|all| Value::from(Map::from_iter(all))),
        ]
    })
}

proptest! {
    #[test]
    fn what_was_written_reads_back(value in any_json()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(RawJson::parse(&pretty).unwrap().to_value().unwrap(), value.clone());
        prop_assert_eq!(RawJson::from_value(&value).to_value().unwrap(), value);
    }

    /// Damaged text without backslashes, so that names stay unique and pairs whole.
    #[test]
    fn syntax_is_accepted_as_serde_json_accepts_it(value in any_json(), cut in any::<prop::sample::Index>(), put in "[\\[\\]{},:\"0-9a-z. -]?") {
        let mut text = value.to_string().replace('\\', "");
        let mut at = cut.index(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, &put);
        match RawJson::parse(&text) {
            Ok(json) => if let Err(JsonError::NoValue { reason, .. }) = json.to_value() {
                prop_assert_eq!(&*reason, "number out of range");
            },
            Err(JsonError::Syntax { .. }) => prop_assert!(serde_json::from_str::<Value>(&text).is_err()),
            Err(JsonError::RepeatedMember { .. }) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn arbitrary_text_is_taken_or_refused(text in "[\\[\\]{},:\"\\\\u0-9ad. \n-]{0,40}") {
        let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        prop_assert_eq!(!matches!(RawJson::parse(&text), Err(JsonError::Syntax { .. })), is_json);
    }
}
