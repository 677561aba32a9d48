use serde_json::{Value, json};
use threadcast_run_registry::conversation::Conversation;
use threadcast_wire::answer::{HelloAnswer, RunAnswer, ThreadAnswer};
use threadcast_wire::hub_frame::HubFrame;
use threadcast_wire::limits::Limits;
use tokio_tungstenite::tungstenite::Message;

use super::support::Rig;
use super::support::log::run;

#[tokio::test]
async fn the_first_frame_is_welcome() {
    let rig = Rig::new();
    let mut viewer = rig.connect_buffering(1 << 10).await;
    let welcome = viewer.welcome().await;
    assert_eq!(
        (welcome.protocol.as_str(), welcome.node.as_str()),
        ("threadcast.v1", "node-1")
    );
    assert_eq!(*rig.hub.session_stats()[0].connection, *welcome.connection);
    assert_eq!(welcome.limits, (&Limits::default()).into());
}

#[tokio::test]
async fn hello_moves_the_heartbeat_inside_its_bounds() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    for (asked, kept) in [(60_000, 60_000), (1, 5_000), (999_999_999, 300_000)] {
        let client = json!({ "name": "test", "version": "1" });
        let answer = viewer
            .ask(json!({ "op": "hello", "client": client, "heartbeatMs": asked }))
            .await;
        let HubFrame::Ok { answer, .. } = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(answer.read::<HelloAnswer>().unwrap().heartbeat_ms, kept);
    }
}

