//! Patches of agents that do not apply, and what the log says of them.

use serde_json::{Value, json};
use threadcast_run_registry::fact::{Fact, FailedOperation};
use threadcast_thread_log::run_status::RunStatus;

use crate::owner::accepted;
use crate::world::{World, finished, started};

fn snapshot(state: &Value) -> String {
    json!({"type": "STATE_SNAPSHOT", "snapshot": state}).to_string()
}

fn delta(patch: &Value) -> String {
    json!({"type": "STATE_DELTA", "delta": patch}).to_string()
}

fn activity(content: &Value) -> String {
    json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "p", "activityType": "plan", "content": content})
        .to_string()
}

fn activity_delta(message: &str, patch: &Value) -> String {
    json!({"type": "ACTIVITY_DELTA", "messageId": message, "activityType": "plan", "patch": patch})
        .to_string()
}

/// The failures that the log tells of, of states and activities.
fn failures(world: &World) -> Vec<FailedOperation> {
    let facts = world.log.facts().into_iter();
    let failure = facts.filter_map(|fact| match fact {
        Fact::ActivityDiverged(fact) => Some(fact.failure),
        Fact::StateDiverged(fact) => Some(fact.failure),
        _ => None,
    });
    failure.collect()
}

/// Plays a patch of a state and of an activity with this content, which must not apply.
#[track_caller]
fn check(content: &Value, patch: &Value, operation: usize, stricter: bool) {
    for is_state in [true, false] {
        let lines = if is_state {
            [snapshot(content), delta(patch)]
        } else {
            [activity(content), activity_delta("p", patch)]
        };
        let mut world = accepted();
        let mut owner = world.play("r1", &[started("r1")]);
        world.feed(&mut owner, &lines);
        world.feed(&mut owner, &[finished("r1")]);
        let found = failures(&world);
        assert_eq!(found.len(), 1, "{patch} applied to {content}");
        assert_eq!(
            (found[0].operation, found[0].stricter),
            (operation, stricter),
            "{patch} on {content}: {}",
            found[0].reason
        );
        assert_eq!(world.status("r1"), RunStatus::Success);
        let types = world.log.types();
        let fact = types.len() - 2;
        let expected = if is_state {
            ["STATE_DELTA", "state.diverged"]
        } else {
            ["ACTIVITY_DELTA", "activity.diverged"]
        };
        assert_eq!(types[fact - 1..=fact], expected, "right behind its delta");
    }
}

#[test]
fn what_the_reference_client_refuses_as_well_is_not_called_stricter() {
    let content = json!({"a": [1, 2], "t": "text"});
    let cases = [
        json!([{"op": "replace", "path": "/b", "value": 1}]),
        json!([{"op": "remove", "path": "/a/2"}]),
        json!([{"op": "replace", "path": "/a/01", "value": 1}]),
        json!([{"op": "add", "path": "/a/03", "value": 1}]),
        json!([{"op": "add", "path": "/a/x", "value": 1}]),
        json!([{"op": "add", "path": "/t/x", "value": 1}]),
        json!([{"op": "test", "path": "/a/0", "value": 2}]),
        json!([{"op": "test", "path": "/a/01", "value": 1}]),
        json!([{"op": "move", "from": "/a", "path": "/a/0"}]),
        json!([{"op": "copy", "from": "/b", "path": "/c"}]),
        json!([{"op": "copy", "from": "/a/01", "path": "/c"}]),
        json!([{"op": "add", "path": "/__proto__/x", "value": 1}]),
    ];
    for patch in cases {
        check(&content, &patch, 0, false);
    }
}

