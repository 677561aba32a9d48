//! A few events that would cost far more than they say: each is played in a process of its own,
//! whose memory is measured.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::{Value, json};
use threadcast_agui::event::Event;
use threadcast_run_registry::conversation::{Conversation, THREAD_MESSAGES_BYTES_MAX};
use threadcast_run_registry::histories::Random;

use crate::hostile::check_log;
use crate::owner::{accepted, failure};
use crate::world::{World, finished, run, started};

/// Says to a process which of these tests it is to play alone.
const ALONE: &str = "THREADCAST_TEST_ALONE";

/// More than what any of these streams needs, less than what it would take undefended.
const MEMORY_MAX: usize = 400 << 20;

/// Plays in a process of its own, whose memory may grow by [`MEMORY_MAX`] at most.
#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "the program that is played alone is this one"
)]
fn alone(test: &str, play: impl FnOnce()) {
    if std::env::var(ALONE).is_ok_and(|alone| alone == test) {
        let before = most_resident_bytes();
        play();
        let grown = most_resident_bytes() - before;
        println!("`{test}` took {grown} bytes");
        assert!(grown <= MEMORY_MAX, "{grown} bytes, at most {MEMORY_MAX}");
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", &format!("bombs::{test}")])
        .env(ALONE, test)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stdout);
    let problem = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{told}\n{problem}");
    assert!(told.contains("1 passed"), "{told}");
}

/// The most user memory this process ever had; nothing where there is no `/proc`.
fn most_resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.map_or(0, |kib| kib.parse::<usize>().unwrap() * 1024)
}

fn list(messages: &[Value]) -> String {
    json!({"type": "MESSAGES_SNAPSHOT", "messages": messages}).to_string()
}

fn message(id: &str, bytes: usize) -> Value {
    json!({"id": id, "role": "user", "content": "x".repeat(bytes)})
}

fn result(id: &str) -> String {
    json!({"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": "c", "content": ""})
        .to_string()
}

#[test]
fn a_repeated_message_that_is_restated_is_held_once() {
    alone("a_repeated_message_that_is_restated_is_held_once", || {
        let small = vec![message("x", 0); 20_000];
        let large = list(&[message("x", 200_000)]);
        let mut conversation = Conversation::new();
        for line in [started("r1"), list(&small), large.clone()] {
            conversation.apply(&Event::read(&line).unwrap());
        }
        assert_eq!(conversation.messages().count(), 20_000);
        assert!(conversation.messages_bytes() > 20_000 * 200_000);
        drop(conversation);
        let results: Vec<_> = (0..2_000).map(|_| result("x")).collect();
        for repeated in [vec![list(&small)], results] {
            let mut world = accepted();
            let mut owner = world.play("r1", &[started("r1")]);
            world.feed(&mut owner, &repeated);
            assert!(!owner.has_ended());
            world.feed(&mut owner, std::slice::from_ref(&large));
            assert_eq!(failure(&world).0, "TOO_LARGE");
            assert!(world.fold.conversation().messages_bytes() < THREAD_MESSAGES_BYTES_MAX);
            check_log(&world, "repeated and restated");
        }
    });
}

#[test]
fn a_repetition_and_its_restatement_in_one_append_are_seen_through() {
    let mut world = accepted();
    let mut owner = world.play("r1", &[started("r1")]);
    for line in [
        list(&vec![message("x", 0); 400]),
        list(&[message("x", 90_000)]),
    ] {
        owner.feed(&line, world.now);
    }
    world.flush(&mut owner);
    assert_eq!(failure(&world).0, "TOO_LARGE");
    assert_eq!(world.fold.conversation().messages().count(), 400);
}

fn zeros(count: usize) -> Value {
    json!(vec![0; count])
}

#[test]
fn what_moves_to_and_fro_is_in_memory_once() {
    alone("what_moves_to_and_fro_is_in_memory_once", || {
        let mut moves: Vec<_> = (0..498)
            .map(|at| {
                let (from, path) = [("/a", "/c"), ("/c", "/a")][at % 2];
                json!({"op": "move", "from": from, "path": path})
            })
            .collect();
        let state = json!({"a": zeros(100_000), "b": {}});
        let text = state.to_string();
        let snapshot = json!({"type": "STATE_SNAPSHOT", "snapshot": state}).to_string();
        let activity = json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "p", "activityType": "t", "content": state});
        let delta = |moves: &[Value]| {
            [
                json!({"type": "STATE_DELTA", "delta": moves}).to_string(),
                json!({"type": "ACTIVITY_DELTA", "messageId": "p", "activityType": "t", "patch": moves}).to_string(),
            ]
        };
        let mut world = accepted();
        let mut owner = world.play("r1", &[started("r1"), snapshot, activity.to_string()]);
        world.feed(&mut owner, &delta(&moves));
        // They went as often forth as back; the order of members is another.
        let moved = world.fold.conversation().state().to_string();
        assert_eq!(moved.len(), text.len());
        moves.push(json!({"op": "test", "path": "/b", "value": 1}));
        world.feed(&mut owner, &delta(&moves));
        assert_eq!(world.fold.conversation().state().to_string(), moved);
        assert_eq!(
            world.log.types()[5..],
            [
                "STATE_DELTA",
                "ACTIVITY_DELTA",
                "STATE_DELTA",
                "state.diverged",
                "ACTIVITY_DELTA",
                "activity.diverged"
            ]
        );
        check_log(&world, "moved to and fro");
    });
}

