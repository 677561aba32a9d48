//! Requests and their answers, over breaks as well.

use std::time::Duration;

use futures::future::join_all;
use threadcast_client::agui::interrupt::ResumeEntry;
use threadcast_client::agui::run_input::RunInput;
use threadcast_client::{Client, Options};
use threadcast_wire::client_frame::{ClientFrame, ClientOp};

use crate::fake_hub::{FakeHub, number, options, within};

fn input(run: &str) -> RunInput {
    RunInput::read(&format!(
        r#"{{"threadId":"th","runId":"{run}","messages":[]}}"#
    ))
    .unwrap()
}

fn answer(id: i64, run: &str, duplicate: bool) -> String {
    format!(
        r#"{{"op":"ok","id":{id},"threadId":"th","runId":"{run}","seq":7,"status":"accepted","duplicate":{duplicate},"later":1}}"#
    )
}

#[tokio::test]
async fn a_request_without_an_answer_is_repeated_after_a_break() {
    let (hub, client, mut line) = FakeHub::joined(options()).await;
    let play = async {
        let first = line.next().await;
        line.cut();
        let mut line = hub.accept().await;
        let second = line.next().await;
        assert_eq!(first, second, "the run id makes it the same request");
        line.send(&answer(number(&second.id.unwrap()), "r1", true))
            .await;
    };
    let (answered, ()) =
        within(async { tokio::join!(client.run("demo", input("r1")), play) }).await;
    let answered = answered.unwrap();
    assert_eq!(
        (
            answered.run.as_str(),
            answered.seq.get(),
            answered.duplicate
        ),
        ("r1", 7, true)
    );
}

#[tokio::test]
async fn answers_are_matched_by_id_in_any_order() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let runs: Vec<String> = (0..40).map(|n| format!("r{n}")).collect();
    let asked = join_all(runs.iter().map(|run| client.run("demo", input(run))));
    let play = async {
        let mut open: Vec<ClientFrame> = Vec::new();
        for answered in 0..40 {
            // As many as the client sends before it waits for answers; then the latest is answered
            // first.
            while open.len() < 16.min(40 - answered) {
                open.push(line.next().await);
            }
            let ClientFrame {
                id,
                op: ClientOp::Run { input, .. },
            } = open.pop().unwrap()
            else {
                panic!()
            };
            line.send(&answer(number(&id.unwrap()), input.run.as_str(), false))
                .await;
        }
    };
    let (answered, ()) = within(async { tokio::join!(asked, play) }).await;
    let answered: Vec<String> = answered
        .into_iter()
        .map(|answer| answer.unwrap().run.to_string())
        .collect();
    assert_eq!(answered, runs);
}

#[tokio::test]
async fn a_refusal_carries_code_message_and_details() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let entry =
        ResumeEntry::read(r#"{"interruptId":"i","status":"resolved","payload":{"approved":1}}"#)
            .unwrap();
    let resume = client.resume(
        "th".parse().unwrap(),
        "r1".parse().unwrap(),
        "r2".parse().unwrap(),
        vec![entry],
    );
    let play = async {
        let frame = line.next().await;
        let ClientOp::Resume {
            of, run, entries, ..
        } = &frame.op
        else {
            panic!("{frame:?}")
        };
        assert_eq!((of.as_str(), run.as_str(), entries.len()), ("r1", "r2", 1));
        let id = number(&frame.id.unwrap());
        line.send(&format!(
            r#"{{"op":"error","id":{id},"code":"payload_invalid","message":"1 is no boolean","retryable":false,"details":{{"interruptId":"i","errors":[{{"path":"/approved","message":"1 is no boolean"}}]}}}}"#
        ))
        .await;
    };
    let (refused, ()) = within(async { tokio::join!(resume, play) }).await;
    let error = refused.unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("payload_invalid", false)
    );
    assert_eq!(error.to_string(), "1 is no boolean");
    assert_eq!(error.details().unwrap()["errors"][0]["path"], "/approved");
}

#[tokio::test]
async fn a_code_of_a_later_version_passes() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let play = async {
        let id = number(&line.next().await.id.unwrap());
        line.send(&format!(
            r#"{{"op":"error","id":{id},"code":"moon_full","message":"wait","retryable":true}}"#
        ))
        .await;
    };
    let cancel = client.cancel(
        "th".parse().unwrap(),
        "r1".parse().unwrap(),
        Some("enough".to_owned()),
    );
    let (refused, ()) = within(async { tokio::join!(cancel, play) }).await;
    let error = refused.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("moon_full", true));
}