/// Each was tried with the patch library that the reference client uses.
#[test]
fn what_the_reference_client_would_have_done_is_called_stricter() {
    let content = json!({"a": [1, 2], "t": "text", "o": {"b": 1}});
    let cases = [
        json!([{"op": "add", "path": "/a/01", "value": 1}]),
        json!([{"op": "add", "path": "/a/", "value": 1}]),
        json!([{"op": "add", "path": "/a/4294967297", "value": 1}]),
        json!([{"op": "test", "path": "/a/01", "value": 2}]),
        json!([{"op": "copy", "from": "/t", "path": "/a/7"}]),
        json!([{"op": "move", "from": "/t", "path": "/a/7"}]),
        json!([{"op": "replace", "path": "/o/toString", "value": 1}]),
        json!([{"op": "remove", "path": "/toString"}]),
        json!([{"op": "copy", "from": "/a/length", "path": "/n"}]),
        json!([{"op": "copy", "from": "/nowhere", "path": ""}]),
        json!([{"op": "move", "from": "", "path": "/a/0"}]),
        // Bounds of the hub's own.
        json!([{"op": "add", "path": "/x", "value": "x".repeat(1 << 20)}]),
        json!(vec![
            json!({"op": "test", "path": "/t", "value": "text"});
            501
        ]),
    ];
    for patch in cases {
        let operation = if patch.as_array().unwrap().len() > 500 {
            500
        } else {
            0
        };
        check(&content, &patch, operation, true);
    }
}

#[test]
fn the_operation_named_is_the_one_that_fails() {
    let patch = json!([
        {"op": "add", "path": "/a", "value": 1},
        {"op": "add", "path": "/b", "value": [1]},
        {"op": "add", "path": "/b/00", "value": 1},
    ]);
    check(&json!({}), &patch, 2, true);
    check(
        &json!({}),
        &json!([{"op": "remove", "path": "/a"}]),
        0,
        false,
    );
}

#[test]
fn an_activity_stays_an_object() {
    let mut world = accepted();
    let mut owner = world.play("r1", &[started("r1"), activity(&json!({"a": 1}))]);
    for patch in [
        json!([{"op": "add", "path": "/b", "value": 1}, {"op": "replace", "path": "", "value": [1]}]),
        json!([{"op": "remove", "path": ""}]),
    ] {
        world.feed(&mut owner, &[activity_delta("p", &patch)]);
    }
    let found = failures(&world);
    let told: Vec<_> = found
        .iter()
        .map(|one| (one.operation, &*one.path, one.stricter))
        .collect();
    assert_eq!(told, [(1, "", true), (0, "", true)]);
    let message = world.fold.conversation().messages().last().unwrap();
    assert!(message.to_json().as_str().contains(r#""content":{"a":1}"#));
}

#[test]
fn deltas_are_judged_against_what_stands_before_them_in_the_same_append() {
    let add = |name: &str| json!([{"op": "add", "path": format!("/steps/{name}"), "value": 1}]);
    let mut world = accepted();
    let mut owner = world.owner("r1");
    for line in [
        started("r1"),
        activity_delta("p", &add("early")),
        activity(&json!({"steps": {}})),
        activity_delta("p", &add("a")),
        activity_delta(
            "p",
            &json!([{"op": "test", "path": "/steps/a", "value": 1}]),
        ),
        activity_delta(
            "p",
            &json!([{"op": "test", "path": "/steps/b", "value": 1}]),
        ),
        json!({"type": "MESSAGES_SNAPSHOT", "messages": [
            {"id": "p", "role": "activity", "activityType": "plan", "content": {"other": 1}}
        ]})
        .to_string(),
        activity_delta("p", &add("b")),
        activity_delta("nobody", &add("b")),
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#.into(),
        activity_delta("m", &add("b")),
    ] {
        owner.feed(&line, world.now);
    }
    let append = owner.next_append(&world.fold, world.now).unwrap();
    assert!(append.guard.state.is_none(), "activities are no state");
    world.owner_append(&mut owner, &append);
    let types = world.log.types();
    let diverged: Vec<_> = (0..types.len())
        .filter(|at| types[*at] == "activity.diverged")
        .collect();
    // Of nobody and of a text message nothing is told: no client changes anything.
    assert_eq!(diverged, [7, 10], "{types:?}");
}
