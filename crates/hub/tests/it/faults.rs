//! What a log store that fails, or a log that is replaced, does to viewers.

use serde_json::json;
use threadcast_hub::live_thread::Followed;
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::error::EngineError;

use super::support::Rig;
use super::support::log::{run, thread};
use super::support::viewer::held_by_hub;

#[tokio::test(start_paused = true)]
async fn a_cursor_waits_for_a_log_store_that_is_away() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 50)).await;
    let mut viewer = rig.watch("t").await;
    rig.engine.fail_reads(5);
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    viewer.catch_up("t").await;
    assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
    assert!(!viewer.replica("t").history.contains(&"unsubscribed"));
}

#[tokio::test(start_paused = true)]
async fn a_follower_whose_reading_fails_tries_again() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.watch("t").await;
    rig.engine.fail_heads(3);
    rig.engine.delete(&thread("t"), Vec::new()).await.unwrap();
    while !viewer.replica("t").history.contains(&"reset") {
        viewer.next().await.unwrap();
    }
    assert_eq!(rig.engine.failing_heads_left(), 0);
    assert_eq!(viewer.replica("t").position.seq.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_follower_whose_watch_ends_watches_anew() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut viewer = rig.watch("t").await;
    rig.engine.end_watches();
    for at in 2..5 {
        // The first of them between the two watches.
        let head = rig.engine.write("t", run("t", at, 5)).await.get();
        viewer.read_to("t", head).await;
    }
    assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);
}

#[tokio::test]
async fn a_log_that_never_fits_its_head_is_given_up() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let live = rig.hub.live(&thread("t")).await.unwrap();
    rig.engine.overstate_heads(usize::MAX);
    let failed = live.catch_up().await.unwrap_err();
    assert!(matches!(failed, EngineError::Unavailable(_)), "{failed}");
    // It may have been a moment's trouble.
    rig.engine.overstate_heads(3);
    live.catch_up().await.unwrap();
}

/// Goal: no entry of a log that took another one's place reaches a viewer who was not told so. Method: a read for a
/// viewer is under way while the log is deleted and written anew.
#[tokio::test]
async fn what_was_read_across_a_replacement_of_the_log_is_not_sent() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let mut other = rig.watch("t").await;
    let mut viewer = rig.connect().await;
    rig.engine.hold_one_read();
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    rig.engine.delete(&thread("t"), Vec::new()).await.unwrap();
    let head = rig.engine.write("t", run("t", 2, 9)).await.get();
    while !other.replica("t").history.contains(&"reset")
        || other.replica("t").position.seq.get() < head
    {
        other.next().await.unwrap();
    }
    rig.engine.let_reads_go();
    while viewer.replica("t").position.seq.get() < head {
        viewer.next().await.unwrap();
    }
    assert_eq!(
        viewer.replica("t").history[..3],
        ["subscribed", "reset", "subscribed"]
    );
    assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);
}

#[tokio::test]
async fn a_position_of_a_log_that_is_gone_is_not_followed_in_another() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5)).await;
    let live = rig.hub.live(&thread("t")).await.unwrap();
    let position = live.head();
    rig.engine.delete(&thread("t"), Vec::new()).await.unwrap();
    let head = rig.engine.write("t", run("t", 2, 50)).await;
    rig.until(|_| live.head().seq == head).await;
    let followed = live.follow(&position).next().await.unwrap();
    assert_eq!(followed, Followed::Replaced);
    let position = live.head();
    let head = rig.engine.write("t", run("t", 3, 1)).await;
    let followed = live.follow(&position).next().await.unwrap();
    assert!(
        matches!(&followed, Followed::Entries(entries) if entries.last().unwrap().seq <= head),
        "{followed:?}"
    );
}
