//! Viewers whose sockets take less than there is: they are sent what entries amount to, in rounds.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use threadcast_thread_log::entry::NewEntry;
use threadcast_thread_log::position::Seq;
use tokio::time::{Instant, sleep};

use super::support::Rig;
use super::support::log::{event, fact, long_delta, run, thread};
use super::support::viewer::Viewer;

mod generated;
mod long;
mod many_threads;
mod starting_over;

/// Between two sends of a slow session, and how long it stays slow (docs/protocol.md §5).
const ROUND: Duration = Duration::from_millis(250);
const SLOW: Duration = Duration::from_secs(2);

fn tokens(count: usize) -> Vec<NewEntry> {
    let token = json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "token " });
    vec![event(&token); count]
}

/// Thread `t` with a message that waits for its tokens, 3 entries.
async fn open_message(rig: &Rig) {
    let mut entries = run("t", 1, 0);
    entries.truncate(3);
    rig.engine.write("t", entries).await;
}

/// Subscribes to `t` and lets the socket block, with 100 tokens of which most do not fit.
async fn blocked(rig: &Rig, start: Value) -> Viewer {
    let mut viewer = rig.connect_buffering(2 << 10).await;
    viewer.welcome().await;
    viewer.subscribe_with("t", start).await;
    rig.engine.write("t", tokens(100)).await;
    rig.until(|hub| hub.session_stats().iter().any(|session| session.is_blocked))
        .await;
    viewer
}

/// Reads while a token comes every 10 ms, `count` of them; when each frame came.
async fn read_tokens(rig: &Rig, viewer: &mut Viewer, count: usize) -> Vec<Duration> {
    let head = rig.engine.told("t").await.len() + count;
    let engine = rig.engine.clone();
    let writing = tokio::spawn(async move {
        for _ in 0..count {
            sleep(Duration::from_millis(10)).await;
            engine.write("t", tokens(1)).await;
        }
    });
    let start = Instant::now();
    let mut came = Vec::new();
    while viewer.replica("t").position.seq.get() < head as u64 {
        viewer.next().await.unwrap();
        came.push(start.elapsed());
    }
    writing.await.unwrap();
    came
}