/// A path into what the histories below hold, mostly one that leads somewhere.
fn path(random: &mut Random) -> String {
    let mut path = String::new();
    for _ in 0..random.below(4) {
        let step = *random.pick(&["a", "a", "b", "large", "large", "0", "1", "-"]);
        let _ = write!(path, "/{step}");
    }
    path
}

fn operation(random: &mut Random) -> Value {
    let (from, path) = (path(random), path(random));
    match random.below(12) {
        0..=4 => json!({"op": "move", "from": from, "path": path}),
        5 | 6 => json!({"op": "copy", "from": from, "path": path}),
        7 => json!({"op": "test", "path": path, "value": zeros(random.below(3))}),
        8 => json!({"op": "remove", "path": path}),
        9 => json!({"op": "replace", "path": path, "value": {"a": {"b": []}}}),
        _ => json!({"op": "add", "path": path, "value": {"a": {}, "b": [[], {}]}}),
    }
}

/// Operations that work on what the earlier ones left: each that would fail alone is left out, and
/// sometimes all fail at the end.
fn patch(random: &mut Random) -> Value {
    let mut operations: Vec<_> = (0..random.below(8)).map(|_| operation(random)).collect();
    if random.one_in(3) {
        let (there, back) =
            *random.pick(&[("/large", "/b"), ("/a/large", "/large"), ("/a", "/b/a")]);
        for _ in 0..100 {
            operations.push(json!({"op": "move", "from": there, "path": back}));
            operations.push(json!({"op": "move", "from": back, "path": there}));
        }
    }
    if random.one_in(3) {
        operations.push(json!({"op": "test", "path": "/none", "value": 1}));
    }
    json!(operations)
}

/// Seeds what is large or repeated first, then does to it what events can do.
fn bomb(random: &mut Random) -> Vec<String> {
    let id = |random: &mut Random| *random.pick(&["p", "x", "y"]);
    let content = || json!({"large": zeros(20_000), "a": {}, "b": {}});
    let mut lines = vec![
        json!({"type": "STATE_SNAPSHOT", "snapshot": content()}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "p", "activityType": "t", "content": content()}),
    ];
    for _ in 0..20 {
        let own = id(random);
        lines.push(match random.below(10) {
            0 => json!({"type": "STATE_SNAPSHOT", "snapshot": content()}),
            1 => json!({"type": "ACTIVITY_SNAPSHOT", "messageId": own, "activityType": "t", "content": content()}),
            2 | 3 => json!({"type": "STATE_DELTA", "delta": patch(random)}),
            4 | 5 => json!({"type": "ACTIVITY_DELTA", "messageId": own, "activityType": "t", "patch": patch(random)}),
            6 => {
                let count = random.below(300);
                json!({"type": "MESSAGES_SNAPSHOT", "messages": vec![message(own, 0); count]})
            }
            7 if random.one_in(3) => {
                json!({"type": "MESSAGES_SNAPSHOT", "messages": [message(own, 1_200_000)]})
            }
            7 => json!({"type": "MESSAGES_SNAPSHOT", "messages": [message(own, random.below(2_000))]}),
            _ => json!({"type": "TOOL_CALL_RESULT", "messageId": own, "toolCallId": "c", "content": "r"}),
        });
    }
    if random.one_in(2) {
        // Of what is held already a list would hold no more than before.
        let own = "new";
        let repeated = vec![message(own, 0); 200 + random.below(100)];
        lines.push(json!({"type": "MESSAGES_SNAPSHOT", "messages": repeated}));
        lines.push(json!({"type": "MESSAGES_SNAPSHOT", "messages": [message(own, 400_000)]}));
    }
    lines.iter().map(Value::to_string).collect()
}

#[test]
fn whatever_is_done_to_large_things_takes_little_memory() {
    alone(
        "whatever_is_done_to_large_things_takes_little_memory",
        || {
            let (mut applied, mut failed, mut ended) = (0, 0, 0);
            for seed in 0..6 {
                let mut random = Random::new(seed);
                let mut world = World::new();
                world.accepts("ann", &run("r1", ""), "r1");
                let mut owner = world.play("r1", &[started("r1")]);
                for line in bomb(&mut random) {
                    owner.feed(&line, world.now);
                    if random.one_in(3) {
                        world.flush(&mut owner);
                    }
                }
                world.flush(&mut owner);
                ended += usize::from(owner.has_ended());
                world.feed(&mut owner, &[finished("r1")]);
                check_log(&world, &format!("seed {seed}"));
                let types = world.log.types();
                let count = |name: &str| types.iter().filter(|found| found.contains(name)).count();
                failed += count("diverged");
                applied += count("_DELTA") - count("diverged");
            }
            println!("{applied} patches applied, {failed} failed, {ended} runs ended");
            assert!(
                applied > 5 && failed > 5 && ended > 0,
                "{applied} {failed} {ended}"
            );
        },
    );
}
