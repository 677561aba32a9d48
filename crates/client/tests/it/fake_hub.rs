//! A hub played by the test: it speaks the protocol and does nothing by itself but to select the
//! subprotocol, to say `welcome` and to answer `hello`.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use threadcast_client::{Backoff, Client, Options};
use threadcast_wire::SUBPROTOCOL;
use threadcast_wire::client_frame::{ClientFrame, ClientOp, RequestId, SubscribeStart};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

/// No step of these tests takes longer, unless it hangs.
const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, what)
        .await
        .expect("the step ends in time")
}

/// Options whose waits suit a test.
pub(crate) fn options() -> Options {
    Options {
        backoff: Backoff {
            base: Duration::from_millis(1),
            cap: Duration::from_millis(5),
        },
        ..Options::default()
    }
}

pub(crate) struct FakeHub {
    listener: TcpListener,
    pub(crate) url: String,
    pub(crate) heartbeat_ms: u64,
    pub(crate) frame_bytes: u64,
}

impl FakeHub {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/ws", listener.local_addr().unwrap());
        Self {
            listener,
            url,
            heartbeat_ms: 25_000,
            frame_bytes: 1 << 20,
        }
    }

    /// A client and its first line.
    pub(crate) async fn joined(options: Options) -> (Self, Client, Line) {
        let hub = Self::new().await;
        let (client, line) = hub.join(options).await;
        (hub, client, line)
    }

    pub(crate) async fn join(&self, options: Options) -> (Client, Line) {
        let (client, line) =
            within(async { tokio::join!(Client::connect(&self.url, options), self.accept()) })
                .await;
        (client.unwrap(), line)
    }

    pub(crate) async fn accept_tcp(&self) -> TcpStream {
        within(self.listener.accept()).await.unwrap().0
    }

    /// The next connection, welcomed.
    pub(crate) async fn accept(&self) -> Line {
        let stream = self.accept_tcp().await;
        stream.set_nodelay(true).unwrap();
        let mut line = Line {
            socket: within(accept_hdr_async(stream, select)).await.unwrap(),
        };
        let (heartbeat_ms, frame_bytes) = (self.heartbeat_ms, self.frame_bytes);
        line.send(&format!(
            r#"{{"op":"welcome","connection":"c","protocol":"{SUBPROTOCOL}","node":"n","heartbeatMs":{heartbeat_ms},"limits":{{"frameBytes":{frame_bytes}}}}}"#
        ))
        .await;
        line
    }
}

#[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
fn select(request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    assert_eq!(
        request.headers().get("sec-websocket-protocol").unwrap(),
        SUBPROTOCOL
    );
    response.headers_mut().insert(
        "sec-websocket-protocol",
        HeaderValue::from_static(SUBPROTOCOL),
    );
    Ok(response)
}

/// The hub's side of one connection.
pub(crate) struct Line {
    socket: WebSocketStream<TcpStream>,
}

impl Line {
    pub(crate) async fn send(&mut self, frame: &str) {
        within(self.socket.send(Message::text(frame)))
            .await
            .unwrap();
    }

    /// The next frame that is no `hello`; `None` when the client closed.
    pub(crate) async fn try_next(&mut self) -> Option<ClientFrame> {
        loop {
            let text = match within(self.socket.next()).await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                _ => return None,
            };
            let frame = ClientFrame::read(&text).unwrap();
            let ClientOp::Hello { .. } = frame.op else {
                return Some(frame);
            };
            let heartbeat_ms = 25_000;
            let id = number(&frame.id.unwrap());
            self.send(&format!(
                r#"{{"op":"ok","id":{id},"heartbeatMs":{heartbeat_ms}}}"#
            ))
            .await;
        }
    }

    pub(crate) async fn next(&mut self) -> ClientFrame {
        self.try_next().await.expect("the client sends a frame")
    }

    /// Expects a `subscribe`; gives its id, thread and start.
    pub(crate) async fn subscribe(&mut self) -> (i64, String, SubscribeStart) {
        let frame = self.next().await;
        let ClientOp::Subscribe { thread, start } = frame.op else {
            panic!("no subscribe: {frame:?}")
        };
        (number(&frame.id.unwrap()), thread.to_string(), start)
    }

    /// Expects a `subscribe` and serves it: `mode`, and the head after which nothing is held back.
    pub(crate) async fn subscribed(&mut self, mode: &str, head: u64) -> SubscribeStart {
        let (id, thread, start) = self.subscribe().await;
        self.send(&subscribed(id, &thread, mode, head)).await;
        start
    }

    /// Ends the connection without a word, behind the bytes of what was sent.
    pub(crate) fn cut(self) {}

    /// Sends the first `count` bytes of these frames as they go over the wire, then ends the
    /// connection.
    pub(crate) async fn send_bytes_and_cut(mut self, bytes: &[u8]) {
        let stream = self.socket.get_mut();
        within(stream.write_all(bytes)).await.unwrap();
        within(stream.flush()).await.unwrap();
    }

    pub(crate) async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame {
            code: code.into(),
            reason: reason.into(),
        };
        within(self.socket.close(Some(frame))).await.unwrap();
    }
}

pub(crate) fn number(id: &RequestId) -> i64 {
    match id {
        RequestId::Number(id) => *id,
        RequestId::Text(id) => panic!("the client numbers its requests, but this is {id}"),
    }
}

pub(crate) fn subscribed(id: i64, thread: &str, mode: &str, head: u64) -> String {
    format!(
        r#"{{"op":"subscribed","id":{id},"threadId":"{thread}","epoch":"e","seq":{head},"mode":"{mode}"}}"#
    )
}

pub(crate) fn event(thread: &str, seq: u64) -> String {
    format!(
        r#"{{"op":"event","threadId":"{thread}","seq":{seq},"at":1,"event":{{"type":"CUSTOM","name":"n","value":{seq}}}}}"#
    )
}

/// A text message as a server puts it on the wire.
pub(crate) fn on_the_wire(frame: &str) -> Vec<u8> {
    let length = frame.len();
    let mut bytes = vec![0x81];
    match u16::try_from(length) {
        Ok(short) if length < 126 => bytes.push(u8::try_from(short).unwrap()),
        Ok(long) => {
            bytes.push(126);
            bytes.extend(long.to_be_bytes());
        }
        Err(_) => {
            bytes.push(127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(frame.as_bytes());
    bytes
}
