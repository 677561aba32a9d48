use std::sync::atomic::Ordering;

use serde_json::json;
use threadcast_hub::live_thread::LiveThread;
use threadcast_run_registry::conversation::THREAD_MESSAGES_BYTES_MAX;
use threadcast_run_registry::event_bounds::STATE_SNAPSHOT_BYTES_MAX;
use threadcast_thread_log::engine::Engine;
use threadcast_wire::hub_frame::{HubFrame, Mode};
use threadcast_wire::limits::Limits;

use super::support::Rig;
use super::support::engine::TestEngine;
use super::support::log::{event, run, thread};
use super::support::viewer::held_by_hub;

#[tokio::test]
async fn a_viewer_that_joins_gets_one_baseline_and_then_entries() {
    let rig = Rig::new();
    let head = rig.engine.write("t", run("t", 1, 20)).await.get();
    let mut viewer = rig.watch("t").await;
    assert_eq!(viewer.replica("t").history, ["subscribed", "events"]);
    assert_eq!(viewer.replica("t").position.seq.get(), head);
    assert!(viewer.replica("t").view.is_some());

    let head = rig.engine.write("t", run("t", 2, 20)).await.get();
    viewer.read_to("t", head).await;
    assert_eq!(
        viewer.replica("t").entries,
        rig.engine.told("t").await[25..]
    );
    assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);
}

/// Goal: a viewer of a long thread is answered before its baseline is made. Method: writes are
/// counted; the second viewer gets the same bytes, and its baseline is there already.
#[tokio::test]
async fn an_answer_does_not_wait_for_a_long_baseline() {
    let rig = Rig::new();
    let mut entries = run("t", 1, 1);
    let story = "word ".repeat(200_000);
    let message = json!({ "id": "long", "role": "assistant", "content": story });
    entries.insert(
        1,
        event(&json!({ "type": "MESSAGES_SNAPSHOT", "messages": [message] })),
    );
    rig.engine.write("t", entries).await;
    let _live = rig.hub.live(&thread("t")).await.unwrap();
    let mut counts = Vec::new();
    for _ in 0..2 {
        let (mut viewer, writes) = rig.connect_counting(8 << 20).await;
        viewer.welcome().await;
        let before = writes.load(Ordering::SeqCst);
        viewer.subscribe("t").await;
        viewer.catch_up("t").await;
        counts.push(writes.load(Ordering::SeqCst) - before);
        rig.assert_whole(&viewer, "t").await;
    }
    assert_eq!(
        counts[0],
        counts[1] + 1,
        "writes to the first and the second"
    );
}

#[tokio::test]
async fn a_thread_without_a_log_is_subscribed_and_not_created() {
    let rig = Rig::new();
    let mut viewer = rig.watch("t").await;
    assert_eq!(viewer.replica("t").history, ["subscribed"]);
    assert!(viewer.replica("t").position.epoch.is_none());
    assert!(rig.engine.list(None, 10).await.unwrap().is_empty());

    let head = rig.engine.write("t", run("t", 1, 3)).await.get();
    viewer.read_to("t", head).await;
    let replica = viewer.replica("t");
    assert_eq!(replica.history[..3], ["subscribed", "epoch", "event"]);
    assert_eq!(replica.entries, rig.engine.told("t").await);
    assert_eq!(
        replica.position,
        rig.hub.live(&thread("t")).await.unwrap().head()
    );
}

#[tokio::test]
async fn the_log_is_told_from_its_first_entry() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 50)).await;
    let mut viewer = rig.connect().await;
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    viewer.catch_up("t").await;
    assert_eq!(viewer.replica("t").mode, Some(Mode::Log));
    assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
}

#[tokio::test]
async fn a_tail_tells_only_what_comes() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.connect().await;
    viewer.subscribe_with("t", json!({ "start": "tail" })).await;
    let head = rig.engine.write("t", run("t", 2, 5)).await.get();
    viewer.read_to("t", head).await;
    assert_eq!(
        viewer.replica("t").entries,
        rig.engine.told("t").await[10..]
    );
}

