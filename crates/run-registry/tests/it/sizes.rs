//! What is new is bounded, and what the hub says of an agent's text is short; what a thread holds
//! comes back at any size.

use threadcast_agui::json::{DEPTH_MAX, RawJson};
use threadcast_run_registry::conversation::{Conversation, THREAD_MESSAGES_BYTES_MAX};
use threadcast_run_registry::decide::{Command, MESSAGES_BYTES_MAX, Refusal};
use threadcast_run_registry::ending::QUOTED_BYTES_MAX;
use threadcast_run_registry::event_bounds::{ACTIVITY_BYTES_MAX, EVENT_BYTES_MAX, KEPT_DEPTH_MAX};
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::histories::{colliding, history};
use threadcast_run_registry::owner::Owner;
use threadcast_run_registry::patch::StateLimits;
use threadcast_thread_log::run_status::RunStatus;

use crate::owner::{accepted, failure};
use crate::support;
use crate::world::{World, error, finished, run, started};

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
        Some(Fact::StateDiverged(fact)) => assert!(fact.failure.path.starts_with("/é")),
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

/// The length of all messages, followed event by event, is what writing them out gives.
#[test]
fn the_length_of_all_messages_is_followed_exactly() {
    let histories = (0..300).flat_map(|seed| [(seed, history(seed)), (seed, colliding(seed))]);
    for (seed, history) in histories {
        let mut conversation = Conversation::new();
        for (at, event) in history.iter().enumerate() {
            conversation.apply(event);
            let list: Vec<_> = conversation
                .messages()
                .map(|message| message.to_json().to_string())
                .collect();
            let expected = list.join(",").len() + "[]".len();
            let found = conversation.messages_bytes();
            assert_eq!(found, expected, "seed {seed}, event {at}: {}", event.json);
        }
    }
}

fn says(bytes: usize) -> String {
    let delta = "x".repeat(bytes);
    format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"{delta}"}}"#)
}

fn held(world: &World) -> usize {
    world.fold.conversation().messages_bytes()
}

/// A run whose messages have grown to `left` bytes below the bound.
fn nearly_full(left: usize) -> (World, Owner) {
    let mut world = accepted();
    let start = r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#;
    let mut owner = world.play("r1", &[started("r1"), start.into()]);
    for _ in 0..4 {
        let room = THREAD_MESSAGES_BYTES_MAX - left - held(&world);
        world.feed(&mut owner, &[says(room.min(10_000_000))]);
    }
    assert_eq!(held(&world), THREAD_MESSAGES_BYTES_MAX - left);
    (world, owner)
}

#[test]
fn the_messages_of_a_thread_are_bounded_to_the_byte() {
    let (mut world, mut owner) = nearly_full(10);
    world.feed(&mut owner, &[says(10)]);
    assert_eq!(held(&world), THREAD_MESSAGES_BYTES_MAX);
    assert_eq!(world.status("r1"), RunStatus::Running);
    // What makes them no longer may still come.
    let end = r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#.to_owned();
    let state = r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}"#.to_owned();
    world.feed(&mut owner, &[end, state]);
    let before = world.log.entries.len();
    let start = r#"{"type":"TEXT_MESSAGE_START","messageId":"n"}"#.to_owned();
    let more = [
        start,
        says(1).replace(r#""m""#, r#""n""#),
        finished("r1"),
        error("late"),
    ];
    for line in &more {
        owner.feed(line, world.now);
    }
    world.flush(&mut owner);
    assert!(owner.has_ended());
    let (code, told) = failure(&world);
    assert_eq!(code, "TOO_LARGE");
    let found = THREAD_MESSAGES_BYTES_MAX + r#",{"id":"n","role":"assistant","content":""}"#.len();
    for number in [THREAD_MESSAGES_BYTES_MAX, found] {
        assert!(told.contains(&number.to_string()), "{told}");
    }
    assert_eq!(held(&world), THREAD_MESSAGES_BYTES_MAX);
    assert_eq!(
        world.log.types()[before..],
        ["RUN_ERROR", "run.trailing"],
        "of what came from there on nothing stands"
    );
    assert!(world.log.meta.holder.is_none(), "the end frees the lease");
    // A person is told the bound and what was found.
    let asked = message_of_run("r2", &message("v", 5));
    match world.command("ann", &asked) {
        Err(Refusal::TooLarge { limit, found, .. }) => {
            assert_eq!(limit, THREAD_MESSAGES_BYTES_MAX);
            assert!(found > limit);
        }
        other => panic!("{:?}", other.map_err(|refusal| refusal.to_string())),
    }
    // Without new messages the thread goes on, and its agent may make it smaller.
    world.accepts("ann", &run("r3", ""), "r3");
    let restated = r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#.to_owned();
    world.play("r3", &[started("r3"), restated, finished("r3")]);
    assert_eq!(world.status("r3"), RunStatus::Success);
    assert_eq!(held(&world), "[]".len());
}