#[tokio::test]
async fn frames_that_are_none_are_answered_and_the_connection_stays() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    let deep = "[".repeat(100) + &"]".repeat(100);
    let bad = [
        ("{", "bad_frame"),
        ("[]", "bad_frame"),
        ("{}", "bad_frame"),
        (r#"{"op":7}"#, "bad_frame"),
        (r#"{"op":"subscribe","threadId":""}"#, "bad_frame"),
        (r#"{"op":"ping","op":"ping"}"#, "bad_frame"),
        (&format!(r#"{{"op":"ping","x":{deep}}}"#), "bad_frame"),
        (r#"{"op":"presence","threadId":"t"}"#, "unknown_op"),
        (r#"{"op":"dance"}"#, "unknown_op"),
    ];
    for (text, code) in bad {
        viewer.send_message(Message::text(text)).await;
        assert_eq!(viewer.next_error().await, code, "{text}");
    }
    assert!(matches!(
        viewer.ask(json!({ "op": "ping" })).await,
        HubFrame::Ok { .. }
    ));
}

#[tokio::test]
async fn too_many_bad_frames_close_the_connection() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    for _ in 0..11 {
        viewer.send_message(Message::text("nonsense")).await;
    }
    for _ in 0..11 {
        assert_eq!(viewer.next_error().await, "bad_frame");
    }
    assert_eq!(viewer.closed().await, 1008);
    rig.until(|hub| hub.session_stats().is_empty()).await;
}

#[tokio::test]
async fn a_binary_message_closes_the_connection() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    viewer.send_message(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(viewer.closed().await, 1003);
}

#[tokio::test]
async fn a_frame_that_is_too_large_is_told_where_to_go() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    // The hub reads away what it does not take, so that its last words arrive.
    viewer
        .send_message(Message::text("x".repeat(2 << 20)))
        .await;
    let HubFrame::Error { id: None, error } = viewer.next().await.unwrap() else {
        panic!("an error is due")
    };
    assert_eq!(&*error.code, "too_large");
    assert!(
        error.message.contains("POST /agents/{agent}/run"),
        "{}",
        error.message
    );
    assert_eq!(viewer.closed().await, 1009);
}

#[tokio::test]
async fn a_client_that_closes_is_let_go() {
    let rig = Rig::new();
    let mut viewer = rig.watch("t").await;
    viewer.send_message(Message::Close(None)).await;
    while viewer.next().await.is_some() {}
    rig.until(|hub| hub.session_stats().is_empty() && hub.live_thread_count() == 0)
        .await;
}

#[tokio::test]
async fn an_id_in_flight_cannot_be_used_again() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    rig.engine.close_heads();
    viewer
        .send(json!({ "op": "subscribe", "threadId": "t", "id": "one" }))
        .await;
    viewer.send(json!({ "op": "ping", "id": "one" })).await;
    assert_eq!(viewer.next_error().await, "bad_frame");
    rig.engine.open_heads();
    assert!(matches!(viewer.next().await, Some(HubFrame::Subscribed(_))));
    viewer.send(json!({ "op": "ping", "id": "one" })).await;
    assert!(matches!(viewer.next().await, Some(HubFrame::Ok { .. })));
}

#[tokio::test]
async fn answers_may_overtake_but_those_of_one_thread_keep_their_order() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    rig.engine.close_heads();
    viewer
        .send(json!({ "op": "subscribe", "threadId": "t", "id": 1 }))
        .await;
    viewer
        .send(json!({ "op": "unsubscribe", "threadId": "t", "id": 2 }))
        .await;
    viewer
        .send(json!({ "op": "subscribe", "threadId": "t", "start": "tail", "id": 3 }))
        .await;
    viewer.send(json!({ "op": "ping", "id": 4 })).await;
    viewer.answer(4).await;
    rig.engine.open_heads();
    for id in 1..=3 {
        viewer.answer(id).await;
    }
    assert_eq!(viewer.replica("t").history, ["subscribed", "subscribed"]);
    assert_eq!(rig.hub.session_stats()[0].subscriptions, 1);
}

#[tokio::test]
async fn over_thirty_two_requests_in_flight_the_hub_stops_reading() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    rig.engine.close_heads();
    for at in 0..32 {
        viewer
            .send(json!({ "op": "status", "threadId": format!("t{at}"), "id": at }))
            .await;
    }
    viewer.send(json!({ "op": "ping", "id": 99 })).await;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    rig.engine.open_heads();
    let mut order = Vec::new();
    while order.len() < 33 {
        if let Some(HubFrame::Ok { id, .. }) = viewer.next().await {
            order.push(serde_json::to_value(&id).unwrap());
        }
    }
    // The ping was read only when one of the others had been answered.
    assert_ne!(order[0], json!(99));
}

#[tokio::test]
async fn status_tells_a_thread_and_a_run() {
    let rig = Rig::new();
    let head = rig.engine.write("t", run("t", 1, 2)).await;
    let mut viewer = rig.connect().await;
    let HubFrame::Ok { answer, .. } = viewer.ask(json!({ "op": "status", "threadId": "t" })).await
    else {
        panic!()
    };
    let thread: ThreadAnswer = answer.read().unwrap();
    assert_eq!((thread.seq, thread.thread.runs.len()), (head, 0));
    let status = viewer
        .ask(json!({ "op": "status", "threadId": "t", "runId": "nobody" }))
        .await;
    let HubFrame::Ok { answer, .. } = status else {
        panic!("{status:?}")
    };
    assert_eq!(
        answer.read::<RunAnswer>().unwrap().status.as_str(),
        "unknown"
    );
}

#[tokio::test]
async fn a_request_without_an_id_gets_no_ok() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    viewer.send(json!({ "op": "ping" })).await;
    viewer
        .send(json!({ "op": "status", "threadId": "t" }))
        .await;
    let frame = viewer.ask(json!({ "op": "ping" })).await;
    assert!(matches!(frame, HubFrame::Ok { .. }));
    viewer
        .send(json!({ "op": "cancel", "threadId": "t", "runId": "nobody" }))
        .await;
    assert_eq!(viewer.next_error().await, "not_found");
}

#[tokio::test]
async fn a_baseline_carries_the_state_when_no_event_can() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 2)).await;
    let viewer = rig.watch("t").await;
    let view = viewer.replica("t").view.clone().unwrap();
    assert_eq!(view.state, None);
    assert_eq!(
        *Conversation::new().state(),
        Value::Object(serde_json::Map::new())
    );
}
