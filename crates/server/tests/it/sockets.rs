//! The WebSocket handshake.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;

use crate::support::server::{TestServer, config};
use crate::support::socket::{Socket, connect};
use crate::support::soon;
use threadcast_server::config::Config;

#[tokio::test]
async fn subprotocols() {
    let server = TestServer::start(config()).await;
    let (mut socket, response) = connect(server.address, "other, threadcast.v1")
        .await
        .unwrap();
    assert_eq!(
        response.headers()["sec-websocket-protocol"],
        "threadcast.v1"
    );
    socket.frame("welcome").await;

    let (mut socket, response) = connect(server.address, "").await.unwrap();
    assert!(!response.headers().contains_key("sec-websocket-protocol"));
    socket.frame("welcome").await;

    match connect(server.address, "other").await {
        Err(Error::Http(response)) => assert_eq!(response.status(), 400),
        _ => panic!("only unknown subprotocols are refused"),
    }
}

#[tokio::test]
async fn what_follows_the_handshake_at_once_is_read() {
    let server = TestServer::start(config()).await;
    let mut tcp = TcpStream::connect(server.address).await.unwrap();
    let mut bytes = format!(
        "GET /ws HTTP/1.1\r\nhost: {}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        server.address
    )
    .into_bytes();
    let frame = json!({ "op": "ping", "id": 7 }).to_string();
    // A masked text frame; a mask of zeros leaves the text readable.
    bytes.extend([0x81, 0x80 | u8::try_from(frame.len()).unwrap(), 0, 0, 0, 0]);
    bytes.extend(frame.as_bytes());
    tcp.write_all(&bytes).await.unwrap();
    let mut seen = Vec::new();
    soon(async {
        while !String::from_utf8_lossy(&seen).contains("\"id\":7") {
            assert_ne!(
                tcp.read_buf(&mut seen).await.unwrap(),
                0,
                "{}",
                String::from_utf8_lossy(&seen)
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_run_is_started_and_seen_on_one_socket() {
    let server = TestServer::start(config()).await;
    let mut socket = Socket::watching(server.address, "t").await;
    let input = crate::support::http::input("t", "r", "hi");
    socket
        .send(&json!({ "op": "run", "id": 1, "agent": "demo", "input": input }))
        .await;
    assert_eq!(
        socket.events_of_run().await.last().unwrap()["outcome"]["type"],
        "interrupt"
    );
    socket
        .send(&json!({ "op": "run", "id": 2, "agent": "nobody", "input": input }))
        .await;
    assert_eq!(socket.frame("error").await["code"], "agent_unknown");
}

#[tokio::test]
async fn welcome_tells_the_limits_of_the_configuration() {
    let server = TestServer::start(Config {
        body_bytes_max: 1000,
        ..config()
    })
    .await;
    let (mut socket, _) = connect(server.address, "").await.unwrap();
    let welcome = socket.frame("welcome").await;
    assert_eq!(welcome["limits"]["inputBytes"], 1000, "{welcome}");
}
