//! A plain HTTP client that shows everything it gets.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use super::soon;

/// A response whose body has not been read.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    unread: Vec<u8>,
    _connection: AbortOnDropHandle<()>,
}

/// One block of an event stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) id: Option<String>,
    pub(crate) event: Option<Value>,
}

/// Sends one request on a connection of its own.
pub(crate) async fn send(
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Answer {
    soon(async {
        let socket = TcpStream::connect(address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket))
            .await
            .unwrap();
        let connection = tokio::spawn(async move { drop(connection.await) });
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", address.to_string());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = sender
            .send_request(request.body(Full::new(body.into())).unwrap())
            .await
            .unwrap();
        let (head, body) = response.into_parts();
        let connection = AbortOnDropHandle::new(connection);
        Answer {
            status: head.status,
            headers: head.headers,
            body,
            unread: Vec::new(),
            _connection: connection,
        }
    })
    .await
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    send(address, Method::GET, path, &[], "").await
}

pub(crate) async fn post(address: SocketAddr, path: &str, body: &Value) -> Answer {
    send(
        address,
        Method::POST,
        path,
        &[("content-type", "application/json")],
        body.to_string(),
    )
    .await
}

/// A run input with one user message.
pub(crate) fn input(thread: &str, run: &str, text: &str) -> Value {
    json!({
        "threadId": thread, "runId": run, "protocolVersion": "1.0",
        "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": format!("user-{run}"), "role": "user", "content": text }],
    })
}

impl Answer {
    /// The whole body.
    pub(crate) async fn text(mut self) -> String {
        let rest = soon(self.body.collect()).await.unwrap().to_bytes();
        self.unread.extend_from_slice(&rest);
        String::from_utf8(self.unread).unwrap()
    }

    pub(crate) async fn json(self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Status and error code of a refused request.
    pub(crate) async fn refusal(self) -> (u16, String) {
        let status = self.status.as_u16();
        (
            status,
            self.json().await["code"].as_str().unwrap().to_owned(),
        )
    }

    /// The next block of an event stream; `None` at its end.
    pub(crate) async fn block(&mut self) -> Option<Block> {
        soon(async {
            let mut looked_at = 0;
            loop {
                let mut pairs = self.unread[looked_at..].windows(2);
                if let Some(end) = pairs.position(|pair| pair == b"\n\n") {
                    let block = self.unread.drain(..looked_at + end + 2).collect();
                    return Some(read_block(&String::from_utf8(block).unwrap()));
                }
                looked_at = self.unread.len().saturating_sub(1);
                let frame = self.body.frame().await?.unwrap();
                self.unread.extend_from_slice(&frame.into_data().unwrap());
            }
        })
        .await
    }

    /// The blocks up to the end of the stream.
    pub(crate) async fn blocks(mut self) -> Vec<Block> {
        let mut blocks = Vec::new();
        while let Some(block) = self.block().await {
            blocks.push(block);
        }
        blocks
    }

    /// Reads to the end; whether that was missing, the connection being cut before it.
    pub(crate) async fn was_cut(mut self) -> bool {
        soon(async {
            loop {
                match self.body.frame().await {
                    None => return false,
                    Some(Err(_)) => return true,
                    Some(Ok(_)) => {}
                }
            }
        })
        .await
    }

    /// The events up to the end of the stream.
    pub(crate) async fn events(self) -> Vec<Value> {
        self.blocks()
            .await
            .into_iter()
            .filter_map(|block| block.event)
            .collect()
    }

    /// Reads on until an event of this type.
    pub(crate) async fn event(&mut self, event_type: &str) -> Value {
        loop {
            let block = self
                .block()
                .await
                .unwrap_or_else(|| panic!("the stream ended before {event_type}"));
            if let Some(event) = block.event.filter(|event| event["type"] == event_type) {
                return event;
            }
        }
    }
}

/// The types of events, in order.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

fn read_block(text: &str) -> Block {
    let mut block = Block {
        id: None,
        event: None,
    };
    for line in text.lines() {
        if let Some(data) = line.strip_prefix("data: ") {
            block.event = Some(serde_json::from_str(data).unwrap());
        } else if let Some(id) = line.strip_prefix("id: ") {
            block.id = Some(id.to_owned());
        } else {
            assert!(
                line.is_empty() || line.starts_with(": "),
                "unexpected line {line:?}"
            );
        }
    }
    block
}
