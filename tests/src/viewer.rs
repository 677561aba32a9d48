//! A viewer of the protocol by hand: frames as JSON, one socket, no reconnecting.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::within;

use line::Line;

mod frames;
mod line;

pub use frames::{events_of, last_seq};

/// One socket to a hub.
#[derive(Debug)]
pub struct Viewer {
    socket: WebSocketStream<Line>,
    remaining: Arc<AtomicUsize>,
    received: Arc<AtomicUsize>,
    ids: u64,
    /// Frames that came while something else was waited for.
    waiting: VecDeque<Value>,
    /// Pieces of longer frames, by thread.
    parts: HashMap<String, String>,
    /// The run that each thread's frames are in.
    current_runs: HashMap<String, String>,
}

impl Viewer {
    /// Connects and reads `welcome`.
    pub async fn connect(url: &str) -> Self {
        let connected = Self::try_connect(url).await;
        connected.expect("the hub takes connections")
    }

    /// The same; `None` when there is no hub, or when it goes away meanwhile.
    pub async fn try_connect(url: &str) -> Option<Self> {
        let connecting = TcpStream::connect(address_of(url));
        let stream = within("a connection", connecting).await.ok()?;
        Self::try_on(Line::new(stream, usize::MAX), url).await
    }

    /// The same over a socket with options of its own.
    pub async fn over(stream: TcpStream, url: &str) -> Self {
        Self::on(Line::new(stream, usize::MAX), url).await
    }

    /// The same, reading a few bytes at a time so that [`cut_after`](Self::cut_after) is exact.
    pub async fn connect_counted(url: &str) -> Self {
        let connecting = TcpStream::connect(address_of(url));
        let stream = within("a connection", connecting).await.unwrap();
        Self::on(Line::new(stream, usize::MAX / 2), url).await
    }

    /// The same, with a receive buffer of 4,096 bytes, reading so many bytes a second.
    pub async fn connect_slow(url: &str, bytes_per_second: usize) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let connecting = socket.connect(address_of(url).parse().unwrap());
        let stream = within("a connection", connecting).await.unwrap();
        Self::on(Line::slow(stream, bytes_per_second), url).await
    }

    async fn on(line: Line, url: &str) -> Self {
        let connected = Self::try_on(line, url).await;
        connected.expect("the hub shakes hands")
    }

    async fn try_on(line: Line, url: &str) -> Option<Self> {
        let (remaining, received) = (line.remaining(), line.received());
        let connecting = tokio_tungstenite::client_async(url, line);
        let (socket, _) = within("a handshake", connecting).await.ok()?;
        let mut viewer = Self {
            socket,
            remaining,
            received,
            ids: 0,
            waiting: VecDeque::new(),
            parts: HashMap::new(),
            current_runs: HashMap::new(),
        };
        let welcome = viewer.frame().await?;
        assert_eq!(welcome["op"], "welcome", "{welcome}");
        Some(viewer)
    }

    /// From here on only so many more bytes arrive; then the line is dead.
    pub fn cut_after(&self, bytes: usize) {
        self.remaining.store(bytes, Ordering::SeqCst);
    }

    /// How many bytes came so far.
    #[must_use]
    pub fn received_bytes(&self) -> usize {
        self.received.load(Ordering::SeqCst)
    }

    /// The next frame, or `None` when the line has ended.
    pub async fn frame(&mut self) -> Option<Value> {
        let frame = match self.waiting.pop_front() {
            Some(frame) => frame,
            None => self.read().await?,
        };
        for event in events_of(std::slice::from_ref(&frame)) {
            if event["type"] == "RUN_STARTED" {
                let thread = frame["threadId"].as_str().unwrap().to_owned();
                self.current_runs
                    .insert(thread, event["runId"].as_str().unwrap().to_owned());
            }
        }
        Some(frame)
    }

    async fn read(&mut self) -> Option<Value> {
        within("a frame", async {
            loop {
                match self.socket.next().await? {
                    Ok(Message::Text(text)) => {
                        let frame = serde_json::from_str(&text).unwrap();
                        if let Some(frame) = self.joined(frame) {
                            return Some(frame);
                        }
                    }
                    Ok(Message::Close(_)) | Err(_) => return None,
                    // Pings keep a line alive; they are not what is waited for.
                    Ok(_) => {}
                }
            }
        })
        .await
    }

    /// The frame itself, or the one whose last part it is.
    fn joined(&mut self, frame: Value) -> Option<Value> {
        if frame["op"] != "part" {
            return Some(frame);
        }
        let thread = frame["threadId"].as_str().unwrap().to_owned();
        let text = self.parts.entry(thread.clone()).or_default();
        text.push_str(frame["text"].as_str().unwrap());
        if frame["last"] != true {
            return None;
        }
        let text = self.parts.remove(&thread).unwrap_or_default();
        Some(serde_json::from_str(&text).unwrap())
    }

    /// How the hub closed the socket; frames on the way are dropped.
    pub async fn close_code(&mut self) -> Option<u16> {
        loop {
            match within("a close", self.socket.next()).await? {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    pub async fn send_text(&mut self, text: impl Into<String>) {
        self.socket.send(Message::text(text.into())).await.unwrap();
    }

    pub async fn send(&mut self, message: Message) {
        self.socket.send(message).await.unwrap();
    }

    /// Sends a request and waits for its answer; what else arrives is kept.
    pub async fn ask(&mut self, request: Value) -> Value {
        let answer = self.try_ask(request).await;
        answer.expect("an answer comes before the line ends")
    }

    /// The same; `None` when the line ends before the answer. What came before it is kept.
    pub async fn try_ask(&mut self, mut request: Value) -> Option<Value> {
        self.ids += 1;
        let id = json!(self.ids);
        request["id"] = id.clone();
        let text = Message::text(request.to_string());
        let sent = self.socket.send(text).await;
        let mut kept = std::mem::take(&mut self.waiting);
        let mut answer = None;
        while sent.is_ok()
            && let Some(frame) = self.read().await
        {
            if frame["id"] == id {
                answer = Some(frame);
                break;
            }
            kept.push_back(frame);
        }
        self.waiting = kept;
        answer
    }

    /// Subscribes; `position` is (epoch, seq).
    pub async fn subscribe(&mut self, thread: &str, start: Start<'_>) -> Value {
        let answer = self.ask(start.request(thread)).await;
        assert_eq!(answer["op"], "subscribed", "{answer}");
        answer
    }
}

/// Where a subscription begins.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    Snapshot,
    Log,
    After(&'a str, u64),
    /// The same, every entry by itself.
    LogAfter(&'a str, u64),
}

impl Start<'_> {
    /// The request that subscribes to `thread` there.
    #[must_use]
    pub fn request(self, thread: &str) -> Value {
        let mut request = json!({ "op": "subscribe", "threadId": thread });
        match self {
            Self::Snapshot => request["start"] = json!("snapshot"),
            Self::Log => request["start"] = json!("log"),
            Self::After(epoch, seq) | Self::LogAfter(epoch, seq) => {
                request["epoch"] = json!(epoch);
                request["after"] = json!(seq);
                if let Self::LogAfter(..) = self {
                    request["start"] = json!("log");
                }
            }
        }
        request
    }
}

/// Host and port of a URL.
fn address_of(url: &str) -> &str {
    let behind = url.strip_prefix("ws://").unwrap();
    behind.split('/').next().unwrap()
}
