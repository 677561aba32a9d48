//! When a baseline is shorter than what a viewer missed, and when there is none that is short enough.

use serde_json::{Value, json};
use threadcast_hub::hub::Hub;
use threadcast_thread_log::entry::NewEntry;
use threadcast_wire::hub_frame::HubFrame;
use threadcast_wire::limits::Limits;

use super::{open_message, tokens};
use crate::support::Rig;
use crate::support::engine::TestEngine;
use crate::support::log::{event, long_delta, run};
use crate::support::viewer::{Replica, held_by_hub};

/// What is no part of the fold and cannot be merged.
fn custom(count: usize) -> Vec<NewEntry> {
    let value = "x".repeat(400);
    let custom = json!({ "type": "CUSTOM", "name": "tick", "value": value });
    vec![event(&custom); count]
}

async fn held_now(rig: &Rig, start: Value) -> Replica {
    let mut viewer = rig.connect().await;
    viewer.subscribe_with("t", start).await;
    viewer.catch_up("t").await;
    viewer.into_replica("t")
}

/// What a viewer is sent that held the log before `missed` was written.
async fn comes_back(rig: &Rig, held: Replica, missed: Vec<NewEntry>) -> Replica {
    rig.engine.write("t", missed).await;
    let mut viewer = rig.connect_buffering(1 << 20).await;
    viewer.welcome().await;
    viewer.resume("t", held).await;
    let head = rig.engine.told("t").await.len() as u64;
    viewer.read_to("t", head).await;
    rig.assert_whole(&viewer, "t").await;
    viewer.into_replica("t")
}

#[tokio::test]
async fn a_viewer_starts_over_when_that_is_shorter_than_what_it_missed() {
    let rig = Rig::new();
    open_message(&rig).await;
    let held = held_now(&rig, json!({})).await;
    let replica = comes_back(&rig, held, custom(200)).await;
    assert_eq!(replica.reason.as_deref(), Some("behind"));
    assert!(replica.history.contains(&"reset"), "{:?}", replica.history);
}

#[tokio::test]
async fn a_viewer_goes_on_when_a_baseline_is_longer() {
    let rig = Rig::new();
    open_message(&rig).await;
    rig.engine.write("t", vec![long_delta("m1", 200_000)]).await;
    let held = held_now(&rig, json!({})).await;
    let replica = comes_back(&rig, held, custom(200)).await;
    assert!(!replica.history.contains(&"reset"), "{:?}", replica.history);
}

#[tokio::test]
async fn nobody_starts_over_for_a_few_bytes() {
    let rig = Rig::new();
    open_message(&rig).await;
    let held = held_now(&rig, json!({})).await;
    let replica = comes_back(&rig, held, custom(30)).await;
    assert!(!replica.history.contains(&"reset"), "{:?}", replica.history);
}

/// Goal: whether starting over is shorter is judged by what is missed, not by what was missed before. Method: a session
/// that stays slow is told long entries for a while and then misses tokens; a baseline is longer than these.
#[tokio::test(start_paused = true)]
async fn long_entries_of_earlier_rounds_do_not_make_a_viewer_start_over() {
    let rig = Rig::new();
    open_message(&rig).await;
    rig.engine.write("t", vec![long_delta("m1", 100_000)]).await;
    let mut viewer = rig.connect_buffering(1 << 10).await;
    viewer.welcome().await;
    viewer.subscribe("t").await;
    viewer.catch_up("t").await;
    for _ in 0..60 {
        let head = rig.engine.write("t", custom(8)).await.get();
        viewer.read_to("t", head).await;
    }
    assert!(viewer.replica("t").ranges.len() >= 59, "it stays slow");
    let head = rig.engine.write("t", tokens(1000)).await.get();
    viewer.read_to("t", head).await;
    assert!(!viewer.replica("t").history.contains(&"reset"));
    rig.assert_whole(&viewer, "t").await;
}

/// Who follows the log or only what comes holds no fold that a baseline could stand for.
#[tokio::test(start_paused = true)]
async fn neither_a_log_nor_a_tail_starts_over_for_being_behind() {
    for start in ["log", "tail"] {
        let rig = Rig::new();
        open_message(&rig).await;
        let mut viewer = rig.connect_buffering(1 << 10).await;
        viewer.welcome().await;
        viewer.subscribe_with("t", json!({ "start": start })).await;
        rig.engine.write("t", custom(10)).await;
        rig.until(|hub| hub.session_stats()[0].is_blocked).await;
        let head = rig.engine.write("t", custom(2000)).await.get();
        viewer.read_to("t", head).await;
        let replica = viewer.replica("t");
        assert!(!replica.history.contains(&"reset"), "{start}");
        assert_eq!(replica.ranges.is_empty(), start == "log", "{start}");
    }
}

