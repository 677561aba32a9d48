//! Golden client frames.

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::run_input::RunInput;
use threadcast_thread_log::position::{Epoch, Position, Seq};
use threadcast_wire::client_frame::{
    ClientFrame, ClientName, ClientOp, OnBusy, RequestId, SubscribeStart,
};

use crate::fixtures;

const INPUT: &str = r#"{"threadId":"support/4711","runId":"run-1","protocolVersion":"1.0","state":{},"messages":[{"id":"m-1","role":"user","content":"Refund order 4711, please."}],"tools":[],"context":[],"forwardedProps":{"locale":"de"}}"#;

const INPUT_WITH_RESUME: &str = r#"{"threadId":"support/4711","runId":"run-2","messages":[],"resume":[{"interruptId":"int-1","status":"resolved","payload":{"approved":true}},{"interruptId":"int-2","status":"cancelled"}],"unknownMember":12345678901234567890.10}"#;

const ENTRIES: [&str; 2] = [
    r#"{"interruptId":"int-1","status":"resolved","payload":{"approved":true,"editedArgs":{"amount":40.50}}}"#,
    r#"{"interruptId":"int-2","status":"cancelled"}"#,
];

fn thread() -> ThreadId {
    ThreadId::new("support/4711").unwrap()
}

fn run(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

fn subscribe(start: SubscribeStart) -> ClientOp {
    ClientOp::Subscribe {
        thread: thread(),
        start,
    }
}

fn run_op(input: &str) -> ClientOp {
    ClientOp::Run {
        agent: "demo".to_owned(),
        input: RunInput::read(input).unwrap(),
        on_busy: OnBusy::Reject,
    }
}

fn greetings() -> Vec<(&'static str, ClientOp)> {
    let client = ClientName {
        name: "threadcast".to_owned(),
        version: "0.1.0".to_owned(),
    };
    let hello = |heartbeat_ms| ClientOp::Hello {
        client: client.clone(),
        heartbeat_ms,
    };
    vec![
        ("hello", hello(None)),
        ("hello-heartbeat", hello(Some(240_000))),
        ("ping", ClientOp::Ping),
    ]
}

fn subscriptions() -> Vec<(&'static str, ClientOp)> {
    let position = Position {
        epoch: Epoch::new("a1b2.c3d4e5"),
        seq: Seq::new(41).unwrap(),
    };
    let nothing = SubscribeStart::Position(Position::default());
    let odd = ThreadId::new("a \"thread\" / 👋").unwrap();
    let odd = ClientOp::Subscribe {
        thread: odd,
        start: SubscribeStart::Keep,
    };
    vec![
        ("subscribe", subscribe(SubscribeStart::Keep)),
        ("subscribe-snapshot", subscribe(SubscribeStart::Snapshot)),
        ("subscribe-log", subscribe(SubscribeStart::Log)),
        ("subscribe-tail", subscribe(SubscribeStart::Tail)),
        (
            "subscribe-position",
            subscribe(SubscribeStart::Position(position.clone())),
        ),
        (
            "subscribe-log-after-position",
            subscribe(SubscribeStart::LogAfter(position)),
        ),
        ("subscribe-position-of-nothing", subscribe(nothing)),
        ("subscribe-escaped-id", odd),
        ("unsubscribe", ClientOp::Unsubscribe { thread: thread() }),
    ]
}

fn commands() -> Vec<(&'static str, ClientOp)> {
    let entries = ENTRIES
        .iter()
        .map(|entry| ResumeEntry::read(entry).unwrap())
        .collect();
    let resume = ClientOp::Resume {
        thread: thread(),
        of: run("run-1"),
        run: run("run-2"),
        entries,
    };
    let cancel = |reason| ClientOp::Cancel {
        thread: thread(),
        run: run("run-1"),
        reason,
    };
    let status = |run| ClientOp::Status {
        thread: thread(),
        run,
    };
    vec![
        ("run", run_op(INPUT)),
        ("run-with-resume", run_op(INPUT_WITH_RESUME)),
        ("resume", resume),
        ("cancel", cancel(None)),
        (
            "cancel-with-reason",
            cancel(Some("the customer hung up".to_owned())),
        ),
        ("status-thread", status(None)),
        ("status-run", status(Some(run("run-1")))),
    ]
}

fn frames() -> Vec<(&'static str, ClientFrame)> {
    let ops = [greetings(), subscriptions(), commands()]
        .into_iter()
        .flatten();
    let number = |(at, (name, op))| {
        (
            name,
            ClientFrame {
                id: Some(RequestId::Number(at)),
                op,
            },
        )
    };
    let mut frames: Vec<_> = (1..).zip(ops).map(number).collect();
    frames.push((
        "ping-without-id",
        ClientFrame {
            id: None,
            op: ClientOp::Ping,
        },
    ));
    frames.push((
        "ping-named",
        ClientFrame {
            id: Some(RequestId::Text("tab-7/\"x\"".into())),
            op: ClientOp::Ping,
        },
    ));
    frames
}

#[test]
fn client_frames_are_written_as_the_golden_files_say() {
    let written = frames()
        .iter()
        .map(|(name, frame)| (format!("{name}.json"), frame.write()))
        .collect::<Vec<_>>();
    fixtures::check(&fixtures::folder("frames/client"), &written);
}

#[test]
fn golden_client_frames_are_read_as_what_was_written() {
    for (name, frame) in frames() {
        let path = fixtures::folder("frames/client").join(format!("{name}.json"));
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(ClientFrame::read(&text), Ok(frame), "{name}");
    }
}

#[test]
fn a_run_input_keeps_its_bytes() {
    let ClientOp::Run { input, .. } = ClientFrame::read(
        &ClientFrame {
            id: None,
            op: run_op(INPUT_WITH_RESUME),
        }
        .write(),
    )
    .unwrap()
    .op
    else {
        panic!("a run is read as a run");
    };
    assert_eq!(input.json.as_str(), INPUT_WITH_RESUME);
}

#[test]
fn white_space_order_and_unknown_members_do_not_matter() {
    let text = " {\n \"after\" : 3,\r\n\t\"threadId\":\"t\",\"\\u006fp\":\"subscribe\", \"later\":[{}], \"epoch\":\"e\" } ";
    let position = Position {
        epoch: Epoch::new("e"),
        seq: Seq::new(3).unwrap(),
    };
    let op = ClientOp::Subscribe {
        thread: ThreadId::new("t").unwrap(),
        start: SubscribeStart::Position(position),
    };
    assert_eq!(ClientFrame::read(text), Ok(ClientFrame { id: None, op }));
}

#[test]
fn reject_is_what_a_run_asks_without_saying_so() {
    let text = format!(r#"{{"op":"run","agent":"demo","onBusy":"reject","input":{INPUT}}}"#);
    assert_eq!(ClientFrame::read(&text).unwrap().op, run_op(INPUT));
}
