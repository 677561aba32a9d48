//! A whole stream is judged event by event, and told where it breaks.

use threadcast_agui::chunk::Expanded;
use threadcast_run_registry::ending::ErrorCode;
use threadcast_run_registry::histories::{broken_stream, stream};
use threadcast_run_registry::owner::{AgentPolicy, Owner, OwnerStart};
use threadcast_run_registry::stream_judge::{Broken, StreamJudge, Unfinished};
use threadcast_run_registry::verify::Rule;

use crate::owner::{accepted, failure};
use crate::support::messages;
use crate::world::{World, thread};

const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;
const CHUNK: &str = r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}"#;

#[track_caller]
fn judged(events: &[&str]) -> (StreamJudge, Result<Vec<Expanded>, Broken>) {
    let (last, before) = events.split_last().unwrap();
    let mut judge = StreamJudge::new();
    for event in before {
        judge.take(event).unwrap();
    }
    let told = judge.take(last);
    (judge, told)
}

/// The last event breaks `rule`, with this message.
#[track_caller]
fn breaks(events: &[&str], rule: Rule, message: &str) {
    let (judge, told) = judged(events);
    let broken = told.unwrap_err();
    assert_eq!((broken.event, broken.rule), (events.len() as u64, rule));
    assert_eq!(broken.message, message);
    assert_eq!((judge.broken(), judge.finish()), (Some(&broken), None));
}

#[test]
fn each_run_of_a_stream_has_its_own_id_and_all_one_thread() {
    breaks(
        &[STARTED, FINISHED, STARTED],
        Rule::RunIdRepeated,
        "RUN_STARTED begins run `r` a second time",
    );
    breaks(
        &[
            STARTED,
            FINISHED,
            r#"{"type":"RUN_STARTED","threadId":"u","runId":"q"}"#,
        ],
        Rule::ThreadIdMismatch,
        "RUN_STARTED names thread `u`, expected `t`",
    );
    let second = r#"{"type":"RUN_STARTED","threadId":"t","runId":"q"}"#;
    let (judge, told) = judged(&[STARTED, FINISHED, second]);
    assert!(told.is_ok());
    assert_eq!(
        judge.finish(),
        Some(Unfinished::InsideRun("q".parse().unwrap()))
    );
}

