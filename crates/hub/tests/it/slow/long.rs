//! Ranges of entries that are long.

use serde_json::{Value, json};
use threadcast_thread_log::entry::NewEntry;

use super::open_message;
use crate::support::Rig;
use crate::support::log::{event, long_delta};
use crate::support::viewer::Viewer;

/// Who held the open message of `t` comes back after `missed`.
async fn comes_back(rig: &Rig, missed: Vec<NewEntry>) -> Viewer {
    // A baseline is no way out.
    rig.engine.write("t", vec![long_delta("m1", 200_000)]).await;
    let mut viewer = rig.connect().await;
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    viewer.catch_up("t").await;
    let held = viewer.into_replica("t");
    rig.engine.write("t", missed).await;
    let mut again = rig.connect().await;
    again.resume("t", held).await;
    again.catch_up("t").await;
    rig.assert_whole(&again, "t").await;
    assert!(!again.replica("t").history.contains(&"reset"));
    again
}

fn lengths(viewer: &Viewer) -> Vec<usize> {
    let frames = viewer.order.iter().filter(|(id, _)| id == "t");
    frames.map(|(_, bytes)| *bytes).collect()
}

/// Goal: what a thin line has to carry in one piece, or again if it breaks, is little. Method: what 64 deltas amount to is
/// just short enough for one piece, or would go in parts.
#[tokio::test]
async fn a_range_of_long_entries_is_a_range_of_few_entries() {
    for bytes in [900, 4_000] {
        let rig = Rig::new();
        open_message(&rig).await;
        let viewer = comes_back(&rig, vec![long_delta("m1", bytes); 100]).await;
        let longest = lengths(&viewer).into_iter().max().unwrap();
        assert!(longest <= 32 << 10, "a frame of {longest} bytes");
        let ranges = &viewer.replica("t").ranges;
        let compacted = 100 / ranges.len();
        assert!(compacted >= 3, "{ranges:?}");
    }
}

#[tokio::test]
async fn long_states_that_take_each_others_place_are_sent_once() {
    let rig = Rig::new();
    open_message(&rig).await;
    let state = |at: usize| -> Value {
        json!({ "type": "STATE_SNAPSHOT", "snapshot": { "at": at, "all": "x".repeat(40_000) } })
    };
    let states = (0..60).map(|at| event(&state(at))).collect();
    let viewer = comes_back(&rig, states).await;
    let bytes: usize = lengths(&viewer).into_iter().sum();
    assert!(bytes < 200_000, "{bytes} bytes for states of 40 KB");
}