fn small_baselines() -> Rig {
    let limits = Limits {
        baseline_bytes: 20_000,
        ..Limits::default()
    };
    Rig::with(TestEngine::new(), limits)
}

fn is_refused(answer: &HubFrame) -> bool {
    match answer {
        HubFrame::Error { error, .. } => {
            assert_eq!(error.details, Some(json!({ "limit": 20_000 })));
            assert!(error.message.contains("`tail`"), "{}", error.message);
            &*error.code == "too_large" && !error.retryable
        }
        _ => false,
    }
}

#[tokio::test]
async fn a_thread_whose_baseline_is_too_long_is_told_by_its_log_or_its_tail() {
    let rig = small_baselines();
    rig.engine.write("t", run("t", 1, 10)).await;
    let mut viewer = rig.watch("t").await;
    let position = viewer.replica("t").position.clone();
    let mut entries = run("t", 2, 1);
    entries.insert(4, long_delta("m2", 30_000));
    entries.extend(custom(300));
    let head = rig.engine.write("t", entries).await.get();
    // Who is there already needs none.
    viewer.read_to("t", head).await;
    assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);

    let mut late = rig.connect().await;
    for start in [
        json!({}),
        json!({ "start": "snapshot" }),
        json!({ "epoch": "other", "after": 3 }),
    ] {
        let mut request = json!({ "op": "subscribe", "threadId": "t" });
        request
            .as_object_mut()
            .unwrap()
            .extend(start.as_object().unwrap().clone());
        assert!(is_refused(&late.ask(request).await));
    }
    assert_eq!(subscriptions(&rig.hub), 1);
    for start in [
        json!({ "start": "log" }),
        json!({ "start": "tail" }),
        json!({ "epoch": position.epoch, "after": position.seq }),
    ] {
        let mut late = rig.connect().await;
        late.threads.entry("t".into()).or_default().position.seq = position.seq;
        late.subscribe_with("t", start).await;
        late.catch_up("t").await;
    }
}

fn subscriptions(hub: &Hub) -> usize {
    hub.session_stats()
        .iter()
        .map(|session| session.subscriptions)
        .sum()
}

/// Goal: nobody who can go on is thrown out for starting over. Method: messages and state are short, but the agent's
/// questions make the baseline too long; how long it is shows when it is made.
#[tokio::test]
async fn who_would_start_over_by_a_baseline_that_is_too_long_goes_on() {
    let rig = small_baselines();
    open_message(&rig).await;
    let held = held_now(&rig, json!({})).await;
    let mut missed = custom(200);
    missed.push(event(
        &json!({ "type": "TEXT_MESSAGE_END", "messageId": "m1" }),
    ));
    let question =
        json!({ "id": "i", "reason": "confirmation", "metadata": { "all": "x".repeat(30_000) } });
    let outcome = json!({ "type": "interrupt", "interrupts": [question] });
    missed.push(event(
        &json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r1", "outcome": outcome }),
    ));
    let replica = comes_back(&rig, held, missed).await;
    assert!(!replica.history.contains(&"reset"), "{:?}", replica.history);
}

#[tokio::test]
async fn a_refused_subscribe_leaves_the_one_that_stands() {
    let rig = small_baselines();
    rig.engine.write("t", run("t", 1, 10)).await;
    let mut viewer = rig.watch("t").await;
    let mut entries = run("t", 2, 1);
    entries.insert(4, long_delta("m2", 30_000));
    entries.extend(custom(300));
    rig.engine.write("t", entries).await;
    let again = json!({ "op": "subscribe", "threadId": "t", "start": "snapshot" });
    assert!(is_refused(&viewer.ask(again).await));
    let head = rig.engine.write("t", run("t", 3, 1)).await.get();
    viewer.read_to("t", head).await;
    assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);
}

#[tokio::test]
async fn a_subscription_that_comes_to_need_a_baseline_that_is_too_long_ends() {
    let rig = small_baselines();
    rig.engine.write("t", run("t", 1, 10)).await;
    let mut viewer = rig.watch("t").await;
    // Another log takes this one's place.
    rig.engine.close_heads();
    threadcast_thread_log::engine::Engine::delete(
        &rig.engine,
        &crate::support::log::thread("t"),
        Vec::new(),
    )
    .await
    .unwrap();
    let mut entries = run("t", 2, 1);
    entries.insert(4, long_delta("m2", 30_000));
    rig.engine.write("t", entries).await;
    rig.engine.open_heads();
    while !viewer.replica("t").history.contains(&"unsubscribed") {
        viewer.next().await.unwrap();
    }
    assert_eq!(subscriptions(&rig.hub), 0);
    viewer.ask(json!({ "op": "ping" })).await;
}