#[test]
fn an_event_is_judged_by_shape_then_size_then_chunk() {
    breaks(
        &[STARTED, r#"{"type":"CUSTOM","name":"n"}"#],
        Rule::EventShape,
        "`value` is missing",
    );
    let deep = format!(
        r#"{{"type":"STATE_SNAPSHOT","snapshot":{}{}}}"#,
        "[".repeat(57),
        "]".repeat(57)
    );
    breaks(
        &[STARTED, &deep],
        Rule::EventShape,
        "`snapshot` is nested 57 levels deep, at most 56 are allowed",
    );
    let long = format!(
        r#"{{"type":"STATE_SNAPSHOT","snapshot":"{}"}}"#,
        "x".repeat(8 << 20)
    );
    let (_, told) = judged(&[STARTED, &long]);
    assert_eq!(told.unwrap_err().rule, Rule::EventSize);
    breaks(
        &[STARTED, r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}"#],
        Rule::Chunk,
        "TEXT_MESSAGE_CHUNK: first chunk of a text message names no id",
    );
}

#[test]
fn after_a_broken_rule_nothing_is_taken_and_the_same_is_told() {
    let (mut judge, told) = judged(&[STARTED, CHUNK, STARTED]);
    let broken = told.unwrap_err();
    assert_eq!((broken.event, broken.rule), (3, Rule::NestedRun));
    // The end that the event brought stands.
    let ends: Vec<_> = broken
        .ends
        .iter()
        .map(|end| end.event.type_name())
        .collect();
    assert_eq!(ends, ["TEXT_MESSAGE_END"]);
    let held = messages(judge.conversation());
    assert_eq!(judge.take(CHUNK).unwrap_err(), broken);
    assert_eq!(judge.seen(), 3);
    assert_eq!(messages(judge.conversation()), held);
}

#[test]
fn what_is_taken_is_what_enters_a_log() {
    let (judge, told) = judged(&[STARTED, CHUNK, FINISHED]);
    let taken: Vec<_> = told
        .unwrap()
        .iter()
        .map(|one| (one.event.type_name().to_owned(), one.from_chunk))
        .collect();
    assert_eq!(
        taken,
        [
            ("TEXT_MESSAGE_END".to_owned(), true),
            ("RUN_FINISHED".to_owned(), false)
        ]
    );
    assert_eq!((judge.broken(), judge.finish()), (None, None));
}

#[test]
fn ids_of_retired_thinking_are_unique_over_the_runs_of_a_stream() {
    let mut judge = StreamJudge::new();
    for run in ["r", "q"] {
        for event in [
            &*STARTED.replace(r#""r""#, &format!("{run:?}")),
            r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#,
            r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#,
            &*FINISHED.replace(r#""r""#, &format!("{run:?}")),
        ] {
            judge.take(event).unwrap();
        }
    }
    assert_eq!(judge.conversation().messages().count(), 2);
}

#[test]
fn a_stream_of_unknown_events_is_empty() {
    let (judge, told) = judged(&[r#"{"type":"FROM_LATER"}"#]);
    assert_eq!(told.unwrap().len(), 1);
    assert_eq!(judge.finish(), Some(Unfinished::Empty));
}

/// The first run of a stream, up to its end, without what its agent echoes: the hub puts its own.
fn first_run(events: &[String]) -> Vec<String> {
    let is_end =
        |event: &String| event.contains("\"RUN_FINISHED\"") || event.contains("\"RUN_ERROR\"");
    let end = events.iter().position(is_end).unwrap_or(events.len() - 1);
    let without_input = |event: &String| match serde_json::from_str(event) {
        Ok(serde_json::Value::Object(mut members)) if event.contains("\"RUN_STARTED\"") => {
            members.shift_remove("input");
            serde_json::Value::Object(members).to_string()
        }
        _ => event.clone(),
    };
    events[..=end].iter().map(without_input).collect()
}

fn owner(world: &World, keep_raw: bool) -> Owner {
    let strict = true;
    Owner::new(OwnerStart {
        thread: thread(),
        accepted: world.accepted("r1"),
        lease: world.log.meta.holder.clone().unwrap().token,
        policy: AgentPolicy { keep_raw, strict },
    })
}

#[test]
fn raw_material_alone_continues_nothing_where_it_is_left_out() {
    let chunk = r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","subagentRunId":"s"}"#;
    let events = [
        STARTED.replace(r#""r""#, r#""r1""#),
        chunk.to_owned(),
        // Ends the item, but not the assembly in the subagent's lane.
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#.to_owned(),
        chunk.replace('}', r#","rawEvent":1}"#),
    ];
    let mut judge = StreamJudge::new();
    let broken = events.iter().find_map(|event| judge.take(event).err());
    assert_eq!(broken.map(|broken| broken.event), Some(4));
    for keep_raw in [true, false] {
        let mut world = accepted();
        let mut owner = owner(&world, keep_raw);
        world.feed(&mut owner, &events);
        assert_eq!(owner.has_ended(), keep_raw);
    }
}

/// The owner knows which run was asked for.
fn is_of_another_run(event: &str) -> bool {
    event.contains("\"RUN_STARTED\"") && !event.contains(r#""threadId":"t","runId":"r1""#)
}

#[test]
fn the_owner_of_a_run_judges_as_this_does() {
    let mut broken_count = 0;
    for seed in 0..160 {
        let events = if seed % 2 == 0 {
            stream(seed)
        } else {
            broken_stream(seed)
        };
        let events = first_run(&events);
        if events.iter().any(|event| is_of_another_run(event)) {
            continue;
        }
        let mut judge = StreamJudge::new();
        let broken = events.iter().find_map(|event| judge.take(event).err());
        let mut world = accepted();
        let mut owner = owner(&world, true);
        world.feed(&mut owner, &events);
        match broken {
            None => assert!(
                !world
                    .log
                    .events()
                    .iter()
                    .any(|event| { event.contains(ErrorCode::ProtocolViolation.as_str()) }),
                "seed {seed}"
            ),
            Some(broken) => {
                let (code, message) = failure(&world);
                assert_eq!(code, ErrorCode::ProtocolViolation.as_str(), "seed {seed}");
                assert!(
                    message.starts_with(&format!(
                        "event {} of the stream breaks rule `{}`",
                        broken.event, broken.rule
                    )),
                    "seed {seed}: {message} and {broken}"
                );
                broken_count += 1;
            }
        }
    }
    assert!(broken_count > 30, "{broken_count} streams are broken");
}
