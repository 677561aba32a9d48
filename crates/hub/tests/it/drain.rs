use std::time::Duration;

use serde_json::json;
use threadcast_wire::hub_frame::HubFrame;

use super::support::Rig;
use super::support::log::run;

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
    rig.until(|_| true).await;
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
