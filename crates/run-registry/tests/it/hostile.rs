//! Agents that mean harm: whatever they send, the log can be folded by every node and stays within
//! its bounds.

use serde_json::{Value, json};
use threadcast_run_registry::conversation::THREAD_MESSAGES_BYTES_MAX;
use threadcast_run_registry::ending::{ErrorCode, QUOTED_BYTES_MAX};
use threadcast_run_registry::event_bounds::{
    EVENT_BYTES_MAX, KEPT_DEPTH_MAX, STATE_SNAPSHOT_BYTES_MAX,
};
use threadcast_run_registry::histories::Random;
use threadcast_run_registry::patch::StateLimits;
use threadcast_run_registry::snapshot::snapshot;
use threadcast_thread_log::entry::{Body, Origin};
use threadcast_thread_log::run_status::RunStatus;

use crate::owner::{accepted, failure};
use crate::support::messages;
use crate::world::{World, finished, run, started};

/// What may stand around the quoted words of an agent in a fact or error of the hub.
const AROUND: usize = 512;

fn nested(depth: usize) -> String {
    format!("{}1{}", "[".repeat(depth), "]".repeat(depth))
}

fn nested_object(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

fn pointer(random: &mut Random) -> String {
    let steps = [
        "",
        "a",
        "0",
        "01",
        "-",
        "length",
        "__proto__",
        "constructor",
        "toString",
    ];
    let depth = match random.below(12) {
        0 => 50_000,
        1 => 60,
        _ => random.below(4),
    };
    (0..depth)
        .map(|_| format!("/{}", random.pick(&steps)))
        .collect()
}

/// A value that is large, deep, odd, or small.
fn value(random: &mut Random) -> String {
    match random.below(9) {
        0 => nested(random.below(70)),
        1 => nested_object(KEPT_DEPTH_MAX - 2 + random.below(5)),
        2 => format!("{:?}", "x".repeat(random.below(50_000))),
        3 => format!("[{}1e15]", "1e15,".repeat(random.below(5_000))),
        4 => r#""\ud83d""#.to_owned(),
        5 => "123456789012345678901234567890".to_owned(),
        6 => r#"{"__proto__":{"x":1},"constructor":{"prototype":1}}"#.to_owned(),
        _ => random.below(9).to_string(),
    }
}

fn patch(random: &mut Random) -> String {
    if random.one_in(4) {
        let bomb: Vec<_> = (0..random.below(40))
            .map(|at| json!({"op": "copy", "from": "", "path": format!("/b{at}")}).to_string())
            .collect();
        return format!("[{}]", bomb.join(","));
    }
    let count = match random.below(20) {
        0 => 5_000,
        1 => 501,
        _ => random.below(5),
    };
    let operations: Vec<_> = (0..count)
        .map(|_| {
            let op = *random.pick(&["add", "copy", "move", "remove", "replace", "test", "none"]);
            let (from, path, value) = if count < 10 {
                (pointer(random), pointer(random), value(random))
            } else {
                ("/a".into(), "/b".into(), "1".into())
            };
            let (from, path) = (json!(from), json!(path));
            format!(r#"{{"op":"{op}","path":{path},"from":{from},"value":{value}}}"#)
        })
        .collect();
    format!("[{}]", operations.join(","))
}

fn id(random: &mut Random) -> String {
    match random.below(16) {
        0 => "x".repeat(257),
        1 => "é".repeat(128),
        2 => String::new(),
        3 => "\u{1}\n".into(),
        4 if random.one_in(8) => "x".repeat(EVENT_BYTES_MAX),
        _ => (*random.pick(&["a", "b", "c"])).to_owned(),
    }
}

fn members(random: &mut Random) -> String {
    match random.below(14) {
        0 => format!(r#","metadata":{}"#, nested_object(1 + random.below(60))),
        1 => format!(
            r#","metadata":{{"k{}":{}}}"#,
            random.below(9),
            value(random)
        ),
        2 => r#","x":1,"x":2"#.into(),
        3 => format!(r#","x":{}"#, nested(60_000)),
        4 => format!(r#","subagentRunId":{}"#, json!(id(random))),
        5 => r#","timestamp":1e999"#.into(),
        _ => String::new(),
    }
}

fn text(random: &mut Random) -> String {
    "y".repeat(random.below(20_000))
}

/// An event of some type, perhaps over a bound, perhaps out of place.
fn event(random: &mut Random) -> String {
    let (first, second) = (json!(id(random)), json!(id(random)));
    let body = match random.below(16) {
        0 => format!(r#""STATE_SNAPSHOT","snapshot":{}"#, value(random)),
        1..=3 => format!(r#""STATE_DELTA","delta":{}"#, patch(random)),
        4 => format!(
            r#""ACTIVITY_SNAPSHOT","messageId":{first},"activityType":"t","content":{{"v":{}}}"#,
            value(random)
        ),
        5 | 6 => format!(
            r#""ACTIVITY_DELTA","messageId":{first},"activityType":"t","patch":{}"#,
            patch(random)
        ),
        7 => format!(r#""TEXT_MESSAGE_START","messageId":{first},"role":"user""#),
        8 => {
            let text = text(random);
            format!(r#""TEXT_MESSAGE_CHUNK","messageId":{first},"delta":"{text}""#)
        }
        9 => format!(
            r#""TOOL_CALL_CHUNK","toolCallId":{first},"toolCallName":{second},"delta":"{{""#
        ),
        10 => format!(
            r#""TOOL_CALL_RESULT","messageId":{first},"toolCallId":{second},"content":[{{"type":"text","text":"t","metadata":{}}}]"#,
            value(random)
        ),
        11 => format!(
            r#""MESSAGES_SNAPSHOT","messages":[{{"id":{first},"role":"user","content":"c","x":{}}}]"#,
            value(random)
        ),
        12 => format!(r#""STEP_STARTED","stepName":{first}"#),
        13 => format!(r#""SUBAGENT_STARTED","subagentRunId":{first},"name":"n""#),
        14 => format!(r#""CUSTOM","name":{first},"value":{}"#, value(random)),
        _ => format!(r#""{}","value":{}"#, text(random), value(random)),
    };
    format!(r#"{{"type":{body}{}}}"#, members(random))
}

/// What every reader of the log may rely on.
pub(crate) fn check_log(world: &World, whose: &str) {
    let again = world.log.fold();
    let (held, folded) = (world.fold.conversation(), again.conversation());
    assert!(held.messages().eq(folded.messages()), "{whose}");
    assert_eq!(held.state(), folded.state(), "{whose}");
    assert_eq!(held.messages_bytes(), folded.messages_bytes(), "{whose}");
    let list: Vec<_> = held
        .messages()
        .map(|message| message.to_json().to_string())
        .collect();
    assert_eq!(held.messages_bytes(), list.join(",").len() + 2, "{whose}");
    assert!(
        held.messages_bytes() <= THREAD_MESSAGES_BYTES_MAX,
        "{whose}"
    );
    assert!(
        held.state().to_string().len() <= STATE_SNAPSHOT_BYTES_MAX,
        "{whose}"
    );
    for entry in &world.log.entries {
        let bytes = entry.record.size_bytes();
        match &entry.record.body {
            Body::Event { json, .. } if entry.record.origin == Origin::Agent => {
                assert!(json.as_str().len() <= EVENT_BYTES_MAX, "{whose}");
            }
            Body::Event { .. } => assert!(bytes <= QUOTED_BYTES_MAX + AROUND, "{whose}"),
            Body::Fact { .. } => assert!(bytes <= 2 * QUOTED_BYTES_MAX + AROUND, "{whose}"),
        }
    }
    assert!(!snapshot(folded).is_empty(), "{whose}");
}

#[test]
fn no_stream_leaves_a_log_that_cannot_be_folded() {
    let mut codes = std::collections::BTreeSet::new();
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let mut world = World::new();
        for at in 0..3 {
            let name = format!("r{at}");
            world.accepts("ann", &run(&name, ""), &name);
            let mut owner = world.play(&name, &[started(&name)]);
            for _ in 0..12 {
                world.feed(&mut owner, &[event(&mut random)]);
            }
            world.feed(&mut owner, &[finished(&name)]);
            assert!(owner.has_ended(), "seed {seed}");
            if world.status(&name) == RunStatus::Error {
                let failed = world.fold.registry().runs().last().unwrap();
                let failure = failed.failure.as_ref().unwrap();
                codes.insert(failure.code.clone().unwrap().to_string());
            }
        }
        check_log(&world, &format!("seed {seed}"));
    }
    let violation = ErrorCode::ProtocolViolation.as_str();
    codes.remove(ErrorCode::TooLarge.as_str());
    assert_eq!(codes, [violation.to_owned()].into());
}

/// Plays one event into a fresh run; the code under which it ended, if it did.
fn ends_with(line: &str) -> Option<(String, String)> {
    let mut world = accepted();
    let owner = world.play("r1", &[started("r1"), line.to_owned()]);
    let ended = owner.has_ended().then(|| failure(&world));
    check_log(&world, "one event");
    ended
}

#[test]
fn every_id_that_an_agent_makes_up_is_bounded() {
    let with_id: [fn(&str) -> Value; 18] = [
        |id| json!({"type": "SUBAGENT_STARTED", "subagentRunId": "a", "name": "n", "parentToolCallId": id}),
        |id| {
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r1",
                   "outcome": {"type": "interrupt", "interrupts": [{"id": "i", "reason": "r", "toolCallId": id}]}})
        },
        |id| json!({"type": "TEXT_MESSAGE_START", "messageId": id}),
        |id| json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": id, "delta": "x"}),
        |id| json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "n"}),
        |id| json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "n", "parentMessageId": id}),
        |id| json!({"type": "TOOL_CALL_CHUNK", "toolCallId": id, "toolCallName": "n", "delta": "x"}),
        |id| json!({"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": "c", "content": "x"}),
        |id| json!({"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": id, "content": "x"}),
        |id| json!({"type": "REASONING_START", "messageId": id}),
        |id| json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": id, "encryptedValue": "x"}),
        |id| json!({"type": "STEP_STARTED", "stepName": id}),
        |id| json!({"type": "SUBAGENT_STARTED", "subagentRunId": id, "name": "n"}),
        |id| json!({"type": "ACTIVITY_SNAPSHOT", "messageId": id, "activityType": "t", "content": {}}),
        |id| json!({"type": "CUSTOM", "name": "n", "value": 1, "subagentRunId": id}),
        |id| json!({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": id, "role": "user", "content": ""}]}),
        |id| {
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r1",
                    "outcome": {"type": "success", "pendingToolCallIds": [id]}})
        },
        |id| {
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r1",
                    "outcome": {"type": "interrupt", "interrupts": [{"id": id, "reason": "r"}]}})
        },
    ];
    for make in with_id {
        let fits = make(&"x".repeat(256)).to_string();
        let mut world = accepted();
        world.play("r1", &[started("r1"), fits.clone()]);
        assert_ne!(world.status("r1"), RunStatus::Error, "{fits}");
        for long in ["x".repeat(257), "é".repeat(129), "x".repeat(1 << 20)] {
            let (code, message) = ends_with(&make(&long).to_string()).expect("the run ended");
            assert_eq!(code, "PROTOCOL_VIOLATION");
            let told = format!("{} bytes long, at most 256", long.len());
            assert!(
                message.contains("`event-shape`") && message.contains(&told),
                "{message}"
            );
        }
    }
}

#[test]
fn what_is_kept_comes_back_in_a_run_input_whatever_its_depth() {
    let deep = |depth| nested_object(depth);
    let kept: [fn(&str) -> String; 6] = [
        |deep| format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{deep}}}"#),
        |deep| {
            format!(
                r#"{{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"t","content":{deep}}}"#
            )
        },
        |deep| format!(r#"{{"type":"TEXT_MESSAGE_START","messageId":"m","metadata":{deep}}}"#),
        |deep| {
            format!(
                r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"id":"m","role":"user","content":"","x":{deep}}}]}}"#
            )
        },
        |deep| {
            format!(
                r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"id":"m","role":"assistant","toolCalls":[{{"id":"c","type":"function","function":{{"name":"n","arguments":""}},"metadata":{deep}}}]}}]}}"#
            )
        },
        |deep| {
            format!(
                r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"id":"m","role":"user","content":[{{"type":"text","text":"","metadata":{deep}}}]}}]}}"#
            )
        },
    ];
    for (at, make) in kept.into_iter().enumerate() {
        // Parts stand in a list of objects.
        let deepest = KEPT_DEPTH_MAX - if at == 5 { 2 } else { 0 };
        let mut world = accepted();
        world.play("r1", &[started("r1"), make(&deep(deepest))]);
        assert_eq!(world.status("r1"), RunStatus::Running, "{at}");
        let (messages, state) = (
            messages(world.fold.conversation()),
            world.fold.conversation().state(),
        );
        let frame = format!(r#"{{"op":"run","input":{{"messages":{messages},"state":{state}}}}}"#);
        threadcast_agui::json::RawJson::parse(&frame).unwrap();
        for depth in [deepest + 1, 61, 300, 60_000] {
            let (code, _) = ends_with(&make(&deep(depth))).expect("the run ended");
            assert_eq!(code, "PROTOCOL_VIOLATION", "{at} at {depth}");
        }
    }
}

