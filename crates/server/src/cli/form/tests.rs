use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

/// The approval schema that pydantic-ai sends.
fn approval() -> Value {
    json!({
        "type": "object",
        "properties": {
            "approved": {"type": "boolean", "description": "Whether the call is made"},
            "editedArgs": {"anyOf": [{"type": "object"}, {"type": "null"}], "default": null, "title": "Edited Args"},
            "reason": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}
        },
        "required": ["approved"]
    })
}

#[track_caller]
fn check_questions(schema: &Value, expected: &Expect) {
    let form = Form::of(Some(schema));
    let questions: Vec<String> = form.fields().iter().map(Field::question).collect();
    expected.assert_eq(&questions.join("\n"));
}

#[test]
fn an_object_is_asked_member_by_member() {
    check_questions(
        &approval(),
        &expect![[r#"
            approved: Whether the call is made [y/n]: 
            editedArgs: Edited Args [JSON, empty to skip]: 
            reason [text, empty to skip]: "#]],
    );
}

#[test]
fn kinds_choices_defaults_and_references_show() {
    check_questions(
        &json!({
            "$defs": {"Level": {"enum": ["low", "high"], "title": "How urgent"}},
            "type": "object",
            "properties": {
                "level": {"$ref": "#/$defs/Level"},
                "amount": {"type": "number", "default": 4.5},
                "count": {"type": ["integer", "null"]},
                "how": {"oneOf": [{"const": 1}, {"const": "two"}]},
                "kind": {"const": "refund"},
                "nested": {"type": "object", "properties": {"a": {"type": "string"}}}
            },
            "required": ["level", "kind", "nested"]
        }),
        &expect![[r#"
            level: How urgent [low | high]: 
            amount [number, empty for 4.5]: 
            count [whole number, empty to skip]: 
            how [1 | two, empty to skip]: 
            nested [JSON]: "#]],
    );
}

#[test]
fn what_is_no_object_is_one_question() {
    check_questions(
        &json!({"type": "boolean", "title": "Go on?"}),
        &expect!["Go on? [y/n]: "],
    );
    check_questions(&json!({"type": "array"}), &expect!["[JSON]: "]);
    check_questions(&json!({}), &expect!["[JSON]: "]);
    let form = Form::of(None);
    assert_eq!(
        form.fields()[0].question(),
        "payload as JSON [JSON, empty to skip]: "
    );
    assert_eq!(form.payload(vec![form.fields()[0].read("").unwrap()]), None);
}

#[test]
fn a_schema_that_refers_to_itself_is_asked_as_json() {
    check_questions(&json!({"$ref": "#"}), &expect!["[JSON]: "]);
}

#[track_caller]
fn check_read(schema: &Value, line: &str, expected: Result<Option<Value>, &str>) {
    let field = Field::of("f".to_owned(), schema, true, schema);
    let read = field.read(line).map_err(|error| error.to_string());
    assert_eq!(
        read,
        expected.map_err(str::to_owned),
        "`{line}` for {schema}"
    );
}

#[test]
fn lines_are_read_by_kind() {
    let boolean = json!({"type": "boolean"});
    check_read(&boolean, " Y ", Ok(Some(json!(true))));
    check_read(&boolean, "no", Ok(Some(json!(false))));
    check_read(&boolean, "maybe", Err("type y or n"));
    check_read(&boolean, "", Err("a value is needed"));

    let integer = json!({"type": "integer"});
    check_read(&integer, "-3", Ok(Some(json!(-3))));
    check_read(&integer, "18446744073709551615", Ok(Some(json!(u64::MAX))));
    check_read(&integer, "1.5", Err("type a whole number"));
    check_read(&integer, "three", Err("type a whole number"));

    let number = json!({"type": "number"});
    check_read(&number, "1.5", Ok(Some(json!(1.5))));
    check_read(&number, "\"1\"", Err("type a number"));

    let text = json!({"type": "string"});
    check_read(&text, "  fine with me ", Ok(Some(json!("fine with me"))));
    check_read(&text, "\"\"", Ok(Some(json!(""))));
    check_read(&text, "\"so\" he said", Ok(Some(json!("\"so\" he said"))));
    check_read(
        &json!({"type": "string", "default": "x"}),
        "",
        Ok(Some(json!("x"))),
    );

    let choice = json!({"enum": ["a", 2, true]});
    check_read(&choice, "2", Ok(Some(json!(2))));
    check_read(&choice, "true", Ok(Some(json!(true))));
    check_read(&choice, "b", Err("type one of a, 2, true"));

    let object = json!({"type": "object"});
    check_read(&object, r#"{"a": [1]}"#, Ok(Some(json!({"a": [1]}))));
    check_read(
        &object,
        "{",
        Err("type JSON: EOF while parsing an object at line 1 column 1"),
    );
}

#[test]
fn skipped_members_are_left_out_and_constants_filled_in() {
    let schema = json!({
        "type": "object",
        "properties": {"approved": {"type": "boolean"}, "note": {"type": "string"}, "v": {"const": 1}},
        "required": ["approved", "v"]
    });
    let form = Form::of(Some(&schema));
    assert_eq!(
        form.payload(vec![Some(json!(true)), None]),
        Some(json!({"v": 1, "approved": true}))
    );
}

#[test]
fn a_rejection_is_made_where_the_schema_shows_how() {
    let rejection = |schema: Value| Form::of(Some(&schema)).rejection();
    assert_eq!(rejection(approval()), Some(json!({"approved": false})));
    assert_eq!(rejection(json!({"type": "boolean"})), Some(json!(false)));
    assert_eq!(rejection(json!({"type": "string"})), None);
    assert_eq!(
        rejection(json!({"type": "object", "properties": {"city": {"type": "string"}}})),
        None
    );
    assert_eq!(Form::of(None).rejection(), None);
}
