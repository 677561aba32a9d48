use std::time::Duration;

use serde_json::json;
use threadcast_wire::hub_frame::HubFrame;

use super::decisions::run_command;
use super::support::log::{run, thread};
use super::support::{Rig, person};

#[tokio::test]
async fn a_node_that_goes_away_tells_every_viewer_and_answers_what_was_asked() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 3)).await;
    let mut viewers = vec![
        rig.watch("t").await,
        rig.watch("t").await,
        rig.connect().await,
    ];
    rig.engine.close_heads();
    viewers[2]
        .send(json!({ "op": "status", "threadId": "u", "id": 5 }))
        .await;
    // The request is under way: its thread is being loaded.
    rig.until(|hub| hub.live_thread_count() == 2).await;
    let draining = {
        let hub = rig.hub.clone();
        tokio::spawn(async move { hub.drain(Duration::from_secs(10)).await })
    };
    for viewer in &mut viewers {
        loop {
            if let HubFrame::Draining { reconnect_after_ms } = viewer.next().await.unwrap() {
                assert!(reconnect_after_ms <= 5_000);
                break;
            }
        }
    }
    rig.engine.open_heads();
    viewers[2].answer(5).await;
    for viewer in &mut viewers {
        assert_eq!(viewer.closed().await, 1001);
    }
    drop(viewers);
    assert_eq!(draining.await.unwrap(), 0);

    // Who comes all the same is sent on at once.
    let mut late = rig.connect_buffering(1 << 10).await;
    late.welcome().await;
    assert!(matches!(late.next().await, Some(HubFrame::Draining { .. })));
    assert_eq!(late.closed().await, 1001);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_goes_away_waits_for_commands_under_way() {
    let rig = Rig::new();
    rig.engine.close_heads();
    let command = {
        let hub = rig.hub.clone();
        tokio::spawn(async move {
            hub.command(thread("t"), &person("ann"), run_command("idle", "t", "r1"))
                .await
        })
    };
    rig.until(|hub| hub.task_count() == 1).await;
    // Nobody waits for its answer any more.
    command.abort();
    assert_eq!(rig.hub.drain(Duration::from_secs(10)).await, 1);
    let draining = {
        let hub = rig.hub.clone();
        tokio::spawn(async move { hub.drain(Duration::from_secs(10)).await })
    };
    tokio::task::yield_now().await;
    assert!(!draining.is_finished());
    rig.engine.open_heads();
    assert_eq!(draining.await.unwrap(), 0);
    assert_eq!(rig.engine.told("t").await.len(), 1);
}

#[tokio::test]
async fn no_task_is_left_of_a_thread_that_nobody_holds() {
    let rig = Rig::new();
    let viewer = rig.watch("t").await;
    assert_eq!(rig.hub.task_count(), 1);
    drop(viewer);
    rig.until(|hub| hub.task_count() == 0).await;
    assert_eq!(rig.hub.live_thread_count(), 0);
}
