//! One golden frame of each kind and variant, as the hub writes it and as a client reads it.

use serde_json::json;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::{Epoch, Position, Seq};
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;
use threadcast_wire::answer::{CommandAnswer, Done, HelloAnswer, RunAnswer, ThreadAnswer};
use threadcast_wire::client_frame::RequestId;
use threadcast_wire::error_body::{ErrorBody, ReceivedError};
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::hub_frame::{
    HubFrame, Mode, ResetReason, Subscribed, ThreadTag, Welcome, write_draining, write_epoch,
    write_error, write_event, write_events, write_fact, write_ok, write_part, write_reset,
    write_subscribed, write_unsubscribed, write_welcome,
};
use threadcast_wire::limits::{Limits, ToldLimits};
use threadcast_wire::view::{InterruptView, RunErrorView, RunView, ThreadView};

const EVENT: &str = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m-2","delta":"half \ud83d","unknownMember":12345678901234567890.10}"#;
const FACT: &str = r#"{"type":"run.dispatched","by":{"id":"hub"},"runId":"run-1"}"#;
const INTERRUPT: &str = r#"{"id":"int-1","reason":"tool_call","responseSchema":{"type":"object"},"expiresAt":"2030-01-01T00:00:00Z"}"#;

/// One golden frame: its bytes, and how a client reads them.
pub(super) struct Golden {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) read: HubFrame,
}

fn golden(name: &'static str, read: HubFrame, write: impl FnOnce(&mut Vec<u8>)) -> Golden {
    let mut bytes = Vec::new();
    write(&mut bytes);
    Golden { name, bytes, read }
}

fn thread() -> ThreadId {
    ThreadId::new("support/4711").unwrap()
}

fn tag() -> ThreadTag {
    ThreadTag::new(&thread())
}