#[test]
fn a_bomb_of_copies_changes_nothing() {
    let copies: Vec<_> = (0..22)
        .map(|at| json!({"op": "copy", "from": "", "path": format!("/b{at}")}))
        .collect();
    let bomb = Value::from(copies);
    let mut world = accepted();
    let lines = [
        started("r1"),
        json!({"type": "STATE_SNAPSHOT", "snapshot": {"seed": "x".repeat(64)}}).to_string(),
        json!({"type": "STATE_DELTA", "delta": bomb}).to_string(),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "p", "activityType": "t", "content": {"seed": "x".repeat(64)}}).to_string(),
        json!({"type": "ACTIVITY_DELTA", "messageId": "p", "activityType": "t", "patch": bomb}).to_string(),
    ];
    world.play("r1", &lines);
    let types = world.log.types();
    assert_eq!(
        types[3..],
        [
            "STATE_SNAPSHOT",
            "STATE_DELTA",
            "state.diverged",
            "ACTIVITY_SNAPSHOT",
            "ACTIVITY_DELTA",
            "activity.diverged"
        ]
    );
    assert!(world.fold.conversation().state().to_string().len() < 100);
    assert!(world.fold.conversation().messages_bytes() < StateLimits::default().bytes_max / 100);
    check_log(&world, "a bomb");
}

#[test]
fn a_long_code_of_an_error_is_cut_in_the_runs_record() {
    let mut world = accepted();
    let long = "E".repeat(1 << 20);
    let error = json!({"type": "RUN_ERROR", "message": long, "code": long}).to_string();
    let mut owner = world.play("r1", &[started("r1")]);
    owner.feed(&error, world.now);
    let append = owner.next_append(&world.fold, world.now).unwrap();
    assert!(world.append(&append), "but the owner does not learn it");
    let again = owner.next_append(&world.fold, world.now).unwrap();
    world.owner_append(&mut owner, &again);
    assert!(owner.has_ended(), "it knows its own end by the cut code");
    let record = world.fold.registry().runs().last().unwrap();
    let failure = record.failure.as_ref().unwrap();
    assert_eq!(
        (failure.message.len(), failure.code.as_ref().unwrap().len()),
        (1024, 1024)
    );
}
