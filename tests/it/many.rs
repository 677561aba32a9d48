//! Many viewers, many threads, and one viewer that does not read.

use std::time::Duration;

use serde_json::{Value, json};
use threadcast_tests::node::apply;
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::viewer::{Start, Viewer, events_of};
use threadcast_tests::within;
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

/// A run of one message in `count` deltas, with shared state that changes on the way.
fn telling(count: usize) -> Vec<Value> {
    let mut events = vec![
        json!({ "type": "RUN_STARTED", "threadId": "THREAD", "runId": "RUN" }),
        json!({ "type": "STATE_SNAPSHOT", "snapshot": { "told": 0 } }),
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant" }),
    ];
    for told in 1..=count {
        events.push(json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": format!("word {told} of a long story, ") }));
        if told % 100 == 0 {
            events.push(json!({ "type": "STATE_DELTA", "delta": [{ "op": "replace", "path": "/told", "value": told }] }));
        }
    }
    events.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": "m1" }));
    events.push(json!({ "type": "RUN_FINISHED", "threadId": "THREAD", "runId": "RUN" }));
    events
}

/// Whether the last that a frame tells is the end of a run; who is not served for a while gets ranges.
fn ends_a_run(frame: &Value) -> bool {
    let events = events_of(std::slice::from_ref(frame));
    events
        .last()
        .is_some_and(|event| event["type"] == "RUN_FINISHED")
}

fn start_run(agent: &str, thread: &str) -> Value {
    let messages = json!([{ "id": "u1", "role": "user", "content": "tell me" }]);
    json!({ "op": "run", "agent": agent, "input": { "threadId": thread, "runId": "run", "messages": messages } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_viewers_of_one_thread_end_equal() {
    let replay = Replay::start([Recording::scripted("telling", &[telling(200)])]).await;
    let hub = Program::start(&replay.agents()).await;
    let mut viewers = JoinSet::new();
    for _ in 0..1000 {
        let mut viewer = Viewer::connect(&hub.ws()).await;
        viewer.subscribe("story", Start::Log).await;
        viewers.spawn(async move { events_of(&viewer.frames_to_end("story", "run").await) });
    }
    let mut starter = Viewer::connect(&hub.ws()).await;
    let answer = starter.ask(start_run("telling", "story")).await;
    assert_eq!(answer["op"], "ok", "{answer}");
    let ends = within("the end of the run at every viewer", viewers.join_all()).await;
    assert_eq!(ends.len(), 1000);
    assert_eq!(ends[0].len(), telling(200).len());
    assert!(
        ends.iter().all(|events| *events == ends[0]),
        "every viewer was sent the same"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_viewer_of_a_hundred_threads_ends_equal_on_each() {
    let replay = Replay::start([Recording::scripted("telling", &[telling(50)])]).await;
    let hub = Program::start(&replay.agents()).await;
    let threads: Vec<String> = (0..100).map(|n| format!("story-{n}")).collect();
    let mut viewer = Viewer::connect(&hub.ws()).await;
    for thread in &threads {
        viewer.subscribe(thread, Start::Log).await;
    }
    for thread in &threads {
        let answer = viewer.ask(start_run("telling", thread)).await;
        assert_eq!(answer["op"], "ok", "{answer}");
    }
    let (mut ended, mut frames) = (0, Vec::new());
    while ended < threads.len() {
        let frame = viewer.frame().await.expect("the session stays");
        ended += usize::from(ends_a_run(&frame));
        frames.push(frame);
    }
    for thread in &threads {
        let own: Vec<Value> = frames
            .iter()
            .filter(|frame| frame["threadId"] == **thread)
            .cloned()
            .collect();
        let mut events = events_of(&own);
        let mut expected = telling(50);
        for event in &mut expected {
            if event.get("threadId").is_some() {
                event["threadId"] = json!(thread);
                event["runId"] = json!("run");
            }
        }
        // The hub tells every viewer what was asked.
        assert_eq!(
            events[0].as_object_mut().unwrap().remove("input").unwrap()["messages"][0]["id"],
            "u1"
        );
        assert_eq!(events, expected, "{thread}");
        let seqs: Vec<u64> = own
            .iter()
            .filter(|frame| frame["op"] != "epoch")
            .map(|frame| frame["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(
            seqs,
            (1..=seqs.len() as u64).collect::<Vec<_>>(),
            "{thread}: every entry once, in order"
        );
    }
}

/// How long the slow viewer does not read; it outlives every buffer and heartbeat between.
const STALL: Duration = Duration::from_secs(45);

/// Goal: a viewer that does not read costs a cursor. It stalls through a 50-event/s run behind a
/// small receive buffer; the others finish meanwhile, and it is still connected and ends equal when
/// it reads again.
#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_that_stops_reading_delays_nobody_and_ends_equal() {
    let story = telling(50 * usize::try_from(STALL.as_secs()).unwrap());
    let replay =
        Replay::start([Recording::scripted("telling", std::slice::from_ref(&story))]).await;
    let hub = Program::start(&replay.agents()).await;
    let hold = replay.hold("story");
    let mut slow = slow_viewer(&hub).await;
    slow.subscribe("story", Start::Snapshot).await;
    let mut fast = Viewer::connect(&hub.ws()).await;
    fast.subscribe("story", Start::Snapshot).await;
    let answer = fast.ask(start_run("telling", "story")).await;
    assert_eq!(answer["op"], "ok", "{answer}");

    let telling = tokio::spawn(async move {
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        for _ in 0..story.len() {
            ticks.tick().await;
            hold.allow(1);
        }
    });
    // What is held for a session is looked at as often as the story goes on, while the slow viewer
    // is blocked.
    let watching = async {
        let (mut frames, mut held_bytes_max, mut was_blocked) = (Vec::new(), 0, false);
        while !frames.last().is_some_and(ends_a_run) {
            frames.push(fast.frame().await.expect("the fast viewer stays"));
            if frames.len() % 50 == 0 {
                let health = hub.health().await;
                held_bytes_max = held_bytes_max.max(health.held_bytes_max);
                was_blocked |= health.blocked_sessions > 0;
            }
        }
        (frames, held_bytes_max, was_blocked)
    };
    let (frames, held_bytes_max, was_blocked) =
        tokio::time::timeout(STALL * 3, watching).await.unwrap();
    telling.await.unwrap();
    // The run is over for everybody else; the slow viewer has not read a byte of it.
    let slow_frames = slow.frames_to_end("story", "run").await;
    assert!(
        was_blocked,
        "the slow viewer filled every buffer on the way"
    );
    assert!(
        held_bytes_max <= FRAME_BYTES_MAX + 16 * 1024,
        "{held_bytes_max} bytes were held for one session"
    );
    let ends = apply("story", &[events_of(&frames), events_of(&slow_frames)]).await;
    assert_eq!(ends[0].error, None);
    assert_eq!(ends[1], ends[0], "the slow viewer and the fast one");
}

/// Ranges of a viewer that is behind are no longer: no event here is long by itself.
const FRAME_BYTES_MAX: u64 = 32 * 1024;

async fn slow_viewer(hub: &Program) -> Viewer {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let stream = within(
        "a connection",
        socket.connect(hub.address().parse().unwrap()),
    )
    .await
    .unwrap();
    Viewer::over(stream, &hub.ws()).await
}
