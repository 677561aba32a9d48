//! An agent's stream on its way into the log.

use threadcast_run_registry::ending::{Ending, ErrorCode};
use threadcast_run_registry::event_bounds::EVENT_BYTES_MAX;
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::owner::{AgentPolicy, Fed, Owner, OwnerStart};
use threadcast_run_registry::thread_record::StoredRecord;
use threadcast_thread_log::engine::Durability;
use threadcast_thread_log::entry::{Body, Origin};
use threadcast_thread_log::lease::LeaseChange;
use threadcast_thread_log::run_status::RunStatus;

use crate::world::{
    World, asks, cancel, error, finished, interrupt, lines, run, run_id, started, user,
};

pub(crate) fn accepted() -> World {
    let mut world = World::new();
    world.accepts(
        "ann",
        &run("r1", &format!(r#""messages":[{}]"#, user("u1"))),
        "r1",
    );
    world
}

pub(crate) fn text(id: &str) -> Vec<String> {
    lines([
        &format!(r#"{{"type":"TEXT_MESSAGE_START","messageId":"{id}"}}"#),
        &format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"{id}","delta":"hi"}}"#),
        &format!(r#"{{"type":"TEXT_MESSAGE_END","messageId":"{id}"}}"#),
    ])
}

/// The last event of the log as `(code, message)`, which must be a RUN_ERROR.
#[track_caller]
pub(crate) fn failure(world: &World) -> (String, String) {
    let events = world.log.events();
    let last: serde_json::Value = serde_json::from_str(events.last().unwrap()).unwrap();
    assert_eq!(last["type"], "RUN_ERROR", "{events:?}");
    let member = |name: &str| last[name].as_str().unwrap_or_default().to_owned();
    (member("code"), member("message"))
}

#[test]
fn events_pass_verbatim_and_the_hubs_input_takes_the_place_of_the_agents() {
    let mut world = accepted();
    let odd = r#"{"type":"CUSTOM", "name":"x","value":{"long":12345678901234567890123},"unknown":[1.50]}"#;
    let unknown = r#"{"type":"FROM_THE_FUTURE","a":1}"#;
    let own = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1","input":{"threadId":"t","runId":"r1","messages":[],"tools":[]},"x":1}"#;
    world.play("r1", &lines([own, odd, unknown, &finished("r1")]));
    let events = world.log.events();
    assert_eq!(
        events[0],
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1","input":{"threadId":"t","runId":"r1","messages":[{"id":"u1","role":"user","content":"hello"}]},"x":1}"#
    );
    assert_eq!(events[1..3], [odd, unknown]);
    assert_eq!(world.fold.conversation().messages().count(), 1);
    assert_eq!(world.status("r1"), RunStatus::Success);
    assert!(world.log.meta.holder.is_none(), "the end frees the lease");
}

#[test]
fn retired_thinking_events_enter_the_log_as_reasoning() {
    let mut world = accepted();
    let retired = [
        r#"{"type":"THINKING_START","title":"Hm"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"two and two"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#,
        r#"{"type":"THINKING_END"}"#,
    ];
    let stream = [&[started("r1")][..], &lines(retired), &[finished("r1")]].concat();
    world.play("r1", &stream);
    assert_eq!(world.status("r1"), RunStatus::Success);
    let events = world.log.events();
    let types: Vec<String> = events
        .iter()
        .map(|event| {
            let event: serde_json::Value = serde_json::from_str(event).unwrap();
            event["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        types[1..6],
        [
            "REASONING_START",
            "REASONING_MESSAGE_START",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_END",
            "REASONING_END"
        ]
    );
    let thought = world.fold.conversation().messages().last().unwrap();
    assert_eq!(thought.role(), "reasoning");
    assert_eq!(thought.text().unwrap().as_escaped(), "two and two");
}

#[test]
fn raw_material_enters_the_log_only_where_it_is_kept() {
    let raw = r#"{"type":"RAW","event":{"prompt":"s3cret"}}"#;
    let custom = r#"{"type":"CUSTOM","name":"x","value":1,"rawEvent":{"prompt":"s3cret"}}"#;
    for keep_raw in [false, true] {
        let mut world = accepted();
        let lease = world.log.meta.holder.clone().unwrap().token;
        let policy = AgentPolicy {
            keep_raw,
            ..AgentPolicy::default()
        };
        let start = OwnerStart {
            thread: "t".parse().unwrap(),
            accepted: world.accepted("r1"),
            lease,
            policy,
        };
        let mut owner = Owner::new(start);
        world.feed(
            &mut owner,
            &lines([&started("r1"), raw, custom, &finished("r1")]),
        );
        let log = world.log.events().join("\n");
        assert_eq!(log.contains("s3cret"), keep_raw);
        assert_eq!(world.log.events().len(), if keep_raw { 4 } else { 3 });
        assert!(owner.has_ended());
    }
}

#[test]
fn chunks_are_expanded_and_marked() {
    let mut world = accepted();
    let chunk = |delta: &str| {
        format!(r#"{{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"{delta}"}}"#)
    };
    let mut owner = world.play("r1", &[started("r1"), chunk("a"), chunk("b")]);
    assert!(
        !world.fold.lanes().is_empty(),
        "any node can go on expanding"
    );
    world.feed(&mut owner, &[finished("r1")]);
    assert!(world.fold.lanes().is_empty());
    let types = world.log.types();
    assert_eq!(
        types[1..],
        [
            "run.dispatched",
            "RUN_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED"
        ]
    );
    let marks = world
        .log
        .entries
        .iter()
        .filter_map(|entry| match entry.record.body {
            Body::Event { from_chunk, .. } => Some(from_chunk),
            Body::Fact { .. } => None,
        });
    assert_eq!(
        marks.collect::<Vec<_>>(),
        [false, true, true, true, true, false]
    );
}

/// Streams that break a rule, each with the event that breaks it.
fn broken_streams() -> Vec<(Vec<String>, &'static str)> {
    let open_call = r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"pay"}"#;
    let twice = asks("r1", &[&interrupt("i"), &interrupt("i")]);
    vec![
        (vec![started("r2")], "event 1"),
        (
            vec![r#"{"type":"RUN_STARTED","threadId":"other","runId":"r1"}"#.into()],
            "event 1",
        ),
        (vec![started("r1"), started("r1")], "event 2"),
        (vec![started("r1"), text("m").remove(1)], "event 2"),
        (vec![started("r1"), finished("r2")], "event 2"),
        (
            vec![started("r1"), open_call.into(), finished("r1")],
            "event 3",
        ),
        (vec![started("r1"), twice], "event 2"),
        (text("m"), "event 1"),
        (vec!["not json".into()], "event 1"),
        (vec!["[1]".into()], "event 1"),
        (
            vec![
                started("r1"),
                r#"{"type":"CUSTOM","name":1,"value":1}"#.into(),
            ],
            "event 2",
        ),
        (
            vec![
                started("r1"),
                r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}"#.into(),
            ],
            "event 2",
        ),
        (
            vec![
                started("r1"),
                r#"{"type":"STATE_SNAPSHOT","snapshot":1e999}"#.into(),
            ],
            "event 2",
        ),
        (vec![r#"{"type":"RAW","event":1}"#.into()], "event 1"),
    ]
}

#[test]
fn a_broken_rule_ends_the_run_and_names_rule_and_event() {
    for (stream, place) in broken_streams() {
        let mut world = accepted();
        let mut owner = world.play("r1", &stream);
        let (code, message) = failure(&world);
        assert_eq!(code, ErrorCode::ProtocolViolation.as_str(), "{stream:?}");
        assert!(
            message.contains(place) && message.contains("rule `"),
            "{message}"
        );
        assert_eq!(
            world
                .log
                .types()
                .iter()
                .filter(|one| *one == "RUN_STARTED")
                .count(),
            1,
            "{stream:?}"
        );
        assert_eq!(world.status("r1"), RunStatus::Error);
        let after = world.log.entries.len();
        world.feed(&mut owner, &[started("r1")]);
        assert_eq!(
            world.log.types()[after..],
            ["run.trailing"],
            "what follows is late"
        );
    }
}

#[test]
fn the_legal_prefix_of_a_broken_stream_stays() {
    let mut world = accepted();
    let mut stream = vec![started("r1")];
    stream.extend(text("m"));
    stream.push(text("m").remove(2));
    world.play("r1", &stream);
    assert_eq!(world.log.events().len(), 5);
    assert_eq!(world.fold.conversation().messages().count(), 2);
}

fn endings() -> Vec<(Ending, &'static str)> {
    vec![
        (Ending::Abort, "abort"),
        (
            Ending::Refused {
                status: 500,
                body: "no".into(),
            },
            "AGENT_REFUSED",
        ),
        (
            Ending::Timeout {
                waited_for: "the response head".into(),
            },
            "AGENT_TIMEOUT",
        ),
        (
            Ending::Truncated {
                reason: "closed".into(),
            },
            "AGENT_TRUNCATED",
        ),
        (
            Ending::Unreached {
                reason: "refused".into(),
            },
            "AGENT_UNREACHED",
        ),
        (Ending::EngineUnavailable, "ENGINE_UNAVAILABLE"),
        (Ending::Lost, "AGENT_LOST"),
        (
            Ending::Violation {
                reason: "no stream".into(),
            },
            "PROTOCOL_VIOLATION",
        ),
        (
            Ending::TooLarge {
                what: "a line".into(),
            },
            "TOO_LARGE",
        ),
        (Ending::LogDiverged, "LOG_DIVERGED"),
    ]
}

/// Whether the ending leaves open what the agent did with a request it did not answer.
fn leaves_doubt(ending: &Ending) -> bool {
    !matches!(
        ending,
        Ending::Refused { .. }
            | Ending::Unreached { .. }
            | Ending::Violation { .. }
            | Ending::TooLarge { .. }
    )
}

#[test]
fn endings_write_run_started_if_it_is_missing() {
    for (ending, expected) in endings() {
        for begin in [vec![], vec![started("r1"), text("m").remove(0)]] {
            let mut world = accepted();
            let mut owner = world.play("r1", &begin);
            owner.end(&ending, world.now);
            owner.end(&Ending::Lost, world.now);
            let append = owner.next_append(&world.fold, world.now).unwrap();
            assert_eq!(
                (append.lease.clone(), append.durability),
                (LeaseChange::Free, Durability::Durable)
            );
            world.owner_append(&mut owner, &append);
            assert_eq!(failure(&world).0, expected);
            let types = world.log.types();
            assert_eq!(types.iter().filter(|one| *one == "RUN_STARTED").count(), 1);
            assert!(
                !types.contains(&"TEXT_MESSAGE_END".to_owned()),
                "nothing is closed"
            );
            let record = world.fold.registry().run(&run_id("r1")).unwrap();
            assert_eq!(record.status, RunStatus::Error);
            assert_eq!(
                record.in_doubt,
                begin.is_empty() && leaves_doubt(&ending),
                "{ending:?}"
            );
        }
    }
}

/// RUN_ERROR carries no ids: an agent that refuses a run with it must not make the run before look
/// failed.
#[test]
fn a_refusal_in_the_stream_belongs_to_its_own_run() {
    let mut world = accepted();
    world.play("r1", &[started("r1"), finished("r1")]);
    for next in ["r2", "r3"] {
        world.accepts("ann", &run(next, ""), next);
        world.play(next, &[error("no")]);
        assert_eq!(world.status(next), RunStatus::Error);
        let last = &world.log.entries[world.log.entries.len() - 2].record;
        assert_eq!(last.origin, Origin::Hub, "the hub wrote RUN_STARTED");
    }
    assert_eq!(world.status("r1"), RunStatus::Success);
}

#[test]
fn a_late_error_stands_as_an_event_only_right_behind_its_run() {
    let mut world = accepted();
    let mut owner = world.play("r1", &[started("r1"), finished("r1")]);
    let before = world.log.clone();
    world.feed(&mut owner, &[error("late"), error("later")]);
    assert_eq!(
        world.log.types()[before.entries.len()..],
        ["RUN_ERROR", "run.trailing"]
    );
    assert_eq!(world.status("r1"), RunStatus::Error);
    let record = StoredRecord::from_bytes(world.log.meta.record.as_ref().unwrap()).unwrap();
    assert_eq!(record, StoredRecord::of(&world.fold));

    let mut world = accepted();
    let mut owner = world.play("r1", &[started("r1"), finished("r1")]);
    world.accepts("bob", &run("r2", ""), "r2");
    world.feed(&mut owner, &[error("late")]);
    assert_eq!(world.log.types().last().unwrap(), "run.trailing");
    assert_eq!(
        (world.status("r1"), world.status("r2")),
        (RunStatus::Success, RunStatus::Accepted)
    );
}

#[test]
fn what_comes_late_is_recorded_a_few_times() {
    let mut world = accepted();
    let stream: Vec<_> = [started("r1"), finished("r1")]
        .into_iter()
        .chain((0..20).map(|_| started("r9")))
        .collect();
    let mut owner = world.play("r1", &stream);
    assert_eq!(owner.feed("nonsense", world.now), Fed::Ended);
    let trailing: Vec<_> = world
        .log
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::RunTrailing(fact) => Some((fact.event_type.to_string(), fact.is_last)),
            _ => None,
        })
        .collect();
    assert_eq!(trailing.len(), 8);
    assert!(
        trailing
            .iter()
            .all(|(event_type, _)| event_type == "RUN_STARTED")
    );
    assert_eq!(trailing.iter().filter(|(_, is_last)| *is_last).count(), 1);
}

#[test]
fn a_delta_that_does_not_apply_stays_and_is_told() {
    let mut world = accepted();
    let delta = |op: &str| format!(r#"{{"type":"STATE_DELTA","delta":[{op}]}}"#);
    let good = delta(r#"{"op":"add","path":"/a","value":1}"#);
    let bad = delta(r#"{"op":"replace","path":"/b","value":2}"#);
    let snapshot = r#"{"type":"STATE_SNAPSHOT","snapshot":{"b":0}}"#.to_owned();
    let mut owner = world.owner("r1");
    for line in [
        &started("r1"),
        &good,
        &bad,
        &snapshot,
        &bad,
        &finished("r1"),
    ] {
        owner.feed(line, world.now);
    }
    let append = owner.next_append(&world.fold, world.now).unwrap();
    assert_eq!(append.guard.state, Some(world.fold.versions().state));
    world.owner_append(&mut owner, &append);
    let types = world.log.types();
    assert_eq!(
        types[1..],
        [
            "RUN_STARTED",
            "STATE_DELTA",
            "STATE_DELTA",
            "state.diverged",
            "STATE_SNAPSHOT",
            "STATE_DELTA",
            "RUN_FINISHED"
        ]
    );
    assert_eq!(world.fold.conversation().state().to_string(), r#"{"b":2}"#);
    match Fact::of(&world.log.entries[4]) {
        Some(Fact::StateDiverged(fact)) => {
            assert_eq!((fact.failure.operation, &*fact.failure.path), (0, "/b"))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_batch_is_bounded_and_text_asks_for_no_version() {
    let mut world = accepted();
    let mut owner = world.owner("r1");
    owner.feed(&started("r1"), world.now);
    for at in 0..200 {
        text(&format!("m{at}"))
            .iter()
            .for_each(|line| assert_eq!(owner.feed(line, world.now), Fed::Queued));
    }
    assert!(owner.is_full());
    let append = owner.next_append(&world.fold, world.now).unwrap();
    assert_eq!(append.entries.len(), 256);
    assert_eq!(
        (append.guard.control, append.guard.state, append.durability),
        (None, None, Durability::Held)
    );
    world.owner_append(&mut owner, &append);
    world.flush(&mut owner);
    assert_eq!(world.log.events().len(), 601);

    let large = "x".repeat(100 << 10);
    for at in 0..5 {
        owner.feed(
            &format!(r#"{{"type":"CUSTOM","name":"{at}","value":"{large}"}}"#),
            world.now,
        );
    }
    let append = owner.next_append(&world.fold, world.now).unwrap();
    assert_eq!(append.entries.len(), 2);
}

#[test]
fn too_large_an_event_ends_the_run() {
    let mut world = accepted();
    let mut owner = world.play("r1", &[started("r1")]);
    let large = format!(
        r#"{{"type":"CUSTOM","name":"x","value":"{}"}}"#,
        "x".repeat(EVENT_BYTES_MAX)
    );
    assert_eq!(owner.feed(&large, world.now), Fed::Ended);
    world.flush(&mut owner);
    assert_eq!(failure(&world).0, "TOO_LARGE");
    let mut world = accepted();
    let state = format!(
        r#"{{"type":"STATE_SNAPSHOT","snapshot":"{}"}}"#,
        "x".repeat(8 << 20)
    );
    world.play("r1", &[started("r1"), state]);
    assert_eq!(failure(&world).0, "TOO_LARGE");
}

#[test]
fn a_cancelled_run_is_cancelled_however_it_ends() {
    let by_agent =
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"cancelled"}}"#;
    for end in [Some(by_agent.to_owned()), Some(error("stopped")), None] {
        let mut world = accepted();
        let mut owner = world.play("r1", &[started("r1")]);
        world.command("bob", &cancel("r1")).unwrap();
        match &end {
            Some(line) => world.feed(&mut owner, std::slice::from_ref(line)),
            None => {
                owner.end(&Ending::Abort, world.now);
                world.flush(&mut owner);
            }
        }
        assert_eq!(world.status("r1"), RunStatus::Cancelled, "{end:?}");
        let record = StoredRecord::from_bytes(world.log.meta.record.as_ref().unwrap()).unwrap();
        assert_eq!(record, StoredRecord::of(&world.fold));
    }
}