#[tokio::test]
async fn a_request_ends_by_its_deadline_and_says_what_kept_it() {
    let impatient = Options {
        request_timeout: Duration::from_millis(30),
        ..options()
    };
    let (_hub, client, _mute) = FakeHub::joined(impatient.clone()).await;
    let error = within(client.ping()).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("timeout", "ping had no answer within 30ms")
    );

    let gone = FakeHub::new().await;
    let url = gone.url.clone();
    drop(gone);
    let client = Client::connect_in_background(&url, impatient).unwrap();
    let error = within(client.ping()).await.unwrap_err();
    assert_eq!(error.code(), "timeout");
    assert!(
        error.to_string().ends_with("could not be reached"),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_after_its_deadline_harms_nobody() {
    let impatient = Options {
        request_timeout: Duration::from_millis(30),
        ..options()
    };
    let (_hub, client, mut line) = FakeHub::joined(impatient).await;
    within(client.ping()).await.unwrap_err();
    let late = number(&line.next().await.id.unwrap());
    line.send(&format!(r#"{{"op":"ok","id":{late}}}"#)).await;
    let play = async {
        let id = number(&line.next().await.id.unwrap());
        assert_ne!(id, late);
        line.send(&format!(r#"{{"op":"ok","id":{id}}}"#)).await;
    };
    let (pinged, ()) = within(async { tokio::join!(client.ping(), play) }).await;
    pinged.unwrap();
}

#[tokio::test]
async fn status_is_typed() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let play = async {
        let id = number(&line.next().await.id.unwrap());
        line.send(&format!(
            r#"{{"op":"ok","id":{id},"threadId":"th","epoch":"e","seq":4,"status":"running","thread":{{"status":"running","activeRun":"r1","runs":[],"interrupts":[]}}}}"#
        ))
        .await;
        let id = number(&line.next().await.id.unwrap());
        line.send(&format!(
            r#"{{"op":"ok","id":{id},"threadId":"th","runId":"r9","epoch":"e","seq":4,"status":"unknown"}}"#
        ))
        .await;
    };
    let ask = async {
        let thread = client.thread_status("th".parse().unwrap()).await.unwrap();
        assert_eq!(thread.thread.active_run.unwrap().as_str(), "r1");
        let run = client
            .run_status("th".parse().unwrap(), "r9".parse().unwrap())
            .await
            .unwrap();
        assert_eq!((run.status.as_str(), run.run), ("unknown", None));
    };
    within(async { tokio::join!(ask, play) }).await;
}

fn long_input(run: &str) -> RunInput {
    let text = "x".repeat(500);
    RunInput::read(&format!(
        r#"{{"threadId":"th","runId":"{run}","messages":[{{"id":"m","role":"user","content":"{text}"}}]}}"#
    ))
    .unwrap()
}

/// A hub closes the connection that sends it too long a frame, so the client does not.
#[tokio::test]
async fn a_frame_the_hub_would_not_take_is_refused_and_harms_nobody() {
    let mut hub = FakeHub::new().await;
    hub.frame_bytes = 500;
    let (client, mut line) = hub.join(options()).await;
    let error = within(client.run("demo", long_input("r1")))
        .await
        .unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("too_large", false));
    assert!(
        error.to_string().starts_with("`run` is a frame of 6")
            && error.to_string().ends_with(" bytes, the hub takes 500"),
        "{error}"
    );
    let play = async {
        let frame = line.next().await;
        assert_eq!(frame.op, ClientOp::Ping, "nothing else was sent");
        let id = number(&frame.id.unwrap());
        line.send(&format!(r#"{{"op":"ok","id":{id}}}"#)).await;
    };
    let (pinged, ()) = within(async { tokio::join!(client.ping(), play) }).await;
    pinged.unwrap();
}

/// Another node may take less, and before the first `welcome` nothing is known.
#[tokio::test]
async fn the_bound_on_frames_is_that_of_the_present_connection() {
    let mut hub = FakeHub::new().await;
    hub.frame_bytes = 1_000;
    let client = Client::connect_in_background(&hub.url, options()).unwrap();
    let play = async {
        let mut line = hub.accept().await;
        let sent = line.next().await;
        assert_eq!(sent.op.name(), "run");
        line.cut();
        hub.frame_bytes = 500;
        hub.accept().await
    };
    let (refused, mut line) =
        within(async { tokio::join!(client.run("demo", long_input("r1")), play) }).await;
    assert_eq!(refused.unwrap_err().code(), "too_large");
    let play = async {
        let frame = line.next().await;
        assert_eq!(frame.op, ClientOp::Ping, "nothing else was sent");
        let id = number(&frame.id.unwrap());
        line.send(&format!(r#"{{"op":"ok","id":{id}}}"#)).await;
    };
    let (pinged, ()) = within(async { tokio::join!(client.ping(), play) }).await;
    pinged.unwrap();
}
