//! Patches as the reference client applies them, within bounds.

use serde_json::{Value, json};
use threadcast_agui::event::EventBody;
use threadcast_agui::json::RawJson;
use threadcast_agui::patch::Patch;
use threadcast_run_registry::patch::{
    Document, PatchFailure, PatchProblem, StateLimits, apply_patch,
};

use crate::support::event;
use threadcast_run_registry::histories::Random;

fn patch(operations: &Value) -> Patch {
    match event(&json!({"type": "STATE_DELTA", "delta": operations}).to_string()).body {
        EventBody::StateDelta { delta } => delta,
        other => panic!("{other:?} is no delta"),
    }
}

fn apply(doc: &Value, operations: &Value) -> Result<Value, PatchFailure> {
    apply_patch(doc, &patch(operations), &StateLimits::default())
}

#[track_caller]
fn applies(doc: &Value, operations: &Value, expected: &Value) {
    let found = apply(doc, operations).unwrap_or_else(|failure| panic!("{failure}"));
    // Compared as text, for members keep their order.
    assert_eq!(
        found.to_string(),
        expected.to_string(),
        "{operations} on {doc}"
    );
}

#[track_caller]
fn fails(doc: &Value, operations: &Value) -> PatchFailure {
    match apply(doc, operations) {
        Ok(found) => panic!("{operations} on {doc} gives {found}"),
        Err(failure) => failure,
    }
}

#[test]
fn operations_change_what_they_name() {
    applies(&json!({"a": 1}), &json!([]), &json!({"a": 1}));
    applies(
        &json!({"a": 1}),
        &json!([{"op": "add", "path": "/b", "value": null}]),
        &json!({"a": 1, "b": null}),
    );
    applies(
        &json!({"a": 1, "b": 2}),
        &json!([{"op": "add", "path": "/a", "value": 3}]),
        &json!({"a": 3, "b": 2}),
    );
    applies(
        &json!([1, 2]),
        &json!([{"op": "add", "path": "/0", "value": 0}]),
        &json!([0, 1, 2]),
    );
    applies(
        &json!([1]),
        &json!([{"op": "add", "path": "/1", "value": 2}]),
        &json!([1, 2]),
    );
    applies(
        &json!([1]),
        &json!([{"op": "add", "path": "/-", "value": 2}]),
        &json!([1, 2]),
    );
    applies(
        &json!({"a": [1, 2, 3]}),
        &json!([{"op": "remove", "path": "/a/1"}]),
        &json!({"a": [1, 3]}),
    );
    applies(
        &json!({"a~/b": 1}),
        &json!([{"op": "replace", "path": "/a~0~1b", "value": 2}]),
        &json!({"a~/b": 2}),
    );
    applies(
        &json!({"": 1}),
        &json!([{"op": "replace", "path": "/", "value": 2}]),
        &json!({"": 2}),
    );
    applies(
        &json!({"a": {"b": 1}}),
        &json!([{"op": "move", "from": "/a/b", "path": "/c"}]),
        &json!({"a": {}, "c": 1}),
    );
    applies(
        &json!({"a": 1}),
        &json!([{"op": "move", "from": "/a", "path": "/a"}]),
        &json!({"a": 1}),
    );
    applies(
        &json!({"a": [1]}),
        &json!([{"op": "copy", "from": "/a", "path": "/a/-"}]),
        &json!({"a": [1, [1]]}),
    );
    applies(
        &json!({"constructor": 1}),
        &json!([{"op": "replace", "path": "/constructor", "value": 2}]),
        &json!({"constructor": 2}),
    );
}

#[test]
fn the_root_is_a_place_like_any_other() {
    applies(
        &json!({"a": 1}),
        &json!([{"op": "replace", "path": "", "value": [1]}]),
        &json!([1]),
    );
    applies(
        &json!({"a": 1}),
        &json!([{"op": "add", "path": "", "value": "x"}]),
        &json!("x"),
    );
    applies(
        &json!({"a": 1}),
        &json!([{"op": "remove", "path": ""}]),
        &json!(null),
    );
    applies(
        &json!({"a": 1}),
        &json!([{"op": "move", "from": "", "path": ""}]),
        &json!({"a": 1}),
    );
    applies(
        &json!({"a": {"b": 1}}),
        &json!([{"op": "move", "from": "/a", "path": ""}]),
        &json!({"b": 1}),
    );
    applies(
        &json!({"a": 1}),
        &json!([{"op": "copy", "from": "", "path": "/b"}]),
        &json!({"a": 1, "b": {"a": 1}}),
    );
    applies(
        &json!({"a": 1}),
        &json!([{"op": "test", "path": "", "value": {"a": 1.0}}]),
        &json!({"a": 1}),
    );
}

