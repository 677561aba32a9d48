//! Whatever breaks and wherever, a viewer that returns with its position has each entry exactly
//! once.

use std::sync::Arc;

use serde_json::{Value, json};
use threadcast_tests::node::{apply, steps_of};
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::viewer::{Start, Viewer, events_of, last_seq};

/// Runs that stream text, reasoning, tools, state and activities, pause for a human and go on.
const RUNS: &[&str] = &[
    "agui-pydantic-tools-state-reasoning",
    "agui-pydantic-approval-interrupt",
    "agui-langgraph-tools-reasoning",
    "agui-langgraph-interrupt",
    "agui-langgraph-subagents",
];

/// No frame of a thread is shorter in bytes.
const FRAME_BYTES_MIN: usize = 90;

/// A viewer's position: what it must keep, and nothing else.
#[derive(Clone, Debug, Default)]
struct Position {
    epoch: String,
    seq: u64,
}

impl Position {
    fn follow(&mut self, frame: &Value) {
        match frame["op"].as_str() {
            Some("subscribed" | "epoch") => {
                self.epoch = frame["epoch"].as_str().unwrap().to_owned()
            }
            Some("event" | "fact" | "events") => self.seq = frame["seq"].as_u64().unwrap(),
            _ => {}
        }
    }
}

/// Starts the runs of a recording over the socket, one after the other, and returns the head they
/// led to.
async fn run_all(hub: &Program, recording: &Recording, thread: &str) -> u64 {
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe(thread, Start::Log).await;
    let mut head = 0;
    for (step, exchange) in steps_of(recording).iter().zip(&recording.exchanges) {
        let run = step["runId"].as_str().unwrap();
        let mut input = exchange.request.clone();
        input["threadId"] = json!(thread);
        let answer = viewer
            .ask(json!({ "op": "run", "agent": recording.name, "input": input }))
            .await;
        assert_eq!(answer["op"], "ok", "{}: {answer}", recording.name);
        head = last_seq(&viewer.frames_to_end(thread, run).await);
    }
    head
}

/// Opens a socket and subscribes from `position`, or from the start of the log without one.
async fn follow(hub: &Program, thread: &str, position: &mut Position) -> Viewer {
    let mut viewer = Viewer::connect_counted(&hub.ws()).await;
    let start = if position.epoch.is_empty() {
        Start::Log
    } else {
        Start::LogAfter(&position.epoch, position.seq)
    };
    let answer = viewer.subscribe(thread, start).await;
    assert!(
        matches!(answer["mode"].as_str(), Some("log" | "resumed")),
        "{answer}"
    );
    position.follow(&answer);
    viewer
}

/// Reads entries until `done` says so or the line dies.
async fn read(
    viewer: &mut Viewer,
    position: &mut Position,
    entries: &mut Vec<Value>,
    done: impl Fn(&Position, &[Value]) -> bool,
) {
    while !done(position, entries) {
        let Some(frame) = viewer.frame().await else {
            return;
        };
        position.follow(&frame);
        if matches!(frame["op"].as_str(), Some("event" | "fact")) {
            entries.push(frame);
        }
    }
}

async fn read_to(
    hub: &Program,
    thread: &str,
    position: &mut Position,
    entries: &mut Vec<Value>,
    head: u64,
) {
    let mut viewer = follow(hub, thread, position).await;
    read(&mut viewer, position, entries, |position, _| {
        position.seq >= head
    })
    .await;
}