/// Goal: the longest conversation that a thread may hold can be joined. Method: as many bytes of messages as are allowed,
/// and as much state, by default limits; the client holds it as one frame.
#[tokio::test]
async fn the_longest_thread_is_joined_by_a_snapshot() {
    let rig = Rig::new();
    let mut entries = run("t", 1, 1);
    entries.truncate(4);
    let state = json!({ "all": "x".repeat(STATE_SNAPSHOT_BYTES_MAX - 100) });
    entries.push(event(
        &json!({ "type": "STATE_SNAPSHOT", "snapshot": state }),
    ));
    let delta = event(
        &json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "x".repeat(4_000_000) }),
    );
    rig.engine.write("t", entries).await;
    let live = rig.hub.live(&thread("t")).await.unwrap();
    let bytes = |live: &LiveThread| live.with_fold(|fold| fold.conversation().messages_bytes());
    rig.engine.write("t", vec![delta.clone()]).await;
    live.catch_up().await.unwrap();
    let each = bytes(&live);
    let more = (THREAD_MESSAGES_BYTES_MAX - each) / each;
    rig.engine.write("t", vec![delta; more]).await;
    live.catch_up().await.unwrap();
    assert!(bytes(&live) > THREAD_MESSAGES_BYTES_MAX - each);

    let viewer = rig.watch("t").await;
    assert_eq!(viewer.replica("t").history, ["subscribed", "events"]);
    assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);
}

/// Goal: whoever comes back with a position has every entry exactly once. Method: a viewer leaves after every entry of
/// a log that goes on growing, and comes back.
#[tokio::test]
async fn a_viewer_resumes_from_every_position() {
    let rig = Rig::new();
    let middle = rig.engine.write("t", run("t", 1, 15)).await.get();
    for cut in 0..=middle {
        let mut viewer = rig.connect().await;
        viewer.subscribe_with("t", json!({ "start": "log" })).await;
        viewer.read_to("t", cut).await;
        let held = viewer.into_replica("t");
        assert!(held.position.seq.get() >= cut);

        let mut again = rig.connect().await;
        again.resume("t", held).await;
        assert_eq!(again.replica("t").mode, Some(Mode::Resumed));
        let head = rig
            .engine
            .write("t", run("t", 100 + usize::try_from(cut).unwrap(), 1))
            .await
            .get();
        again.read_to("t", head).await;
        rig.assert_whole(&again, "t").await;
    }
}

#[tokio::test]
async fn who_holds_nothing_resumes_any_log() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.connect().await;
    viewer
        .subscribe_with("t", json!({ "after": 0, "epoch": "" }))
        .await;
    viewer.catch_up("t").await;
    assert_eq!(viewer.replica("t").mode, Some(Mode::Resumed));
    assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
}

#[tokio::test]
async fn a_position_of_another_log_is_reset() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.connect().await;
    viewer
        .subscribe_with("t", json!({ "after": 3, "epoch": "someone.else" }))
        .await;
    viewer.catch_up("t").await;
    let replica = viewer.replica("t");
    assert_eq!(replica.history, ["reset", "subscribed", "events"]);
    assert_eq!(replica.reason.as_deref(), Some("epoch_unknown"));
    assert_eq!(replica.held(), held_by_hub(&rig.hub, "t").await);
}

/// Goal: only who saw entries that were lost is reset. Method: fail over to a store that lost the last entries, write
/// on, and resume every position that was ever handed out.
#[tokio::test]
async fn lost_entries_reset_only_who_saw_them() {
    let rig = Rig::new();
    let kept = rig.engine.write("t", run("t", 1, 5)).await.get();
    let lossy = rig.engine.memory().restarted();
    rig.engine.write("t", run("t", 2, 5)).await;
    let mut positions = Vec::new();
    for cut in 1..=kept + 4 {
        let mut viewer = rig.connect().await;
        viewer.subscribe_with("t", json!({ "start": "log" })).await;
        viewer.read_to("t", cut).await;
        positions.push(viewer.into_replica("t"));
    }

    let after = Rig::with(TestEngine::of(lossy), Limits::default());
    after.engine.write("t", run("t", 3, 9)).await;
    for held in positions {
        let was_lost = held.position.seq.get() > kept;
        let mut viewer = after.connect().await;
        viewer.resume("t", held).await;
        viewer.catch_up("t").await;
        assert_eq!(viewer.replica("t").history.contains(&"reset"), was_lost);
        assert_eq!(
            viewer.replica("t").held(),
            held_by_hub(&after.hub, "t").await
        );
    }
}

#[tokio::test]
async fn a_new_epoch_is_told_before_its_first_entry() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let held = {
        let mut viewer = rig.connect().await;
        viewer.subscribe_with("t", json!({ "start": "log" })).await;
        viewer.read_to("t", 4).await;
        viewer.into_replica("t")
    };
    // A restart that lost nothing; a viewer joins before anything new is written.
    let restarted = Rig::with(
        TestEngine::of(rig.engine.memory().restarted()),
        Limits::default(),
    );
    let mut viewer = restarted.connect().await;
    viewer.resume("t", held).await;
    viewer.catch_up("t").await;
    let head = restarted.engine.write("t", run("t", 2, 5)).await.get();
    viewer.read_to("t", head).await;
    let replica = viewer.replica("t");
    assert_eq!(
        replica
            .history
            .iter()
            .filter(|kind| **kind == "epoch")
            .count(),
        1
    );
    assert_eq!(replica.entries, restarted.engine.told("t").await);
    assert_eq!(
        replica.position,
        restarted.hub.live(&thread("t")).await.unwrap().head()
    );
}

