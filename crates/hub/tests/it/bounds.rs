//! What one socket may take of the hub.

use futures::future::join_all;
use serde_json::{Value, json};
use threadcast_wire::hub_frame::HubFrame;

use super::decisions::{input, run_command};
use super::support::log::{long_delta, run, thread};
use super::support::viewer::held_by_hub;
use super::support::{Rig, person};

/// Goal: what only one subscription of a socket may have at a time is waited for, not asked for again and again. Method:
/// one thread is sent in parts while others, whose next entry is long too, read the engine; with a lively one beside.
#[tokio::test]
async fn long_frames_of_several_threads_wait_for_each_other() {
    let rig = Rig::new();
    let long = |id: &str| {
        let mut entries = run(id, 1, 2);
        let at = entries.len() - 2;
        entries.insert(at, long_delta("m1", 200_000));
        entries.insert(0, long_delta("none", 100_000));
        entries
    };
    for id in ["a", "b", "c"] {
        rig.engine.write(id, long(id)).await;
    }
    let mut viewer = rig.connect_buffering(4 << 10).await;
    viewer.welcome().await;
    viewer.subscribe("live").await;
    viewer.subscribe("a").await;
    viewer.subscribe_with("b", json!({ "start": "log" })).await;
    viewer.subscribe_with("c", json!({ "start": "log" })).await;
    let reads = rig.engine.reads();
    let live = rig.engine.write("live", run("live", 1, 5)).await.get();
    viewer.read_to("live", live).await;
    for id in ["a", "b", "c"] {
        viewer.catch_up(id).await;
    }
    assert_eq!(viewer.replica("a").held(), held_by_hub(&rig.hub, "a").await);
    for id in ["b", "c"] {
        assert_eq!(viewer.replica(id).entries, rig.engine.told(id).await);
    }
    let reads = rig.engine.reads() - reads;
    assert!(reads < 40, "{reads} reads of the engine");
}

#[tokio::test]
async fn an_event_longer_than_the_tail_is_encoded_once_for_all() {
    let rig = Rig::new();
    let mut viewers = Vec::new();
    for _ in 0..6 {
        let mut viewer = rig.connect_buffering(16 << 10).await;
        viewer.welcome().await;
        viewer.subscribe("t").await;
        viewers.push(viewer);
    }
    let reads = rig.engine.reads();
    let mut entries = vec![long_delta("none", 1_200_000)];
    entries.extend(run("t", 1, 2));
    let head = rig.engine.write("t", entries).await.get();
    join_all(viewers.iter_mut().map(|viewer| viewer.read_to("t", head))).await;
    for viewer in &viewers {
        rig.assert_whole(viewer, "t").await;
    }
    // What follows is compacted, for their sockets are slow, and that once for all, too.
    let reads = rig.engine.reads() - reads;
    assert!(reads <= 3, "{reads} reads: copies of a viewer's own");
}

/// Goal: answers that are not read cost one answer, and all come in the end. Method: many questions in one write, each
/// with an answer far longer than the bound; the socket takes little.
#[tokio::test]
async fn answers_wait_until_the_ones_before_them_are_read() {
    let rig = Rig::new();
    let answer_bytes = 300_000;
    rig.agents.ask(json!([{
        "id": "i", "reason": "confirmation", "metadata": { "blob": "b".repeat(answer_bytes) },
    }]));
    let run = run_command("echo", "t", "r1");
    rig.hub
        .command(thread("t"), &person("ann"), run)
        .await
        .unwrap();
    let live = rig.hub.live(&thread("t")).await.unwrap();
    rig.until(|_| live.with_fold(|fold| fold.registry().interrupts().has_open()))
        .await;

    let mut viewer = rig.connect().await;
    for at in 0..20 {
        viewer
            .send(json!({ "op": "status", "threadId": "t", "id": at }))
            .await;
    }
    rig.until(|hub| hub.session_stats()[0].is_blocked).await;
    let held = rig.hub.session_stats()[0].held_bytes;
    assert!(
        held < answer_bytes + (32 << 10),
        "{held} bytes of answers wait"
    );
    for at in 0..20 {
        assert!(matches!(viewer.answer(at).await, HubFrame::Ok { .. }));
    }
}

#[tokio::test]
async fn a_node_that_goes_away_answers_all_it_had_taken_however_long() {
    let rig = Rig::new();
    rig.agents.ask(json!([{
        "id": "i", "reason": "confirmation", "metadata": { "blob": "b".repeat(300_000) },
    }]));
    let run = run_command("echo", "t", "r1");
    rig.hub
        .command(thread("t"), &person("ann"), run)
        .await
        .unwrap();
    let live = rig.hub.live(&thread("t")).await.unwrap();
    rig.until(|_| live.with_fold(|fold| fold.registry().interrupts().has_open()))
        .await;
    let mut viewer = rig.connect().await;
    for at in 0..5 {
        viewer
            .send(json!({ "op": "status", "threadId": "t", "id": at }))
            .await;
    }
    rig.until(|hub| hub.session_stats()[0].is_blocked).await;
    let hub = rig.hub.clone();
    let draining = tokio::spawn(async move { hub.drain(super::support::SOON).await });
    for at in 0..5 {
        viewer.answer(at).await;
    }
    assert_eq!(viewer.closed().await, 1001);
    drop(viewer);
    assert_eq!(draining.await.unwrap(), 0);
}

#[tokio::test]
async fn over_a_mebibyte_of_requests_in_flight_the_hub_stops_reading() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    rig.engine.close_heads();
    let large = |id: &str| {
        let mut input = input(id, "r1");
        input["messages"][0]["content"] = json!("x".repeat(600_000));
        json!({ "op": "run", "agent": "echo", "input": input, "id": id })
    };
    viewer.send(large("t1")).await;
    viewer.send(large("t2")).await;
    viewer.send(json!({ "op": "ping", "id": "late" })).await;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    rig.engine.open_heads();
    let mut order: Vec<Value> = Vec::new();
    while order.len() < 3 {
        match viewer.next().await {
            Some(HubFrame::Ok { id, .. }) => order.push(serde_json::to_value(&id).unwrap()),
            other => panic!("{other:?}"),
        }
    }
    // The ping was read only when one of the others had been answered.
    assert_ne!(order[0], json!("late"));
}
