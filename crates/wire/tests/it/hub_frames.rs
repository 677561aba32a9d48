//! Golden hub frames, and what a client makes of frames that are none of ours.

use threadcast_wire::answer::{CommandAnswer, Done, HelloAnswer, RunAnswer, ThreadAnswer};
use threadcast_wire::hub_frame::{AnswerText, HubFrame};
use threadcast_wire::limits::ToldLimits;

use crate::fixtures;
use golden::{OK_ID, answers, command_answer, goldens, run_answer, runs, thread_answer};

mod golden;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn hub_frames_are_written_as_the_golden_files_say() {
    let frames = goldens()
        .into_iter()
        .map(|golden| (golden.name, golden.bytes))
        .chain(answers());
    let fixtures: Vec<_> = frames
        .map(|(name, bytes)| (format!("{name}.json"), text(bytes)))
        .collect();
    fixtures::check(&fixtures::folder("frames/hub"), &fixtures);
}

#[test]
fn golden_hub_frames_are_read_as_what_was_written() {
    for golden in goldens() {
        let path = fixtures::folder("frames/hub").join(format!("{}.json", golden.name));
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(
            HubFrame::read(&text).unwrap(),
            golden.read,
            "{}",
            golden.name
        );
    }
}

fn answer_in(name: &str) -> AnswerText {
    let file = std::fs::read_to_string(fixtures::folder("frames/hub").join(format!("{name}.json")))
        .unwrap();
    match HubFrame::read(&file).unwrap() {
        HubFrame::Ok { id: OK_ID, answer } => answer,
        other => panic!("{name} is read as {other:?}"),
    }
}

#[test]
fn golden_answers_are_read_as_what_was_written() {
    assert_eq!(answer_in("ok").read::<Done>().unwrap(), Done {});
    assert_eq!(
        answer_in("ok-hello").read::<HelloAnswer>().unwrap(),
        HelloAnswer {
            heartbeat_ms: 240_000
        }
    );
    assert_eq!(
        answer_in("ok-command").read::<CommandAnswer>().unwrap(),
        command_answer()
    );
    assert_eq!(
        answer_in("ok-status-thread")
            .read::<ThreadAnswer>()
            .unwrap(),
        thread_answer()
    );
    assert_eq!(
        answer_in("ok-status-unknown-run")
            .read::<RunAnswer>()
            .unwrap(),
        run_answer("run-7", None)
    );
    let failed = run_answer("run-0", runs().into_iter().next());
    assert_eq!(
        answer_in("ok-status-run").read::<RunAnswer>().unwrap(),
        failed
    );
}

#[test]
fn an_answer_to_another_request_has_no_such_type() {
    assert!(answer_in("ok").read::<CommandAnswer>().is_err());
}

#[test]
fn an_op_of_a_later_version_is_read_as_unknown() {
    let read = HubFrame::read(r#"{"op":"presence","threadId":"t","viewers":3}"#).unwrap();
    assert_eq!(
        read,
        HubFrame::Unknown {
            op: "presence".into()
        }
    );
}

#[test]
fn what_a_later_version_adds_is_ignored() {
    let read = HubFrame::read(
        r#"{"op":"welcome","connection":"c","protocol":"threadcast.v1","node":"n","heartbeatMs":1,"expiresAt":5,"limits":{"newLimit":1}}"#,
    );
    let HubFrame::Welcome(welcome) = read.unwrap() else {
        panic!("a welcome is read as one")
    };
    assert_eq!(welcome.limits, ToldLimits::default());
}

#[test]
fn a_code_of_a_later_version_is_kept_with_its_retryable_bit() {
    let read = HubFrame::read(
        r#"{"op":"error","id":1,"code":"claimed","message":"…","retryable":true,"details":{"by":{}}}"#,
    );
    let HubFrame::Error { error, .. } = read.unwrap() else {
        panic!("an error is read as one")
    };
    assert_eq!(
        (&*error.code, error.known_code(), error.retryable),
        ("claimed", None, true)
    );
}

#[test]
fn broken_hub_frames_are_refused() {
    let broken = [
        "",
        "{",
        "[]",
        r#"{"seq":1}"#,
        r#"{"op":"event","threadId":"t","seq":1,"at":0}"#,
        r#"{"op":"event","threadId":"t","seq":"1","at":0,"event":{}}"#,
        r#"{"op":"event","threadId":"t","seq":1,"at":0,"event":{"a":1,"a":2}}"#,
        r#"{"op":"events","threadId":"t","seq":1,"from":1,"events":{}}"#,
        r#"{"op":"events","threadId":"t","seq":1,"from":1,"events":[],"thread":{"status":"asleep"}}"#,
        r#"{"op":"part","threadId":"t","n":0,"text":""}"#,
        r#"{"op":"subscribed","threadId":"t","epoch":"","seq":0,"mode":"other"}"#,
        r#"{"op":"ok"}"#,
        r#"{"op":"error","code":"internal","message":"…"}"#,
        &format!(
            r#"{{"op":"event","threadId":"t","seq":1,"at":0,"event":{}}}"#,
            nested(1000)
        ),
    ];
    for text in broken {
        assert!(HubFrame::read(text).is_err(), "{text}");
    }
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

/// An event of the largest depth has a frame around it; a state, an activity's content and a
/// message's member of that depth have an event, a message and a list around them as well.
#[test]
fn what_stands_around_values_of_the_largest_depth_is_read() {
    let event = format!(r#"{{"type":"CUSTOM","name":"n","value":{}}}"#, nested(63));
    let frame = format!(r#"{{"op":"event","threadId":"t","seq":1,"at":0,"event":{event}}}"#);
    let HubFrame::Event { event: read, .. } = HubFrame::read(&frame).unwrap() else {
        panic!("an event is read as one")
    };
    assert_eq!(read.as_str(), event);

    let state = format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{}}}"#, nested(64));
    let messages = format!(
        r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"id":"a","role":"activity","activityType":"A","content":{{"a":{}}}}}]}}"#,
        nested(63)
    );
    let frame = format!(
        r#"{{"op":"events","threadId":"t","from":1,"seq":2,"events":[{state},{messages}],"thread":{{"status":"success","runs":[],"interrupts":[],"state":{}}}}}"#,
        nested(64)
    );
    let HubFrame::Events { events, view, .. } = HubFrame::read(&frame).unwrap() else {
        panic!("a baseline is read as one")
    };
    assert_eq!(
        events.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        [state, messages]
    );
    assert_eq!(view.unwrap().state.unwrap().as_str(), nested(64));
}