fn run(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

fn seq(seq: u64) -> Seq {
    Seq::new(seq).unwrap()
}

fn raw(json: &str) -> RawJson {
    RawJson::parse(json).unwrap()
}

fn head() -> Position {
    Position {
        epoch: Epoch::new("a1b2.c3d4e5"),
        seq: seq(41),
    }
}

const AT: Millis = Millis(1_767_225_600_123);

fn principal() -> Principal {
    Principal {
        id: "u-17".into(),
        name: Some("Ada".into()),
    }
}

pub(super) fn runs() -> Vec<RunView> {
    let first = RunView {
        run: run("run-1"),
        status: RunStatus::Interrupted,
        agent: "demo".to_owned(),
        by: principal(),
        seq: seq(1),
        at: AT,
        end_seq: Some(seq(41)),
        error: None,
        in_doubt: false,
    };
    let error = RunErrorView {
        code: Some("AGENT_LOST".to_owned()),
        message: "the owner is gone".to_owned(),
    };
    let failed = RunView {
        run: run("run-0"),
        status: RunStatus::Error,
        end_seq: Some(seq(9)),
        error: Some(error),
        in_doubt: true,
        ..first.clone()
    };
    vec![failed, first]
}

fn view() -> ThreadView {
    ThreadView {
        status: RunStatus::Interrupted,
        active_run: None,
        runs: runs(),
        interrupts: vec![InterruptView {
            of: run("run-1"),
            interrupt: raw(INTERRUPT),
            expired: false,
        }],
        state: None,
    }
}

fn view_with_state() -> ThreadView {
    let interrupts = vec![InterruptView {
        of: run("run-1"),
        interrupt: raw(INTERRUPT),
        expired: true,
    }];
    ThreadView {
        active_run: Some(run("run-2")),
        state: Some(raw("null")),
        interrupts,
        ..view()
    }
}

fn opening() -> Vec<Golden> {
    let welcome = Welcome {
        connection: "c-1".to_owned(),
        protocol: "threadcast.v1".to_owned(),
        node: "n-1".to_owned(),
        heartbeat_ms: 25_000,
        limits: ToldLimits::from(&Limits::default()),
    };
    let subscribed = Subscribed {
        id: Some(RequestId::Number(2)),
        thread: thread(),
        head: head(),
        mode: Mode::Snapshot,
        reason: None,
    };
    let variants = [
        ("subscribed-snapshot", subscribed.clone()),
        (
            "subscribed-resumed",
            Subscribed {
                mode: Mode::Resumed,
                ..subscribed.clone()
            },
        ),
        (
            "subscribed-log",
            Subscribed {
                mode: Mode::Log,
                ..subscribed.clone()
            },
        ),
        (
            "subscribed-tail",
            Subscribed {
                mode: Mode::Tail,
                ..subscribed.clone()
            },
        ),
        (
            "subscribed-empty-thread",
            Subscribed {
                head: Position::default(),
                ..subscribed.clone()
            },
        ),
        (
            "subscribed-invalid-position",
            Subscribed {
                reason: Some("epoch_unknown".into()),
                ..subscribed.clone()
            },
        ),
        (
            "subscribed-without-id",
            Subscribed {
                id: None,
                ..subscribed
            },
        ),
    ];
    let mut goldens = vec![golden(
        "welcome",
        HubFrame::Welcome(welcome.clone()),
        |out| write_welcome(out, &welcome),
    )];
    for (name, subscribed) in variants {
        let read = HubFrame::Subscribed(subscribed.clone());
        goldens.push(golden(name, read, |out| write_subscribed(out, &subscribed)));
    }
    goldens
}

fn entries() -> Vec<Golden> {
    let event = HubFrame::Event {
        thread: thread(),
        seq: seq(42),
        at: AT,
        event: raw(EVENT),
    };
    let fact = HubFrame::Fact {
        thread: thread(),
        seq: seq(2),
        at: AT,
        fact: raw(FACT),
    };
    let odd = ThreadId::new("a \"thread\" / 👋").unwrap();
    let odd_tag = ThreadTag::new(&odd);
    let bare = raw("{\"type\":\"X\"}");
    let odd_event = HubFrame::Event {
        thread: odd,
        seq: Seq::MAX,
        at: Millis(0),
        event: bare.clone(),
    };
    vec![
        golden("event", event, |out| {
            write_event(out, &tag(), seq(42), AT, &raw(EVENT))
        }),
        golden("event-escaped-id-last-seq", odd_event, |out| {
            write_event(out, &odd_tag, Seq::MAX, Millis(0), &bare);
        }),
        golden("fact", fact, |out| {
            write_fact(out, &tag(), seq(2), AT, &raw(FACT))
        }),
    ]
}

fn ranges() -> Vec<Golden> {
    let started = r#"{"type":"RUN_STARTED","threadId":"support/4711","runId":"run-1"}"#;
    let both = vec![raw(started), raw(EVENT)];
    let range = |name, from, events: &[RawJson], view: Option<ThreadView>| {
        let (from, seq) = (seq(from), seq(41));
        let write = |out: &mut Vec<u8>| write_events(out, &tag(), from, seq, events, view.as_ref());
        let (events, view) = (events.to_vec(), view.clone());
        golden(
            name,
            HubFrame::Events {
                thread: thread(),
                from,
                seq,
                events,
                view,
            },
            write,
        )
    };
    vec![
        range("events-baseline", 1, &both, Some(view())),
        range("events-without-a-run", 1, &[], Some(view_with_state())),
        range("events-catch-up", 40, &both, None),
    ]
}

fn parts() -> Vec<Golden> {
    let part = |name, n, last, text: &str| {
        let read = HubFrame::Part {
            thread: thread(),
            n,
            last,
            text: text.to_owned(),
        };
        golden(name, read, |out| write_part(out, &tag(), n, last, text))
    };
    vec![
        part("part", 1, false, r#"{"op":"events","thr"#),
        part("part-last", 2, true, "eadId\": \\\"👋\" }"),
    ]
}

fn turns() -> Vec<Golden> {
    let mut goldens = vec![
        golden(
            "epoch",
            HubFrame::Epoch {
                thread: thread(),
                position: head(),
            },
            |out| {
                write_epoch(out, &tag(), &head().epoch, head().seq);
            },
        ),
        golden(
            "unsubscribed",
            HubFrame::Unsubscribed {
                thread: thread(),
                code: "unavailable".into(),
                message: "no log".into(),
            },
            |out| write_unsubscribed(out, &tag(), ErrorCode::Unavailable, "no log"),
        ),
        golden(
            "draining",
            HubFrame::Draining {
                reconnect_after_ms: 1234,
            },
            |out| write_draining(out, 1234),
        ),
    ];
    let names = [
        "reset-behind",
        "reset-epoch-unknown",
        "reset-lost",
        "reset-trimmed",
    ];
    for (name, reason) in names.into_iter().zip(ResetReason::ALL) {
        let read = HubFrame::Reset {
            thread: thread(),
            position: head(),
            reason: reason.as_str().into(),
        };
        goldens.push(golden(name, read, |out| {
            write_reset(out, &tag(), &head(), reason)
        }));
    }
    goldens
}

fn errors() -> Vec<Golden> {
    let bare = ErrorBody::new(ErrorCode::BadFrame, "`threadId` is missing");
    let detailed = ErrorBody::new(ErrorCode::PayloadInvalid, "the payload for `int-1` breaks its schema")
        .with_details(json!({"interruptId": "int-1", "errors": [{"path": "/approved", "message": "is no boolean"}]}));
    let busy = ErrorBody::new(ErrorCode::ThreadBusy, "run `run-1` is active")
        .with_details(json!({"runId": "run-1"}));
    let cases = [
        ("error-without-id", None, bare),
        (
            "error-with-details",
            Some(RequestId::Text("r-9".into())),
            detailed,
        ),
        ("error-retryable", Some(RequestId::Number(9)), busy),
    ];
    let golden_of = |(name, id, body): (&'static str, Option<RequestId>, ErrorBody)| {
        let error = ReceivedError {
            code: body.code.as_str().into(),
            message: body.message.as_str().into(),
            retryable: body.code.is_retryable(),
            details: body.details.clone(),
        };
        golden(
            name,
            HubFrame::Error {
                id: id.clone(),
                error,
            },
            |out| write_error(out, id.as_ref(), &body),
        )
    };
    cases.into_iter().map(golden_of).collect()
}

pub(super) fn thread_answer() -> ThreadAnswer {
    let Position { epoch, seq } = head();
    ThreadAnswer {
        id: thread(),
        epoch,
        seq,
        status: RunStatus::Interrupted,
        thread: view(),
    }
}

pub(super) fn run_answer(id: &str, run_view: Option<RunView>) -> RunAnswer {
    let Position { epoch, seq } = head();
    let status = run_view
        .as_ref()
        .map_or(RunStatus::Unknown, |view| view.status);
    RunAnswer {
        thread: thread(),
        id: run(id),
        epoch,
        seq,
        status,
        run: run_view,
    }
}

pub(super) fn command_answer() -> CommandAnswer {
    CommandAnswer {
        thread: thread(),
        run: run("run-1"),
        seq: seq(42),
        status: RunStatus::Accepted,
        duplicate: false,
    }
}

pub(super) const OK_ID: RequestId = RequestId::Number(3);

fn ok_bytes(answer: &impl serde::Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    write_ok(&mut out, &OK_ID, answer);
    out
}

pub(super) fn answers() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("ok", ok_bytes(&Done {})),
        (
            "ok-hello",
            ok_bytes(&HelloAnswer {
                heartbeat_ms: 240_000,
            }),
        ),
        ("ok-command", ok_bytes(&command_answer())),
        ("ok-status-thread", ok_bytes(&thread_answer())),
        (
            "ok-status-run",
            ok_bytes(&run_answer("run-0", runs().into_iter().next())),
        ),
        (
            "ok-status-unknown-run",
            ok_bytes(&run_answer("run-7", None)),
        ),
    ]
}

pub(super) fn goldens() -> Vec<Golden> {
    [opening(), entries(), ranges(), parts(), turns(), errors()]
        .into_iter()
        .flatten()
        .collect()
}
