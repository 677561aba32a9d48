//! Logs that leave a hub and come back: export, import, replay, and plain AG-UI for others.

use std::fs;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use threadcast_tests::data_dir::DataDir;
use threadcast_tests::http;
use threadcast_tests::node::{apply, steps_of};
use threadcast_tests::program::{Program, binary};
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::viewer::{Start, Viewer, events_of, last_seq};
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

async fn done(hub: &Program, args: &[&str]) -> Output {
    let output = within(args[0], threadcast(hub, args).output())
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    output
}

/// Runs a recording on `thread`; the events that a viewer from the start was told.
async fn run_all(hub: &Program, recording: &Recording, thread: &str) -> Vec<Value> {
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe(thread, Start::Log).await;
    let mut told = Vec::new();
    for (step, exchange) in steps_of(recording).iter().zip(&recording.exchanges) {
        let mut input = exchange.request.clone();
        input["threadId"] = json!(thread);
        let run = json!({ "op": "run", "agent": recording.name, "input": input });
        let answer = viewer.ask(run).await;
        if answer["op"] != "ok" {
            // Some recorded clients answered as this hub does not take it.
            assert!(!told.is_empty(), "{answer}");
            break;
        }
        let frames = viewer
            .frames_to_end(thread, step["runId"].as_str().unwrap())
            .await;
        told.extend(events_of(&frames));
    }
    told
}

async fn plain(hub: &Program, thread: &str) -> Vec<Value> {
    let output = done(hub, &["export", thread, "--format", "ag-ui"]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Goal: whatever agents said, other AG-UI programs can read the export: the published client takes
/// it, and holds what it holds when it was there.
#[tokio::test(flavor = "multi_thread")]
async fn plain_exports_of_recorded_runs_are_legal_and_amount_to_the_same() {
    let recordings = Recording::complete();
    let replay = Replay::start(recordings.clone()).await;
    let hub = Program::start(&replay.agents()).await;
    for recording in &recordings {
        let thread = format!("plain-{}", recording.name);
        let told = run_all(&hub, recording, &thread).await;
        let exported = plain(&hub, &thread).await;
        let ends = apply(&thread, &[told, exported]).await;
        assert_eq!(ends[0].error, None, "{thread}");
        assert_eq!(ends[1], ends[0], "{thread}");
    }
}

/// Goal: a log is the same on another hub, and on disk as in memory.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_imported_by_another_hub_and_exported_the_same() {
    let recordings = Recording::complete();
    let replay = Replay::start(recordings.clone()).await;
    let (from, to) = (DataDir::new(), DataDir::new());
    let files = DataDir::new();
    let hub = Program::start_on(&from, &replay.agents()).await;
    let other = Program::start_on(&to, &[]).await;
    for recording in &recordings {
        let thread = &recording.name;
        run_all(&hub, recording, thread).await;
        let file = files.path().join(thread);
        let file = file.to_str().unwrap();
        done(&hub, &["export", thread, "--output", file]).await;
        done(&other, &["import", file]).await;
        let again = done(&other, &["export", thread]).await.stdout;
        let (was, is) = (
            fs::read_to_string(file).unwrap(),
            String::from_utf8(again).unwrap(),
        );
        // The first line names the epochs, which are each hub's own.
        assert!(was.lines().skip(1).eq(is.lines().skip(1)), "{thread}");
        assert_eq!(
            plain(&hub, thread).await,
            plain(&other, thread).await,
            "{thread}"
        );
    }
    let refused = threadcast(
        &other,
        &["import", files.path().join(RECORDED).to_str().unwrap()],
    );
    let refused = within("import", { refused }.output()).await.unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("thread_exists"), "{said}");
}

const RECORDED: &str = "agui-langgraph-interrupt";

/// Goal: who watches a replay sees what was seen then, entry by entry.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_watched_like_the_run_it_replays() {
    let recording = Recording::load(RECORDED);
    let replay = Replay::start([recording.clone()]).await;
    let hub = Program::start(&replay.agents()).await;
    let told = run_all(&hub, &recording, "then").await;
    let dir = DataDir::new();
    let file = dir.path().join("then.jsonl");
    let file = file.to_str().unwrap();
    done(&hub, &["export", "then", "--output", file]).await;

    for speed in ["1", "instant"] {
        let thread = format!("again-{speed}");
        let mut viewer = Viewer::connect(&hub.ws()).await;
        viewer.subscribe(&thread, Start::Log).await;
        done(
            &hub,
            &["replay", file, "--thread", &thread, "--speed", speed],
        )
        .await;
        let head = viewer
            .ask(json!({ "op": "status", "threadId": thread }))
            .await;
        let frames = viewer
            .frames_to(&thread, head["seq"].as_u64().unwrap())
            .await;
        let renamed: Vec<Value> = told
            .iter()
            .map(|event| {
                let event = event
                    .to_string()
                    .replace("\"then\"", &format!("\"{thread}\""));
                serde_json::from_str(&event).unwrap()
            })
            .collect();
        assert_eq!(events_of(&frames), renamed, "{speed}");
    }
    assert_eq!(replay.requests("again-1").len(), 0, "no agent is called");
}

/// Goal: a replay that is broken off leaves nothing, and its name can be used again.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_is_broken_off_leaves_no_thread() {
    let hub = Program::start(&[]).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe("then", Start::Log).await;
    let input = json!({ "threadId": "then", "runId": "r", "messages": [] });
    viewer
        .ask(json!({ "op": "run", "agent": "demo", "input": input }))
        .await;
    let head = last_seq(&viewer.frames_to_end("then", "r").await);
    let exported = done(&hub, &["export", "then"]).await.stdout;
    // Its second half comes a day later.
    let text = String::from_utf8(exported).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let half = lines.len() / 2;
    for line in &mut lines[half..] {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        entry["at"] = json!(entry["at"].as_u64().unwrap() + 86_400_000);
        *line = entry.to_string();
    }
    let dir = DataDir::new();
    let file = dir.path().join("slow.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();

    let mut watcher = Viewer::connect(&hub.ws()).await;
    watcher.subscribe("again", Start::Log).await;
    let file = file.to_str().unwrap();
    let mut replaying = threadcast(&hub, &["replay", file, "--thread", "again"])
        .spawn()
        .unwrap();
    watcher.frames_to("again", half as u64 - 1).await;
    replaying.kill().await.unwrap();
    // Viewers are told that it is gone.
    while watcher.frame().await.expect("the line stands")["op"] != "reset" {}
    let view = http::get(hub.address(), "/threads/again").await;
    assert_eq!(view.status, 404, "{}", view.text);
    done(
        &hub,
        &["replay", file, "--thread", "again", "--speed", "instant"],
    )
    .await;
    let view = http::get(hub.address(), "/threads/again").await.json();
    assert_eq!(view["seq"], head);
}
