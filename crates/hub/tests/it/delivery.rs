use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use threadcast_thread_log::entry::NewEntry;
use threadcast_wire::limits::Limits;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::support::Rig;
use super::support::log::{event, long_delta, run};
use super::support::viewer::held_by_hub;

/// A run whose message holds deltas of these lengths.
fn long_run(thread: &str, bytes: &[usize]) -> Vec<NewEntry> {
    let mut entries = run(thread, 9, 1);
    let at = entries.len() - 2;
    entries.splice(at..at, bytes.iter().map(|bytes| long_delta("m9", *bytes)));
    entries
}

#[tokio::test]
async fn a_long_frame_comes_in_parts_and_is_whole() {
    let rig = Rig::new();
    let mut viewer = rig.watch("t").await;
    let head = rig
        .engine
        .write("t", long_run("t", &[300_000, 10, 70_000, 60_000]))
        .await
        .get();
    viewer.read_to("t", head).await;
    rig.assert_whole(&viewer, "t").await;
    let longest = viewer.order.iter().map(|(_, bytes)| *bytes).max().unwrap();
    assert!(
        longest <= 64 << 10,
        "a frame of {longest} bytes in one piece"
    );

    // A viewer that joins now gets it all as one long baseline, another one from the engine.
    let joined = rig.watch("t").await;
    assert_eq!(joined.replica("t").held(), held_by_hub(&rig.hub, "t").await);
    let mut resumed = rig.connect().await;
    resumed.subscribe_with("t", json!({ "start": "log" })).await;
    resumed.catch_up("t").await;
    assert_eq!(resumed.replica("t").entries, rig.engine.told("t").await);
}

/// Goal: a large baseline delays nobody. Method: a baseline of megabytes and a live thread share a line of 160 KB/s; the
/// live one waits for its round and a few pieces, answers for a few pieces alone.
#[tokio::test(start_paused = true)]
async fn a_large_baseline_lets_other_threads_and_answers_through() {
    let rig = Rig::new();
    rig.engine
        .write("large", long_run("large", &[800_000, 800_000]))
        .await;
    let mut viewer = rig.connect_buffering(4 << 10).await;
    viewer.welcome().await;
    viewer.subscribe("live").await;
    viewer.subscribe("large").await;
    viewer.slow_down(160 << 10);
    let (mut entries, mut answers) = (Vec::new(), Vec::new());
    for at in 0..6 {
        let tick = event(&json!({ "type": "CUSTOM", "name": "tick", "value": at }));
        let head = rig.engine.write("live", vec![tick]).await;
        let start = Instant::now();
        viewer.read_to("live", head.get()).await;
        entries.push(start.elapsed());
        let start = Instant::now();
        viewer.ask(json!({ "op": "ping" })).await;
        answers.push(start.elapsed());
    }
    assert!(
        !viewer.replica("large").history.contains(&"events"),
        "the baseline takes longer than this"
    );
    // What is in the socket and a piece that was begun; a round, and one more whose turn it was.
    let is_soon = |wait: &Duration, most: u64| *wait <= Duration::from_millis(most);
    assert!(answers.iter().all(|wait| is_soon(wait, 150)), "{answers:?}");
    assert!(entries.iter().all(|wait| is_soon(wait, 500)), "{entries:?}");
    viewer.catch_up("large").await;
    assert_eq!(
        viewer.replica("large").held(),
        held_by_hub(&rig.hub, "large").await
    );
}

#[tokio::test]
async fn an_unfinished_long_frame_is_dropped_with_its_subscription() {
    let rig = Rig::new();
    rig.engine.write("t", long_run("t", &[400_000])).await;
    let mut viewer = rig.connect_buffering(4 << 10).await;
    viewer.welcome().await;
    viewer.subscribe("t").await;
    assert!(matches!(
        viewer
            .ask(json!({ "op": "unsubscribe", "threadId": "t" }))
            .await,
        threadcast_wire::hub_frame::HubFrame::Ok { .. }
    ));
    let told = viewer.order.len();
    assert!(
        told < 20,
        "{told} frames of a subscription that ended at once"
    );
    viewer.ask(json!({ "op": "ping" })).await;
    assert_eq!(viewer.order.len(), told);
    viewer.subscribe("t").await;
    viewer.catch_up("t").await;
    assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);
}

/// Goal: a viewer that stops reading delays nobody, costs no more than a frame and 16 KiB, and ends equal. Method: one
/// viewer reads, the other does not while far more than a tail holds is written.
#[tokio::test]
async fn a_blocked_viewer_costs_a_cursor() {
    let rig = Rig::new();
    let mut slow = rig.connect_buffering(4 << 10).await;
    slow.welcome().await;
    slow.subscribe("t").await;
    let mut fast = rig.watch("t").await;
    let mut head = 0;
    for round in 0..60 {
        head = rig.engine.write("t", run("t", 10 + round, 100)).await.get();
        head = rig
            .engine
            .write(
                "t",
                vec![
                    long_delta("none", 20_000),
                    event(&json!({ "type": "CUSTOM", "name": "x", "value": 1 })),
                ],
            )
            .await
            .get()
            .max(head);
        fast.read_to("t", head).await;
        let stats = rig.hub.session_stats();
        let held: Vec<usize> = stats.iter().map(|session| session.held_bytes).collect();
        assert!(
            held.iter().all(|bytes| *bytes <= (32 << 10) + (16 << 10)),
            "{held:?} bytes held in round {round}"
        );
    }
    assert!(
        rig.hub
            .session_stats()
            .iter()
            .any(|session| session.is_blocked && session.held_bytes > 0)
    );
    assert!(slow.replica("t").position.seq.get() < head / 10);
    slow.read_to("t", head).await;
    rig.assert_whole(&slow, "t").await;
    assert_eq!(fast.replica("t").entries, rig.engine.told("t").await);
}

