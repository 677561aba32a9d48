//! Time is paused: it moves on when every task waits.

use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use threadcast_hub::hub::Peer;
use tokio::io::{AsyncReadExt, DuplexStream, duplex};
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Message, Role};

use super::support::log::run;
use super::support::{Rig, person};

/// A socket whose other side is the test itself, so that nothing is answered unasked.
fn raw(rig: &Rig, capacity: usize) -> DuplexStream {
    let (here, there) = duplex(capacity);
    let hub = rig.hub.clone();
    let peer = Peer {
        principal: person("ann"),
        early_bytes: Vec::new(),
    };
    tokio::spawn(async move { hub.serve(there, peer).await });
    here
}

fn seconds_since(start: Instant) -> u64 {
    start.elapsed().as_secs()
}

async fn wait_for_the_end(rig: &Rig, start: Instant) -> u64 {
    while !rig.hub.session_stats().is_empty() {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    seconds_since(start)
}

#[tokio::test(start_paused = true)]
async fn the_hub_pings_and_an_answered_ping_keeps_the_socket() {
    let rig = Rig::new();
    let start = Instant::now();
    let mut socket = WebSocketStream::from_raw_socket(raw(&rig, 1 << 10), Role::Client, None).await;
    let mut pings = Vec::new();
    while pings.len() < 8 {
        match socket.next().await.unwrap().unwrap() {
            // Reading on answers it.
            Message::Ping(_) => pings.push(seconds_since(start)),
            Message::Text(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(pings, [25, 50, 75, 100, 125, 150, 175, 200]);
    assert_eq!(rig.hub.session_stats().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_silent_socket_dies_ten_seconds_after_a_ping_on_a_quiet_line() {
    let rig = Rig::new();
    let start = Instant::now();
    let _silent = raw(&rig, 1 << 10);
    tokio::task::yield_now().await;
    // `welcome` was written at 0, so the first ping that nothing was written before is the one at 50.
    assert!((60..=61).contains(&wait_for_the_end(&rig, start).await));
}

#[tokio::test(start_paused = true)]
async fn a_silent_socket_on_a_busy_line_dies_ninety_seconds_after_a_ping() {
    let rig = Rig::new();
    let start = Instant::now();
    let mut silent = raw(&rig, 1 << 10);
    // A masked `subscribe`, then nothing more; what the hub sends is read away and not answered.
    let mut subscribe = Vec::new();
    let text = json!({ "op": "subscribe", "threadId": "t" }).to_string();
    subscribe.extend([0x81, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0]);
    subscribe.extend(text.bytes());
    tokio::io::AsyncWriteExt::write_all(&mut silent, &subscribe)
        .await
        .unwrap();
    tokio::spawn(async move {
        let mut bytes = [0; 1024];
        while silent.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
        // Kept until the hub lets go.
        std::future::pending::<()>().await;
    });
    let engine = rig.engine.clone();
    tokio::spawn(async move {
        for at in 0.. {
            engine.write("t", run("t", at, 1)).await;
            tokio::time::sleep(Duration::from_secs(7)).await;
        }
    });
    tokio::task::yield_now().await;
    assert!((115..=116).contains(&wait_for_the_end(&rig, start).await));
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_takes_no_byte_dies_after_two_minutes() {
    let rig = Rig::new();
    let start = Instant::now();
    // Too small for `welcome`, and never read.
    let _stuck = raw(&rig, 16);
    tokio::task::yield_now().await;
    assert!((120..=121).contains(&wait_for_the_end(&rig, start).await));
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_never_thrown_out() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 500)).await;
    let mut viewer = rig.connect_buffering(64).await;
    viewer.welcome().await;
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    let start = Instant::now();
    while viewer.next().await.is_some() && seconds_since(start) < 3600 {
        if viewer.replica("t").position.seq.get() >= 400 {
            break;
        }
        tokio::time::sleep(Duration::from_secs(15)).await;
    }
    assert!(seconds_since(start) > 3000, "it was slow for an hour");
    viewer.catch_up("t").await;
    assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
}