/// Asserts that `entries` are those of the log from its start, each once and unchanged.
async fn assert_whole(hub: &Program, thread: &str, head: u64, entries: &[Value], what: &str) {
    let (mut position, mut all) = (Position::default(), Vec::new());
    read_to(hub, thread, &mut position, &mut all, head).await;
    let seqs = |entries: &[Value]| {
        entries
            .iter()
            .map(|entry| entry["seq"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        seqs(&all),
        (1..=head).collect::<Vec<_>>(),
        "{thread}: the log itself"
    );
    assert_eq!(seqs(entries), seqs(&all), "{thread}, {what}");
    assert!(
        entries == all,
        "{thread}, {what}: entries differ in more than their seqs"
    );
}

struct Stage {
    recordings: Vec<Recording>,
    replay: Replay,
    hub: Arc<Program>,
}

async fn stage() -> Stage {
    let recordings: Vec<Recording> = RUNS.iter().map(|name| Recording::load(name)).collect();
    let replay = Replay::start(recordings.clone()).await;
    let hub = Arc::new(Program::start(&replay.agents()).await);
    Stage {
        recordings,
        replay,
        hub,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_boundary_of_an_ended_run_resumes_whole() {
    let Stage {
        recordings,
        replay: _replay,
        hub,
    } = stage().await;
    for recording in &recordings {
        let thread = format!("boundaries-{}", recording.name);
        let head = run_all(&hub, recording, &thread).await;
        for count in 0..=usize::try_from(head).unwrap() {
            let (mut position, mut entries) = (Position::default(), Vec::new());
            let mut viewer = follow(&hub, &thread, &mut position).await;
            read(&mut viewer, &mut position, &mut entries, |_, entries| {
                entries.len() == count
            })
            .await;
            drop(viewer);
            read_to(&hub, &thread, &mut position, &mut entries, head).await;
            assert_whole(
                &hub,
                &thread,
                head,
                &entries,
                &format!("cut after {count} frames"),
            )
            .await;
        }
    }
}

/// Who comes back far behind is sent ranges: they touch, and a client holds the same behind them.
#[tokio::test(flavor = "multi_thread")]
async fn every_boundary_of_an_ended_run_is_caught_up_by_ranges() {
    let Stage {
        recordings,
        replay: _replay,
        hub,
    } = stage().await;
    for recording in &recordings {
        let thread = format!("ranges-{}", recording.name);
        let head = run_all(&hub, recording, &thread).await;
        let (mut position, mut log) = (Position::default(), Vec::new());
        read_to(&hub, &thread, &mut position, &mut log, head).await;
        let (mut ranges, mut viewers) = (0, vec![events_of(&log)]);
        for count in 0..log.len() {
            let mut viewer = Viewer::connect(&hub.ws()).await;
            let epoch = if count == 0 { "" } else { &position.epoch };
            viewer
                .subscribe(&thread, Start::After(epoch, count as u64))
                .await;
            let rest = viewer.frames_to(&thread, head).await;
            let mut held = count as u64;
            for frame in rest.iter().filter(|frame| frame["op"] != "epoch") {
                let from = frame.get("from").unwrap_or_else(|| &frame["seq"]).as_u64();
                assert_eq!(from, Some(held + 1), "{thread}, cut after {count}: {frame}");
                held = frame["seq"].as_u64().unwrap();
                ranges += usize::from(frame["op"] == "events");
            }
            viewers.push(events_of(&[&log[..count], &rest[..]].concat()));
        }
        assert!(ranges > log.len() / 2, "{thread}: {ranges} ranges");
        let ends = apply(&thread, &viewers).await;
        assert_eq!(ends[0].error, None, "{thread}");
        for (count, end) in ends[1..].iter().enumerate() {
            assert_eq!(*end, ends[0], "{thread}, cut after {count}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_inside_every_frame_resumes_whole() {
    let Stage {
        recordings,
        replay: _replay,
        hub,
    } = stage().await;
    for recording in &recordings {
        let thread = format!("inside-{}", recording.name);
        let head = run_all(&hub, recording, &thread).await;
        // No frame is shorter than the step, so every frame has a cut inside.
        for bytes in (1..).step_by(FRAME_BYTES_MIN) {
            let (mut position, mut entries) = (Position::default(), Vec::new());
            let mut viewer = follow(&hub, &thread, &mut position).await;
            viewer.cut_after(bytes);
            read(&mut viewer, &mut position, &mut entries, |position, _| {
                position.seq >= head
            })
            .await;
            drop(viewer);
            let was_whole = position.seq >= head;
            read_to(&hub, &thread, &mut position, &mut entries, head).await;
            assert_whole(
                &hub,
                &thread,
                head,
                &entries,
                &format!("cut after {bytes} bytes"),
            )
            .await;
            if was_whole {
                break;
            }
        }
    }
}

/// How a viewer leaves and returns around one cut.
#[derive(Clone, Copy, Debug)]
enum Leaving {
    Once,
    TwiceInARow,
    UntilTheRunsEnded,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_cut_of_a_live_run_resumes_whole() {
    let Stage {
        recordings,
        replay,
        hub,
    } = stage().await;
    for recording in &recordings {
        for blocks in 0..recording.block_count() {
            let leaving = [
                Leaving::Once,
                Leaving::TwiceInARow,
                Leaving::UntilTheRunsEnded,
            ][blocks % 3];
            cut_live(&hub, &replay, recording, blocks, leaving).await;
        }
    }
}

/// Cuts a viewer's line while the agent has said `blocks` blocks and no more.
async fn cut_live(
    hub: &Arc<Program>,
    replay: &Replay,
    recording: &Recording,
    blocks: usize,
    leaving: Leaving,
) {
    let thread = format!("live-{}-{blocks}", recording.name);
    let hold = replay.hold(&thread);
    hold.allow(blocks);
    let (mut position, mut entries) = (Position::default(), Vec::new());
    let mut viewer = follow(hub, &thread, &mut position).await;
    let running = tokio::spawn({
        let (hub, recording, thread) = (Arc::clone(hub), recording.clone(), thread.clone());
        async move { run_all(&hub, &recording, &thread).await }
    });
    let events = |entries: &[Value]| {
        entries
            .iter()
            .filter(|entry| entry["op"] == "event")
            .count()
    };
    read(&mut viewer, &mut position, &mut entries, |_, entries| {
        events(entries) >= blocks
    })
    .await;
    drop(viewer);
    if let Leaving::TwiceInARow = leaving {
        drop(follow(hub, &thread, &mut position).await);
    }
    let head = if let Leaving::UntilTheRunsEnded = leaving {
        hold.release();
        let head = running.await.unwrap();
        read_to(hub, &thread, &mut position, &mut entries, head).await;
        head
    } else {
        let mut viewer = follow(hub, &thread, &mut position).await;
        hold.release();
        let head = running.await.unwrap();
        read(&mut viewer, &mut position, &mut entries, |position, _| {
            position.seq >= head
        })
        .await;
        head
    };
    assert_whole(
        hub,
        &thread,
        head,
        &entries,
        &format!("left {leaving:?} after {blocks} blocks"),
    )
    .await;
}

/// Goal: nothing is spliced. A killed hub that kept its logs in memory has lost them; who comes back
/// with a position of theirs is told so and starts over.
#[tokio::test(flavor = "multi_thread")]
async fn a_position_of_a_killed_hub_is_reset() {
    let recording = Recording::load(RUNS[0]);
    let replay = Replay::start([recording.clone()]).await;
    let hub = Program::start(&replay.agents()).await;
    let head = run_all(&hub, &recording, "lost").await;
    let (mut position, mut entries) = (Position::default(), Vec::new());
    read_to(&hub, "lost", &mut position, &mut entries, head).await;
    hub.kill().await;

    let hub = Program::start(&replay.agents()).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    let start = Start::After(&position.epoch, position.seq);
    let answer = viewer.subscribe("lost", start).await;
    assert_eq!(answer["mode"], "snapshot", "{answer}");
    assert_eq!((&answer["epoch"], &answer["seq"]), (&json!(""), &json!(0)));
    let reset = viewer.frame().await.unwrap();
    assert_eq!(reset["op"], "reset", "{reset}");
    assert_eq!(reset["reason"], answer["reason"]);
}