#[test]
fn removing_keeps_the_order_of_the_others() {
    let doc = json!({"a": 1, "b": 2, "c": 3, "d": 4});
    applies(
        &doc,
        &json!([{"op": "remove", "path": "/a"}]),
        &json!({"b": 2, "c": 3, "d": 4}),
    );
    applies(
        &doc,
        &json!([{"op": "move", "from": "/b", "path": "/e"}]),
        &json!({"a": 1, "c": 3, "d": 4, "e": 2}),
    );
}

#[test]
fn what_leads_nowhere_fails() {
    for (doc, op) in [
        (json!({}), json!({"op": "remove", "path": "/a"})),
        (
            json!({}),
            json!({"op": "replace", "path": "/a", "value": 1}),
        ),
        (json!({}), json!({"op": "add", "path": "/a/b", "value": 1})),
        (json!({}), json!({"op": "copy", "from": "/a", "path": "/b"})),
        (json!({}), json!({"op": "move", "from": "/a", "path": "/b"})),
        (json!({}), json!({"op": "move", "from": "/a", "path": "/a"})),
        (
            json!({}),
            json!({"op": "test", "path": "/a", "value": null}),
        ),
        (json!([1]), json!({"op": "remove", "path": "/1"})),
        (json!([1]), json!({"op": "remove", "path": "/-"})),
        (
            json!([1]),
            json!({"op": "replace", "path": "/-", "value": 1}),
        ),
        (
            json!([1]),
            json!({"op": "replace", "path": "/1", "value": 1}),
        ),
        (json!([1]), json!({"op": "add", "path": "/2", "value": 1})),
        (json!([1]), json!({"op": "add", "path": "/x", "value": 1})),
        (json!([1]), json!({"op": "add", "path": "/00", "value": 1})),
        (
            json!([1, 2]),
            json!({"op": "replace", "path": "/01", "value": 1}),
        ),
        (json!([1, 2]), json!({"op": "remove", "path": "/+1"})),
        (json!([1, 2]), json!({"op": "remove", "path": "/"})),
        (
            json!([1]),
            json!({"op": "remove", "path": "/18446744073709551616"}),
        ),
        (
            json!("text"),
            json!({"op": "add", "path": "/x", "value": 1}),
        ),
        (
            json!("text"),
            json!({"op": "test", "path": "/0", "value": "t"}),
        ),
        (json!(null), json!({"op": "add", "path": "/x", "value": 1})),
    ] {
        let failure = fails(&doc, &json!([op]));
        assert!(
            matches!(failure.problem, PatchProblem::Unresolved { .. }),
            "{failure}"
        );
    }
}

#[test]
fn nothing_reaches_a_prototype() {
    for op in [
        json!({"op": "add", "path": "/__proto__/x", "value": 1}),
        json!({"op": "add", "path": "/a/__proto__", "value": 1}),
        json!({"op": "replace", "path": "/constructor/prototype", "value": 1}),
        json!({"op": "remove", "path": "/a/constructor/prototype/x"}),
        json!({"op": "test", "path": "/__proto__", "value": 1}),
        json!({"op": "copy", "from": "/__proto__", "path": "/b"}),
        json!({"op": "move", "from": "/a", "path": "/__proto__"}),
    ] {
        let doc = json!({"a": {"constructor": {"prototype": {"x": 1}}}, "constructor": {"prototype": 1}, "__proto__": {}});
        assert_eq!(fails(&doc, &json!([op])).problem, PatchProblem::Forbidden);
    }
}

#[test]
fn a_value_does_not_move_into_itself() {
    let problem = fails(
        &json!({"a": {}}),
        &json!([{"op": "move", "from": "/a", "path": "/a/b"}]),
    )
    .problem;
    assert_eq!(problem, PatchProblem::IntoItself { from: "/a".into() });
    let problem = fails(
        &json!({"a": {}}),
        &json!([{"op": "move", "from": "", "path": "/a"}]),
    )
    .problem;
    assert_eq!(problem, PatchProblem::IntoItself { from: "".into() });
    applies(
        &json!({"a": 1, "ab": {}}),
        &json!([{"op": "move", "from": "/a", "path": "/ab/c"}]),
        &json!({"ab": {"c": 1}}),
    );
}

#[test]
fn tests_compare_by_value() {
    let doc = json!({"a": {"x": 1, "y": [1.0, "e"]}});
    let passes =
        |value: Value| apply(&doc, &json!([{"op": "test", "path": "/a", "value": value}])).is_ok();
    assert!(passes(json!({"y": [1, "e"], "x": 1.0})));
    assert!(!passes(json!({"x": 1})));
    assert!(!passes(json!({"x": 1, "y": [1, "e"], "z": null})));
    assert!(!passes(json!({"x": "1", "y": [1, "e"]})));
    assert!(!passes(json!(null)));
}