#[tokio::test(start_paused = true)]
async fn a_slow_session_sends_in_rounds_until_its_socket_was_free_for_two_seconds() {
    let rig = Rig::new();
    open_message(&rig).await;
    let mut viewer = blocked(&rig, json!({})).await;
    let came = read_tokens(&rig, &mut viewer, 400).await;

    // What had piled up comes at once, then a round at a time.
    let rounds: BTreeSet<_> = came.iter().filter(|at| **at < SLOW).collect();
    assert_eq!(rounds.len(), 8, "{rounds:?}");
    let mut gaps = rounds.iter().zip(rounds.iter().skip(1));
    assert!(
        gaps.all(|(one, next)| **next - **one >= ROUND),
        "{rounds:?}"
    );
    // Then every token by itself.
    let after: Vec<_> = came.iter().filter(|at| **at > SLOW + ROUND).collect();
    assert!((160..=180).contains(&after.len()), "{after:?}");
    rig.assert_whole(&viewer, "t").await;
    let ranges = &viewer.replica("t").ranges;
    assert!(ranges.len() <= 20, "{ranges:?}");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_blocks_again_soon_is_tried_less_often() {
    let rig = Rig::new();
    open_message(&rig).await;
    let mut viewer = blocked(&rig, json!({})).await;
    read_tokens(&rig, &mut viewer, 210).await;
    rig.engine.write("t", tokens(100)).await;
    rig.until(|hub| hub.session_stats()[0].is_blocked).await;
    let came = read_tokens(&rig, &mut viewer, 1200).await;
    let long = SLOW * 4;
    let rounds: BTreeSet<_> = came.iter().filter(|at| **at < long).collect();
    assert_eq!(rounds.len(), 32, "{rounds:?}");
    let after = came.iter().filter(|at| **at > long + ROUND).count();
    assert!((360..=380).contains(&after), "{after} one by one");
    rig.assert_whole(&viewer, "t").await;
}

#[tokio::test(start_paused = true)]
async fn answers_wait_for_no_round() {
    let rig = Rig::new();
    open_message(&rig).await;
    let mut viewer = blocked(&rig, json!({})).await;
    read_tokens(&rig, &mut viewer, 10).await;
    rig.engine.write("t", tokens(10)).await;
    let start = Instant::now();
    viewer.ask(json!({ "op": "ping" })).await;
    assert!(start.elapsed() < Duration::from_millis(10));
    assert!(viewer.replica("t").position.seq.get() < 123);
    viewer.read_to("t", 123).await;
    assert!(start.elapsed() >= ROUND - Duration::from_millis(110));
}

#[tokio::test(start_paused = true)]
async fn who_asked_for_the_log_has_every_entry_by_itself() {
    let rig = Rig::new();
    open_message(&rig).await;
    let mut viewer = blocked(&rig, json!({ "start": "log" })).await;
    read_tokens(&rig, &mut viewer, 300).await;
    let told = rig.engine.told("t").await;
    assert_eq!(viewer.replica("t").entries, told);

    // And when it comes back.
    let mut held = viewer.into_replica("t");
    rig.engine.write("t", tokens(2000)).await;
    let position = json!({ "after": held.position.seq, "epoch": held.position.epoch });
    held.ranges.clear();
    let mut again = rig.connect_buffering(2 << 10).await;
    again.welcome().await;
    again.threads.insert("t".into(), held);
    let mut start = position;
    start["start"] = json!("log");
    again.subscribe_with("t", start).await;
    again.catch_up("t").await;
    assert_eq!(again.replica("t").entries, rig.engine.told("t").await);
}

#[tokio::test]
async fn a_viewer_that_comes_back_has_facts_in_their_place_between_ranges() {
    let rig = Rig::new();
    open_message(&rig).await;
    let mut viewer = rig.connect().await;
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    viewer.catch_up("t").await;
    let held = viewer.into_replica("t");
    let mut entries = tokens(20);
    entries.push(fact(
        &json!({ "type": "test.happened", "by": { "id": "hub" }, "run": 1 }),
    ));
    entries.extend(tokens(20));
    rig.engine.write("t", entries).await;
    let mut again = rig.connect().await;
    again.resume("t", held).await;
    again.catch_up("t").await;
    let replica = again.replica("t");
    assert_eq!(replica.ranges, [(4, 23), (25, 44)]);
    assert_eq!(replica.entries.last().unwrap().0, 24);
    rig.assert_whole(&again, "t").await;
}

#[tokio::test]
async fn a_viewer_that_is_a_few_entries_behind_has_them_one_by_one() {
    let rig = Rig::new();
    open_message(&rig).await;
    for (missed, is_compacted) in [(16, false), (17, true)] {
        let mut viewer = rig.connect().await;
        viewer.subscribe_with("t", json!({ "start": "log" })).await;
        viewer.catch_up("t").await;
        let held = viewer.into_replica("t");
        rig.engine.write("t", tokens(missed)).await;
        let mut again = rig.connect().await;
        again.resume("t", held).await;
        again.catch_up("t").await;
        assert_eq!(!again.replica("t").ranges.is_empty(), is_compacted);
        rig.assert_whole(&again, "t").await;
    }
}

/// Goal: a thread whose ranges are as long as its entries leaves the others and answers their turns. Method: a viewer far
/// behind on it follows a live one, too, over a line of 160 KB/s; what 64 entries amount to takes longer than they may.
#[tokio::test(start_paused = true)]
async fn a_thread_that_is_far_behind_lets_others_through() {
    let rig = Rig::new();
    open_message(&rig).await;
    // A baseline would be longer.
    rig.engine
        .write("t", vec![long_delta("m1", 3_000_000)])
        .await;
    let mut viewer = rig.connect_buffering(4 << 10).await;
    viewer.welcome().await;
    viewer.subscribe("live").await;
    let epoch = rig.hub.live(&thread("t")).await.unwrap().head().epoch;
    let custom = json!({ "type": "CUSTOM", "name": "step", "value": "x".repeat(900) });
    rig.engine.write("t", vec![event(&custom); 4000]).await;
    viewer.threads.entry("t".into()).or_default().position.seq = Seq::new(4).unwrap();
    viewer
        .subscribe_with("t", json!({ "epoch": epoch, "after": 4 }))
        .await;
    viewer.slow_down(160 << 10);
    let (mut waits, mut answers) = (Vec::new(), Vec::new());
    for at in 0..6 {
        let tick = event(&json!({ "type": "CUSTOM", "name": "tick", "value": at }));
        let head = rig.engine.write("live", vec![tick]).await;
        let start = Instant::now();
        viewer.read_to("live", head.get()).await;
        waits.push(start.elapsed());
        let start = Instant::now();
        viewer.ask(json!({ "op": "ping" })).await;
        answers.push(start.elapsed());
    }
    let behind = viewer.replica("t");
    assert!(
        behind.position.seq.get() < 4000,
        "it takes longer than this"
    );
    assert!(behind.ranges.len() > 4, "{:?}", behind.ranges);
    // What is in the socket and a range that was begun; a round, and another range whose turn it was.
    let are_soon =
        |waits: &[Duration], most| waits.iter().max() <= Some(&Duration::from_millis(most));
    assert!(are_soon(&answers, 250), "{answers:?}");
    assert!(are_soon(&waits, 700), "{waits:?}");
    viewer.read_to("t", 4004).await;
    assert!(!viewer.replica("t").history.contains(&"reset"));
}

/// A burst that a fast viewer has not been sent yet: neither its socket nor its coming back says that it is behind.
#[tokio::test]
async fn a_fast_viewer_that_is_far_behind_is_caught_up_by_ranges() {
    for (entries, is_compacted) in [
        (tokens(1000), false),
        (tokens(1025), true),
        (vec![long_delta("m1", 9_000); 40], true),
        // An entry is never behind because it is long.
        (vec![long_delta("m1", 300_000); 1], false),
    ] {
        let rig = Rig::new();
        open_message(&rig).await;
        let mut viewer = rig.connect_buffering(1 << 20).await;
        viewer.welcome().await;
        viewer.subscribe("t").await;
        viewer.catch_up("t").await;
        let count = entries.len();
        let head = rig.engine.write("t", entries).await.get();
        viewer.read_to("t", head).await;
        let ranges = &viewer.replica("t").ranges;
        assert_eq!(
            !ranges.is_empty(),
            is_compacted,
            "{count} entries: {ranges:?}"
        );
        rig.assert_whole(&viewer, "t").await;
    }
}

/// Goal: what a thousand viewers who were away miss is compacted a few times, not a thousand. Method: each comes back at a
/// cursor of its own; every compaction is one read of the engine.
#[tokio::test]
async fn a_thousand_viewers_at_a_thousand_cursors_share_the_work() {
    let rig = Rig::new();
    open_message(&rig).await;
    rig.engine.write("t", tokens(9_997)).await;
    let epoch = rig.hub.live(&thread("t")).await.unwrap().head().epoch;
    let mut viewer = rig.connect().await;
    viewer.subscribe("t").await;
    viewer.catch_up("t").await;
    let held = viewer.replica("t").held();
    let (mut reads, mut frames) = (rig.engine.reads(), Vec::new());
    for cut in 0..1000_u64 {
        let mut viewer = rig.connect().await;
        let after =
            json!({ "after": cut * 9, "epoch": if cut == 0 { "" } else { epoch.as_str() } });
        viewer.threads.entry("t".into()).or_default().position.seq =
            serde_json::from_value(after["after"].clone()).unwrap();
        viewer.subscribe_with("t", after).await;
        viewer.catch_up("t").await;
        assert_eq!(viewer.replica("t").position.seq.get(), 10_000);
        frames.push(viewer.replica("t").history.len());
        if cut == 0 {
            assert_eq!(viewer.replica("t").held(), held);
        }
    }
    reads = rig.engine.reads() - reads;
    // 1,000 beginnings, 156 blocks of 64, 19 of 512, 2 of 4,096, and the end.
    assert!(reads <= 1000 + 180, "{reads} compactions");
    assert!(*frames.iter().max().unwrap() <= 40, "{frames:?}");
}
