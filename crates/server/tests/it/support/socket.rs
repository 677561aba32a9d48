//! A WebSocket viewer that reads frames as JSON.

use std::net::SocketAddr;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message, handshake::client::Response};

use super::soon;

pub(crate) struct Socket(WebSocketStream<TcpStream>);

/// Shakes hands, offering `subprotocols` if there are any.
pub(crate) async fn connect(
    address: SocketAddr,
    subprotocols: &str,
) -> Result<(Socket, Response), Error> {
    let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
    if !subprotocols.is_empty() {
        request
            .headers_mut()
            .insert("sec-websocket-protocol", subprotocols.parse().unwrap());
    }
    let tcp = TcpStream::connect(address).await.unwrap();
    let (socket, response) = soon(tokio_tungstenite::client_async(request, tcp)).await?;
    Ok((Socket(socket), response))
}

impl Socket {
    /// A viewer of `thread` from its beginning.
    pub(crate) async fn watching(address: SocketAddr, thread: &str) -> Self {
        let (mut socket, _) = connect(address, "threadcast.v1").await.unwrap();
        socket
            .send(&json!({ "op": "subscribe", "id": "s", "threadId": thread, "start": "log" }))
            .await;
        socket.frame("subscribed").await;
        socket
    }

    pub(crate) async fn send(&mut self, frame: &Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    /// Reads on until a frame with this op.
    pub(crate) async fn frame(&mut self, op: &str) -> Value {
        loop {
            let message = soon(self.0.next()).await.unwrap().unwrap();
            if let Message::Text(text) = message {
                let frame: Value = serde_json::from_str(&text).unwrap();
                if frame["op"] == op {
                    return frame;
                }
            }
        }
    }

    /// Reads on until the socket is closed; the code it was closed with.
    pub(crate) async fn close_code(&mut self) -> Option<u16> {
        let mut code = None;
        while let Some(Ok(message)) = soon(self.0.next()).await {
            if let Message::Close(close) = message {
                code = close.map(|close| close.code.into());
            }
        }
        code
    }

    /// The events up to the end of a run, the type of its terminal event included.
    pub(crate) async fn events_of_run(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.frame("event").await["event"].take();
            events.push(event.clone());
            if event["type"] == "RUN_FINISHED" || event["type"] == "RUN_ERROR" {
                return events;
            }
        }
    }
}