#[test]
fn a_patch_applies_as_a_whole_or_not_at_all() {
    let operations = json!([{"op": "replace", "path": "/a", "value": 2}, {"op": "replace", "path": "/zz", "value": 2}]);
    let failure = fails(&json!({"a": 1}), &operations);
    assert_eq!(
        failure.to_string(),
        "operation 1 at `/zz`: `/zz` leads nowhere"
    );
    // What moved to the root comes back from there.
    fails(
        &json!({"a": {"b": 1}, "c": 2}),
        &json!([{"op": "move", "from": "/a", "path": ""}, {"op": "test", "path": "/zz", "value": 1}]),
    );
}

#[test]
fn a_document_grows_to_its_limit_and_no_further() {
    let max = StateLimits::default().bytes_max;
    let text = "x".repeat(max - r#"{"a":""}"#.len());
    applies(
        &json!({}),
        &json!([{"op": "add", "path": "/a", "value": text}]),
        &json!({"a": text}),
    );
    let failure = fails(
        &json!({}),
        &json!([{"op": "add", "path": "/ab", "value": text}]),
    );
    assert_eq!(
        failure.problem,
        PatchProblem::TooLarge {
            found: max + 1,
            max
        }
    );
    let failure = fails(
        &json!({"a": 1}),
        &json!([{"op": "replace", "path": "/a", "value": format!("{text}x")}]),
    );
    assert_eq!(
        failure.problem,
        PatchProblem::TooLarge {
            found: max + 1,
            max
        }
    );
    // A document that a snapshot made larger may still shrink.
    let large = json!({"a": format!("{text}{text}"), "b": 1});
    applies(
        &large,
        &json!([{"op": "replace", "path": "/a", "value": text}]),
        &json!({"a": text, "b": 1}),
    );
    applies(
        &large,
        &json!([{"op": "remove", "path": "/a"}]),
        &json!({"b": 1}),
    );
    fails(
        &large,
        &json!([{"op": "replace", "path": "/b", "value": 22}]),
    );
}

#[test]
fn copies_cannot_multiply() {
    let mut operations = vec![json!({"op": "add", "path": "/0", "value": ["0123456789"]})];
    operations.extend((0..22).map(|_| json!({"op": "copy", "from": "", "path": "/-"})));
    let failure = fails(&json!([]), &json!(operations));
    assert!(
        matches!(
            failure.problem,
            PatchProblem::TooLarge { .. } | PatchProblem::CopiesTooMuch { .. }
        ),
        "{failure}"
    );
    // In place of each other they never add up, but the work does.
    let many = vec![json!({"op": "copy", "from": "/a", "path": "/b"}); 400];
    let failure = fails(&json!({"a": "x".repeat(500_000)}), &json!(many));
    assert_eq!(
        (failure.operation, failure.problem),
        (2, PatchProblem::CopiesTooMuch { max: 1 << 20 })
    );
}

#[test]
fn a_document_stays_shallow() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let max = StateLimits::default().depth_max;
    assert!(
        apply(
            &json!({}),
            &json!([{"op": "add", "path": "/a", "value": nested(max - 3)}])
        )
        .is_ok()
    );
    let doc = json!({"a": nested(max - 3), "b": {}});
    let failure = fails(
        &doc,
        &json!([{"op": "copy", "from": "/a", "path": format!("/a{}", "/0".repeat(max - 4))}]),
    );
    assert_eq!(
        failure.problem,
        PatchProblem::TooDeep {
            found: 2 * max - 6,
            max
        }
    );
    let failure = fails(
        &json!({"a": nested(max - 1), "b": {}}),
        &json!([{"op": "move", "from": "/a", "path": "/b/c"}]),
    );
    assert_eq!(
        failure.problem,
        PatchProblem::TooDeep {
            found: max + 1,
            max
        }
    );
    applies(
        &json!({"b": {"c": nested(max - 2)}}),
        &json!([{"op": "move", "from": "/b/c", "path": "/b"}]),
        &json!({"b": nested(max - 2)}),
    );
    let deepest = json!({"a": nested(max - 1)});
    applies(
        &json!({}),
        &json!([{"op": "add", "path": "/a", "value": nested(max - 1)}]),
        &deepest,
    );
    // A client sends the state back inside a run input, inside a frame.
    let input = json!({"threadId": "t", "runId": "r", "messages": [], "state": deepest});
    let frame = json!({"type": "run", "input": input});
    assert!(RawJson::parse(&frame.to_string()).is_ok());
}