fn message_of_run(id: &str, message: &str) -> Command {
    run(id, &format!(r#""messages":[{message}]"#))
}

#[test]
fn an_append_whose_outcome_is_unknown_is_not_judged_again_by_what_it_wrote() {
    let (mut world, mut owner) = nearly_full(100);
    owner.feed(&says(90), world.now);
    let append = owner.next_append(&world.fold, world.now).unwrap();
    assert!(world.append(&append), "but the owner does not learn it");
    owner.feed(&says(5), world.now);
    // The fold has the first 90 bytes; counted twice they would be over the bound.
    let again = owner.next_append(&world.fold, world.now).unwrap();
    assert_eq!(again.source, append.source);
    world.owner_append(&mut owner, &again);
    world.flush(&mut owner);
    assert_eq!(held(&world), THREAD_MESSAGES_BYTES_MAX - 5);
    assert_eq!(world.status("r1"), RunStatus::Running);
}

#[test]
fn a_patch_of_an_activity_does_not_go_over_the_bound() {
    let (mut world, mut owner) = nearly_full(1_000);
    let activity =
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"t","content":{"a":[1]}}"#;
    let patch = |bytes: usize| {
        let value = "y".repeat(bytes);
        format!(
            r#"{{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"t","patch":[{{"op":"add","path":"/b","value":"{value}"}}]}}"#
        )
    };
    world.feed(&mut owner, &[activity.into(), patch(500)]);
    assert_eq!(world.status("r1"), RunStatus::Running);
    world.feed(&mut owner, &[patch(5_000)]);
    assert_eq!(failure(&world).0, "TOO_LARGE");
    assert!(held(&world) <= THREAD_MESSAGES_BYTES_MAX);
}

/// The content of an activity that is `bytes` long.
fn content(bytes: usize) -> String {
    let text = "x".repeat(bytes - r#"{"a":""}"#.len());
    format!(r#"{{"a":"{text}"}}"#)
}

#[test]
fn the_content_of_an_activity_is_bounded_to_the_byte() {
    let fits = content(ACTIVITY_BYTES_MAX);
    let long = content(ACTIVITY_BYTES_MAX + 1);
    // What is long only as it is kept.
    let numbers = vec!["1e15"; ACTIVITY_BYTES_MAX / 10].join(",");
    let grows = format!(r#"{{"a":[{numbers}]}}"#);
    assert!(grows.len() < ACTIVITY_BYTES_MAX);
    let message = |content: &str| {
        format!(r#"{{"id":"p","role":"activity","activityType":"t","content":{content}}}"#)
    };
    let whole: [&dyn Fn(&str) -> String; 2] = [
        &|content| {
            format!(
                r#"{{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"t","content":{content}}}"#
            )
        },
        &|content| {
            format!(
                r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{}]}}"#,
                message(content)
            )
        },
    ];
    for event in whole {
        let mut world = accepted();
        world.play("r1", &[started("r1"), event(&fits)]);
        assert_eq!(world.status("r1"), RunStatus::Running);
        for content in [&long, &grows] {
            let mut world = accepted();
            world.play("r1", &[started("r1"), event(content)]);
            let (code, told) = failure(&world);
            assert_eq!(code, "TOO_LARGE");
            assert!(told.contains("an activity's content of"), "{told}");
        }
    }
}

#[test]
fn a_message_of_a_person_is_flat_enough_to_come_back() {
    for (depth, is_taken) in [(KEPT_DEPTH_MAX, true), (KEPT_DEPTH_MAX + 1, false)] {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let message = format!(r#"{{"id":"u","role":"user","content":"hi","metadata":{deep}}}"#);
        let mut world = World::new();
        match world.command("ann", &message_of_run("r1", &message)) {
            Ok(_) => assert!(is_taken),
            Err(Refusal::InputInvalid { at, reason }) => {
                assert!(!is_taken && at == "messages" && reason.contains("levels deep"));
            }
            Err(other) => panic!("{other}"),
        }
    }
}
