//! What is new is bounded, and what the hub says of an agent's text is short; what a thread holds
//! comes back at any size.

use threadcast_agui::json::{DEPTH_MAX, RawJson};
use threadcast_run_registry::decide::{MESSAGES_BYTES_MAX, Refusal};
use threadcast_run_registry::ending::QUOTED_BYTES_MAX;
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::owner::{EVENT_BYTES_MAX, KEPT_DEPTH_MAX};
use threadcast_run_registry::patch::StateLimits;

use crate::owner::{accepted, failure};
use crate::support;
use crate::world::{World, finished, run, started};

/// What stands around a quoted text.
const AROUND: usize = 256;

#[test]
fn a_state_of_the_threads_own_comes_back_however_large_it_is() {
    let mut world = World::new();
    let large = "x".repeat(StateLimits::default().bytes_max + 1);
    let large = format!(r#"{{"a":"{large}"}}"#);
    world.accepts("ann", &run("r1", ""), "r1");
    let snapshot = format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{large}}}"#);
    world.play("r1", &[started("r1"), snapshot, finished("r1")]);
    let echo = format!(r#""state":{large}"#);
    world.accepts("ann", &run("r2", &echo), "r2");
    let small = r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}"#;
    world.play("r2", &[started("r2"), small.into(), finished("r2")]);
    // A tab that was left open sends what the thread has left behind.
    world.accepts("ann", &run("r3", &echo), "r3");
    world.play("r3", &[started("r3"), finished("r3")]);
    assert_eq!(world.fold.conversation().state()["a"], 1);
}

fn message(id: &str, bytes: usize) -> String {
    let content = "x".repeat(bytes);
    format!(r#"{{"id":"{id}","role":"user","content":"{content}"}}"#)
}

#[test]
fn new_messages_fit_into_an_event() {
    const { assert!(MESSAGES_BYTES_MAX < EVENT_BYTES_MAX) };
    let mut world = World::new();
    let large = format!(r#""messages":[{}]"#, message("a", MESSAGES_BYTES_MAX));
    match world.command("ann", &run("r1", &large)) {
        Err(Refusal::TooLarge { limit, found, .. }) => {
            assert_eq!(limit, MESSAGES_BYTES_MAX);
            assert!(found > limit);
        }
        other => panic!("{:?}", other.map_err(|refusal| refusal.to_string())),
    }
}

#[test]
fn a_start_that_is_too_large_with_its_input_ends_the_run() {
    let mut world = World::new();
    let input = format!(r#""messages":[{}]"#, message("a", 1 << 20));
    world.accepts("ann", &run("r1", &input), "r1");
    let more = "x".repeat(EVENT_BYTES_MAX - (1 << 20));
    let start = format!(r#"{{"type":"RUN_STARTED","threadId":"t","runId":"r1","x":"{more}"}}"#);
    world.play("r1", &[start]);
    assert_eq!(failure(&world).0, "TOO_LARGE");
    assert_eq!(world.fold.conversation().messages().count(), 1);
    let events = world.log.events();
    assert!(events.iter().all(|event| event.len() <= EVENT_BYTES_MAX));
}

#[test]
fn a_patch_that_leads_nowhere_is_quoted_in_short() {
    let mut world = accepted();
    let path = "é".repeat(1 << 20);
    let delta = format!(r#"{{"type":"STATE_DELTA","delta":[{{"op":"remove","path":"/{path}"}}]}}"#);
    world.play("r1", &[started("r1"), delta]);
    let diverged = world.log.entries.last().unwrap();
    match Fact::of(diverged) {
        Some(Fact::StateDiverged(fact)) => assert!(fact.path.starts_with("/é")),
        other => panic!("{other:?}"),
    }
    assert!(diverged.record.size_bytes() <= 2 * QUOTED_BYTES_MAX + AROUND);
}

#[test]
fn a_broken_rule_is_told_in_short() {
    let long = "é".repeat(1 << 20);
    let broken = [
        format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"{long}"}}"#),
        format!(r#"{{"type":"CUSTOM","name":"n","value":{{"{long}":1,"{long}":2}}}}"#),
        format!(
            r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{{"type":"interrupt","interrupts":"{long}"}}}}"#
        ),
    ];
    for line in broken {
        let mut world = accepted();
        world.play("r1", &[started("r1"), line]);
        let (code, message) = failure(&world);
        assert_eq!(code, "PROTOCOL_VIOLATION");
        assert!(message.starts_with("event 2"), "{message}");
        assert!(message.len() <= QUOTED_BYTES_MAX);
    }
}

#[test]
fn what_messages_keep_is_flat_enough_to_come_back() {
    let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let call = |depth: usize| {
        format!(
            r#"{{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n","metadata":{}}}"#,
            nested(depth)
        )
    };
    let activity = |depth: usize| {
        format!(
            r#"{{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"n","content":{}}}"#,
            nested(depth)
        )
    };
    let mut world = accepted();
    let stream = [
        started("r1"),
        call(KEPT_DEPTH_MAX),
        activity(KEPT_DEPTH_MAX),
    ];
    world.play("r1", &stream);
    let messages = support::messages(world.fold.conversation());
    let frame = format!(r#"{{"op":"run","input":{{"messages":{messages}}}}}"#);
    let deepest = frame.matches(r#""a":"#).count();
    assert_eq!(deepest, 2 * KEPT_DEPTH_MAX, "both are kept");
    RawJson::parse(&frame).unwrap();
    for line in [call(KEPT_DEPTH_MAX + 1), activity(DEPTH_MAX - 1)] {
        let mut world = accepted();
        world.play("r1", &[started("r1"), line]);
        let (code, message) = failure(&world);
        assert_eq!(code, "PROTOCOL_VIOLATION");
        assert!(
            message.contains("event-shape") && message.contains("levels deep"),
            "{message}"
        );
    }
}
