//! Making connections, losing them, and knowing when not to come back.

use std::time::{Duration, Instant};

use threadcast_client::{Client, Options, Start, Update};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::fake_hub::{FakeHub, options, within};

#[tokio::test]
async fn the_first_failure_is_told_at_once() {
    let hub = FakeHub::new().await;
    let url = hub.url.clone();
    drop(hub);
    let error = within(Client::connect(&url, options())).await.unwrap_err();
    assert_eq!(error.code(), "disconnected");
    assert!(error.is_retryable());
    assert!(
        error.to_string().ends_with("could not be reached"),
        "{error}"
    );
}

#[tokio::test]
async fn an_address_with_tls_is_refused_in_words() {
    let error = within(Client::connect("wss://hub/ws", options()))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "unsupported");
    assert_eq!(
        error.to_string(),
        "hub address `wss://hub/ws` asks for TLS, which this client does not speak"
    );
}

#[tokio::test]
async fn a_hub_that_says_nothing_is_given_up_in_time() {
    let hub = FakeHub::new().await;
    let impatient = Options {
        connect_timeout: Duration::from_millis(20),
        ..options()
    };
    let (connected, _silent) =
        within(async { tokio::join!(Client::connect(&hub.url, impatient), hub.accept_tcp()) })
            .await;
    assert_eq!(
        connected.unwrap_err().to_string(),
        "connecting had no answer within 20ms"
    );
}

/// Answers one connection attempt with this HTTP response.
async fn refuse(hub: &FakeHub, response: &str) {
    let mut stream = hub.accept_tcp().await;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(within(stream.read_u8()).await.unwrap());
    }
    within(stream.write_all(response.as_bytes())).await.unwrap();
}

#[tokio::test]
async fn a_refusal_names_status_and_body_and_is_final_below_500() {
    let hub = FakeHub::new().await;
    let client = Client::connect_in_background(&hub.url, options()).unwrap();
    refuse(
        &hub,
        "HTTP/1.1 403 Forbidden\r\ncontent-length: 15\r\n\r\norigin unlisted",
    )
    .await;
    let error = within(client.ping()).await.unwrap_err();
    assert_eq!(error.code(), "handshake");
    assert_eq!(
        error.to_string(),
        "the hub refused the connection with HTTP 403: origin unlisted"
    );
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn a_busy_hub_is_tried_again_after_the_time_it_asked_for() {
    let hub = FakeHub::new().await;
    let _client = Client::connect_in_background(&hub.url, options()).unwrap();
    refuse(
        &hub,
        "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    let refused = Instant::now();
    hub.accept().await;
    assert!(
        refused.elapsed() >= Duration::from_millis(900),
        "came back after {:?}",
        refused.elapsed()
    );
}

#[tokio::test]
async fn a_final_close_code_ends_subscriptions_and_requests() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Snapshot))
        .await
        .unwrap();
    line.subscribed("snapshot", 0).await;
    assert!(matches!(
        within(thread.next_update()).await,
        Ok(Some(Update::Subscribed { .. }))
    ));
    line.close(1008, "too many bad frames").await;
    let error = within(thread.next_update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the hub closed the connection with 1008 (too many bad frames)"
    );
    assert!(
        within(thread.next_update()).await.unwrap().is_none(),
        "the error is told once"
    );
    assert_eq!(within(client.ping()).await.unwrap_err().code(), "closed");
}

#[tokio::test]
async fn any_other_end_is_tried_again() {
    let (hub, client, mut line) = FakeHub::joined(options()).await;
    line.close(1011, "internal error").await;
    let mut line = hub.accept().await;
    // A code that this version does not know says nothing against coming back.
    line.close(4999, "?").await;
    let mut line = hub.accept().await;
    line.send("no JSON").await;
    hub.accept().await.cut();
    let mut line = hub.accept().await;
    let (pinged, ()) = within(async {
        tokio::join!(client.ping(), async {
            let ping = line.next().await;
            let id = crate::fake_hub::number(&ping.id.unwrap());
            line.send(&format!(r#"{{"op":"ok","id":{id}}}"#)).await;
        })
    })
    .await;
    pinged.unwrap();
}

#[tokio::test]
async fn a_draining_hub_is_left_when_it_said() {
    let (hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Tail))
        .await
        .unwrap();
    line.subscribed("tail", 0).await;
    let told = Instant::now();
    line.send(r#"{"op":"draining","reconnectAfterMs":80}"#)
        .await;
    let mut next = hub.accept().await;
    assert!(
        told.elapsed() >= Duration::from_millis(80),
        "left after {:?}",
        told.elapsed()
    );
    assert!(
        line.try_next().await.is_none(),
        "the old connection is closed"
    );
    next.subscribed("resumed", 0).await;
    within(thread.next_update()).await.unwrap();
    let Some(Update::Lost { error, retry_in }) = within(thread.next_update()).await.unwrap() else {
        panic!()
    };
    assert_eq!(
        (error.to_string().as_str(), retry_in),
        ("the hub is going away", Duration::ZERO)
    );
}

#[tokio::test]
async fn the_wait_of_a_draining_hub_holds_when_it_closes_at_once() {
    let (hub, _client, mut line) = FakeHub::joined(options()).await;
    let told = Instant::now();
    line.send(r#"{"op":"draining","reconnectAfterMs":80}"#)
        .await;
    line.close(1001, "draining").await;
    hub.accept().await;
    assert!(
        told.elapsed() >= Duration::from_millis(80),
        "came back after {:?}",
        told.elapsed()
    );
}

#[tokio::test]
async fn a_silent_connection_is_given_up() {
    let mut hub = FakeHub::new().await;
    hub.heartbeat_ms = 20;
    let (client, _silent) = hub.join(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Tail))
        .await
        .unwrap();
    hub.accept().await;
    let Some(Update::Lost { error, .. }) = within(thread.next_update()).await.unwrap() else {
        panic!()
    };
    assert!(
        error.to_string().starts_with("nothing was received for"),
        "{error}"
    );
}

#[tokio::test]
async fn the_connection_ends_with_its_last_handle() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let thread = within(client.subscribe("th".parse().unwrap(), Start::Tail))
        .await
        .unwrap();
    drop(client);
    line.subscribed("tail", 0).await;
    drop(thread);
    // Whether the unsubscribe still goes out is a race nobody minds.
    while line.try_next().await.is_some() {}
}
