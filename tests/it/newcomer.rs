//! What the README promises: a hub, a run seen in two terminals, an approval from a third.

use std::process::Stdio;

use serde_json::json;
use threadcast_tests::program::{Program, binary};
use threadcast_tests::viewer::{Start, Viewer};
use threadcast_tests::within;
use tokio::process::Command;

/// The command line against `hub`.
fn threadcast(hub: &Program, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args).args(["--hub", &hub.ws()]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Goal: the lines the program prints do what they say. A run is watched twice and approved from
/// elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_watched_in_two_terminals_and_approved_from_a_third() {
    let hub = Program::start(&[]).await;
    let mut watching = threadcast(&hub, &["watch", "refund-7", "--json"])
        .spawn()
        .unwrap();
    let run = threadcast(
        &hub,
        &[
            "run",
            "demo",
            "Please refund order 7",
            "--thread",
            "refund-7",
        ],
    )
    .output();
    let run = within("the run up to its question", run).await.unwrap();
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    assert_eq!(
        run.status.code(),
        Some(2),
        "interrupted: {printed}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(
        printed.contains("threadcast approve refund-7"),
        "it says how to go on: {printed}"
    );

    let status = within("status", threadcast(&hub, &["status", "refund-7"]).output())
        .await
        .unwrap();
    assert!(String::from_utf8_lossy(&status.stdout).contains("interrupted"));

    let approve = threadcast(
        &hub,
        &["approve", "refund-7", "--json", r#"{"approved":true}"#],
    )
    .output();
    let approve = within("the approval", approve).await.unwrap();
    assert!(
        approve.status.success(),
        "{}",
        String::from_utf8_lossy(&approve.stderr)
    );

    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe("refund-7", Start::Snapshot).await;
    let status = within("the end of the run", async {
        loop {
            let status = viewer
                .ask(json!({ "op": "status", "threadId": "refund-7" }))
                .await;
            if status["status"] == "success" {
                return status;
            }
            viewer.frame().await.unwrap();
        }
    })
    .await;
    assert_eq!(status["status"], "success");
    watching.start_kill().unwrap();
    let watched = within("the watcher's output", watching.wait_with_output())
        .await
        .unwrap();
    let watched = String::from_utf8_lossy(&watched.stdout).into_owned();
    assert!(
        watched.contains("TEXT_MESSAGE_CONTENT"),
        "the run was seen live: {watched}"
    );
    assert!(
        watched.contains("interrupt.resolved"),
        "and so was the decision"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_the_command_line_say_what_to_do() {
    let hub = Program::start(&[]).await;
    let unknown = within(
        "run",
        threadcast(&hub, &["run", "nobody", "hello"]).output(),
    )
    .await
    .unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("agent_unknown"));
    let nothing = within("approve", threadcast(&hub, &["approve", "quiet"]).output())
        .await
        .unwrap();
    assert!(!nothing.status.success());
    assert!(!nothing.stderr.is_empty() || !nothing.stdout.is_empty());
}