#[tokio::test]
async fn a_deleted_thread_is_reset_and_begins_anew() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.watch("t").await;
    rig.engine.delete(&thread("t"), Vec::new()).await.unwrap();
    while viewer.replica("t").position.seq.get() > 0 {
        viewer.next().await.unwrap();
    }
    let head = rig.engine.write("t", run("t", 2, 2)).await.get();
    while viewer.replica("t").position.seq.get() < head
        || !viewer.replica("t").history.contains(&"reset")
    {
        viewer.next().await.unwrap();
    }
    assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);
}

#[tokio::test]
async fn a_second_subscribe_without_a_place_changes_nothing() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.watch("t").await;
    viewer.subscribe("t").await;
    assert_eq!(viewer.replica("t").mode, Some(Mode::Resumed));
    let head = rig.engine.write("t", run("t", 2, 5)).await.get();
    viewer.read_to("t", head).await;
    assert_eq!(
        viewer.replica("t").history[..4],
        ["subscribed", "events", "subscribed", "event"]
    );
    assert_eq!(rig.hub.session_stats()[0].subscriptions, 1);
}

#[tokio::test]
async fn a_second_subscribe_with_a_place_replaces_the_first() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.watch("t").await;
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    viewer.catch_up("t").await;
    assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
    let head = rig.engine.write("t", run("t", 2, 5)).await.get();
    viewer.read_to("t", head).await;
    assert_eq!(
        viewer.replica("t").entries,
        rig.engine.told("t").await,
        "each entry once, not once a subscribe"
    );
}

#[tokio::test]
async fn no_frame_follows_the_answer_to_unsubscribe() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.watch("t").await;
    let writing = {
        let engine = rig.engine.clone();
        tokio::spawn(async move {
            for at in 0..200 {
                engine.write("t", run("t", 10 + at, 3)).await;
                tokio::task::yield_now().await;
            }
        })
    };
    viewer.read_to("t", 100).await;
    assert!(matches!(
        viewer
            .ask(json!({ "op": "unsubscribe", "threadId": "t" }))
            .await,
        HubFrame::Ok { .. }
    ));
    let told = viewer.order.len();
    writing.await.unwrap();
    for _ in 0..20 {
        viewer.ask(json!({ "op": "ping" })).await;
    }
    assert_eq!(viewer.order.len(), told);
    assert_eq!(rig.hub.session_stats()[0].subscriptions, 0);
    // The hub lets go of a thread that nobody holds.
    rig.until(|hub| hub.live_thread_count() == 0).await;
}

#[tokio::test]
async fn a_connection_may_hold_a_thousand_subscriptions() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    for at in 0..1000 {
        viewer.subscribe(&format!("t{at}")).await;
    }
    assert_eq!(
        viewer
            .refused(json!({ "op": "subscribe", "threadId": "one-more" }))
            .await,
        "too_large"
    );
    for at in [0, 500, 999] {
        let id = format!("t{at}");
        let head = rig.engine.write(&id, run(&id, 1, 3)).await.get();
        viewer.read_to(&id, head).await;
    }
    viewer
        .ask(json!({ "op": "unsubscribe", "threadId": "t7" }))
        .await;
    viewer.subscribe("one-more").await;
}

#[tokio::test]
async fn a_thread_leaves_memory_with_its_last_viewer() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let one = rig.watch("t").await;
    let other = rig.watch("t").await;
    assert_eq!(rig.hub.live_thread_count(), 1);
    drop(one);
    rig.until(|hub| hub.session_stats().len() == 1).await;
    assert_eq!(rig.hub.live_thread_count(), 1);
    drop(other);
    rig.until(|hub| hub.live_thread_count() == 0).await;
}

#[tokio::test]
async fn viewers_that_join_together_read_the_log_once() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    rig.engine.close_heads();
    let mut viewers = Vec::new();
    for _ in 0..10 {
        let mut viewer = rig.connect().await;
        viewer
            .send(json!({ "op": "subscribe", "threadId": "t", "id": 77 }))
            .await;
        viewers.push(viewer);
    }
    rig.engine.open_heads();
    for viewer in &mut viewers {
        viewer.answer(77).await;
        viewer.catch_up("t").await;
    }
    assert_eq!(rig.engine.reads(), 1);
}