#[tokio::test]
async fn a_viewer_of_a_log_that_is_corrupt_is_told() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 50)).await;
    let mut viewer = rig.watch("t").await;
    rig.engine.corrupt_reads(1);
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    while !viewer.replica("t").history.contains(&"unsubscribed") {
        viewer.next().await.unwrap();
    }
    assert_eq!(rig.hub.session_stats()[0].subscriptions, 0);
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    viewer.catch_up("t").await;
    assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
}

/// Pongs stand between frames, never inside one: the client's reader would fail on anything else.
#[tokio::test]
async fn pongs_do_not_break_into_frames() {
    let rig = Rig::new();
    let mut viewer = rig.connect_buffering(700).await;
    viewer.welcome().await;
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    let mut head = 0;
    for round in 0..40 {
        head = rig.engine.write("t", run("t", round, 10)).await.get();
        for at in 0..10_u8 {
            viewer
                .send_message(Message::Ping(vec![at; 90].into()))
                .await;
            viewer.next().await;
        }
    }
    viewer.read_to("t", head).await;
    assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_viewers_of_one_thread_end_equal() {
    let rig = Rig::new();
    let mut viewers = Vec::new();
    for at in 0..1000 {
        let mut viewer = rig.connect_buffering(512 + at).await;
        viewer.welcome().await;
        viewer.subscribe("t").await;
        viewers.push(viewer);
    }
    let writing = {
        let engine = rig.engine.clone();
        tokio::spawn(async move {
            for at in 0..6 {
                engine.write("t", run("t", at, 5)).await;
                tokio::task::yield_now().await;
            }
        })
    };
    writing.await.unwrap();
    let told = rig.engine.told("t").await;
    let head = told.last().unwrap().0;
    join_all(viewers.iter_mut().map(|viewer| viewer.read_to("t", head))).await;
    let held = held_by_hub(&rig.hub, "t").await;
    for viewer in &viewers {
        viewer.replica("t").assert_tells(&told);
        assert_eq!(viewer.replica("t").held(), held);
        assert!(viewer.close.is_none());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_viewer_of_a_hundred_threads_ends_equal() {
    let rig = Rig::new();
    let ids: Vec<String> = (0..100).map(|at| format!("t{at}")).collect();
    let mut viewer = rig.connect_buffering(1 << 10).await;
    viewer.welcome().await;
    for id in &ids {
        viewer.subscribe(id).await;
    }
    let writing: Vec<_> = ids
        .iter()
        .cloned()
        .map(|id| {
            let engine = rig.engine.clone();
            tokio::spawn(async move {
                for at in 0..10 {
                    engine.write(&id, run(&id, at, 5)).await;
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for id in &ids {
        viewer.read_to(id, 100).await;
    }
    join_all(writing).await;
    for id in &ids {
        rig.assert_whole(&viewer, id).await;
    }
}

/// Frames of very different lengths: whoever is ready gets about the same bytes.
#[tokio::test]
async fn threads_of_one_socket_take_turns_by_bytes() {
    let rig = Rig::with(super::support::engine::TestEngine::new(), Limits::default());
    let mut viewer = rig.connect_buffering(8 << 10).await;
    viewer.welcome().await;
    viewer
        .subscribe_with("big", json!({ "start": "log" }))
        .await;
    viewer
        .subscribe_with("small", json!({ "start": "log" }))
        .await;
    // One blocks the socket while both pile up.
    let big: Vec<_> = (0..60).map(|_| long_delta("none", 50_000)).collect();
    let big = rig.engine.write("big", big).await.get();
    let mut small = 0;
    for at in 0..40 {
        small = rig.engine.write("small", run("small", at, 100)).await.get();
    }
    viewer.read_to("small", small).await;
    viewer.read_to("big", big).await;
    let small_bytes: usize = viewer
        .order
        .iter()
        .filter(|(id, _)| id == "small")
        .map(|(_, bytes)| bytes)
        .sum();
    let last_small = viewer
        .order
        .iter()
        .rposition(|(id, _)| id == "small")
        .unwrap();
    let big_meanwhile: usize = viewer.order[..last_small]
        .iter()
        .filter(|(id, _)| id == "big")
        .map(|(_, bytes)| bytes)
        .sum();
    let ratio = big_meanwhile as f64 / small_bytes as f64;
    assert!(
        (0.6..1.6).contains(&ratio),
        "{big_meanwhile} bytes of one for {small_bytes} of the other"
    );
}