#[test]
fn a_patch_has_a_number_of_operations() {
    let operations = |count| json!(vec![json!({"op": "test", "path": "", "value": {}}); count]);
    assert!(apply(&json!({}), &operations(500)).is_ok());
    let failure = fails(&json!({}), &operations(501));
    assert_eq!(
        failure.problem,
        PatchProblem::TooManyOperations {
            found: 501,
            max: 500
        }
    );
}

/// Random patches on random documents, several each: nothing panics, a patch that fails leaves
/// every byte as it was, and the length is always that of the text.
#[test]
fn random_patches_are_safe_counted_and_whole() {
    let limits = StateLimits {
        bytes_max: 60,
        operations_max: 8,
        depth_max: 5,
    };
    let (mut applied, mut compared, mut refused_late) = (0, 0, 0);
    for seed in 0..10_000 {
        let mut random = Random::new(seed);
        let mut doc = Document::new(some_value(&mut random, 3));
        for _ in 0..3 {
            let operations: Vec<Value> = (0..=random.below(3))
                .map(|_| some_operation(&mut random))
                .collect();
            let before = doc.value().to_string();
            let outcome = doc.apply(&patch(&json!(operations)), &limits);
            let after = doc.value().to_string();
            let what = || format!("seed {seed}: {operations:?} on {before} gives {after}");
            assert_eq!(doc.bytes(), after.len(), "{}", what());
            match outcome {
                Ok(()) => {
                    applied += 1;
                    let max = limits.bytes_max.max(before.len());
                    assert!(after.len() <= max, "{}", what());
                    if let Some(others) = others(&before, &operations) {
                        assert_eq!(others, *doc.value(), "{}", what());
                        compared += 1;
                    }
                }
                Err(failure) => {
                    refused_late += usize::from(failure.operation > 0);
                    assert_eq!(before, after, "{}", what());
                }
            }
        }
    }
    assert!(applied > 200, "{applied} patches applied");
    assert!(compared > 200, "{compared} patches compared");
    assert!(refused_late > 200, "{refused_late} patches failed midway");
}

/// What another implementation makes of a patch that applies, but for the order of members. It
/// knows no root to remove.
fn others(before: &str, operations: &[Value]) -> Option<Value> {
    let mut doc = serde_json::from_str(before).unwrap();
    let operations: json_patch::Patch = serde_json::from_value(json!(operations)).unwrap();
    json_patch::patch_unsafe(&mut doc, &operations).ok()?;
    Some(doc)
}

/// What a patch costs is a matter of the patch: with a copy of the document for each this would
/// take minutes.
#[test]
fn many_small_patches_of_a_large_document_are_cheap() {
    let row = |at: usize| {
        (
            format!("k{at}"),
            json!({"a": at, "text": "some text of a row"}),
        )
    };
    let mut doc = Document::new(Value::Object((0..20_000).map(row).collect()));
    let failing =
        json!([{"op": "replace", "path": "/k1/a", "value": -1}, {"op": "remove", "path": "/zz"}]);
    let failing = patch(&failing);
    for number in 0..20_000 {
        let small = json!([{"op": "replace", "path": "/k1/a", "value": number}]);
        doc.apply(&patch(&small), &StateLimits::default()).unwrap();
        doc.apply(&failing, &StateLimits::default()).unwrap_err();
    }
    assert_eq!(doc.value()["k1"]["a"], 19_999);
    assert_eq!(doc.bytes(), doc.value().to_string().len());
}

fn some_value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 7 }) {
        0 => json!(null),
        1 => json!(random.below(3)),
        2 => json!("text\n"),
        3 => json!(1.5),
        4 => (0..random.below(3))
            .map(|_| some_value(random, depth - 1))
            .collect(),
        _ => {
            let names = ["a", "b", "\"c\""];
            (0..random.below(3))
                .map(|_| {
                    (
                        (*random.pick(&names)).to_owned(),
                        some_value(random, depth - 1),
                    )
                })
                .collect()
        }
    }
}

fn some_operation(random: &mut Random) -> Value {
    let paths = [
        "", "/a", "/b", "/a/b", "/a/0", "/0", "/-", "/a/-", "/\"c\"", "/a/a/a", "/1", "/b/a",
    ];
    let (path, from) = (*random.pick(&paths), *random.pick(&paths));
    let value = some_value(random, 2);
    match random.below(6) {
        0 => json!({"op": "add", "path": path, "value": value}),
        1 => json!({"op": "copy", "from": from, "path": path}),
        2 => json!({"op": "move", "from": from, "path": path}),
        3 => json!({"op": "remove", "path": path}),
        4 => json!({"op": "replace", "path": path, "value": value}),
        _ => json!({"op": "test", "path": path, "value": value}),
    }
}
