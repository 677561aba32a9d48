//! An agent that answers every request with the same script, byte for byte.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio_util::task::AbortOnDropHandle;

/// One thing an agent does with a connection whose request it has read.
#[derive(Clone)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Waits for [`ScriptedAgent::open_gate`].
    Gate,
    /// Waits until the caller closes the connection.
    Hang,
}

pub(crate) struct ScriptedAgent {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
    gate: Arc<Semaphore>,
    /// Told when a caller closed a connection that hangs.
    pub(crate) closed: Arc<Notify>,
    _serving: AbortOnDropHandle<()>,
}

/// A request as an agent got it.
#[derive(Clone, Debug)]
pub(crate) struct SeenRequest {
    /// Request line and headers, lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl ScriptedAgent {
    /// Acts as `script` says for the request it is given.
    pub(crate) async fn start(
        script: impl Fn(&SeenRequest) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/agent?x=1", listener.local_addr().unwrap());
        let (seen, gate, closed) = (
            Arc::default(),
            Arc::new(Semaphore::new(0)),
            Arc::new(Notify::new()),
        );
        let scene = Arc::new(Scene {
            script: Box::new(script),
            seen: Arc::clone(&seen),
            gate: gate.clone(),
            closed: closed.clone(),
        });
        let serving = tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(Arc::clone(&scene).play(socket));
            }
        });
        Self {
            url,
            seen,
            gate,
            closed,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    /// Streams events built from the request's ids, then closes.
    pub(crate) async fn streaming(
        events: impl Fn(&Value) -> Vec<Value> + Send + Sync + 'static,
    ) -> Self {
        Self::start(move |request| vec![Act::Send(sse(&events(&request.body)))]).await
    }

    /// Answers always with these bytes, then closes.
    pub(crate) async fn raw(bytes: &str) -> Self {
        let bytes = bytes.as_bytes().to_vec();
        Self::start(move |_| vec![Act::Send(bytes.clone())]).await
    }

    pub(crate) fn open_gate(&self) {
        self.gate.add_permits(1);
    }

    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().clone()
    }
}

type Script = Box<dyn Fn(&SeenRequest) -> Vec<Act> + Send + Sync>;

struct Scene {
    script: Script,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
    gate: Arc<Semaphore>,
    closed: Arc<Notify>,
}

impl Scene {
    async fn play(self: Arc<Self>, mut socket: TcpStream) {
        let Some(request) = read_request(&mut socket).await else {
            return;
        };
        self.seen.lock().push(request.clone());
        for act in (self.script)(&request) {
            match act {
                Act::Send(bytes) => {
                    if socket.write_all(&bytes).await.is_err() {
                        break;
                    }
                }
                Act::Gate => self.gate.acquire().await.unwrap().forget(),
                Act::Hang => {
                    let mut rest = Vec::new();
                    let _ = socket.read_to_end(&mut rest).await;
                    self.closed.notify_one();
                }
            }
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<SeenRequest> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec())
        .unwrap()
        .to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap();
    while bytes.len() < head_end + length.parse::<usize>().unwrap() {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(SeenRequest {
        head,
        body: serde_json::from_slice(&bytes[head_end..]).unwrap(),
    })
}

pub(crate) const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// A whole response of these events; its end is the connection's.
pub(crate) fn sse(events: &[Value]) -> Vec<u8> {
    format!("{STREAM_HEAD}{}", blocks(events)).into_bytes()
}

pub(crate) fn blocks(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect()
}

pub(crate) fn started(request: &Value) -> Value {
    json!({ "type": "RUN_STARTED", "threadId": request["threadId"], "runId": request["runId"] })
}

pub(crate) fn finished(request: &Value) -> Value {
    json!({ "type": "RUN_FINISHED", "threadId": request["threadId"], "runId": request["runId"] })
}

/// An assistant message of one word.
pub(crate) fn says(word: &str) -> Vec<Value> {
    vec![
        json!({ "type": "TEXT_MESSAGE_START", "messageId": word, "role": "assistant" }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": word, "delta": word }),
        json!({ "type": "TEXT_MESSAGE_END", "messageId": word }),
    ]
}

/// A whole run that says `word`.
pub(crate) fn run_saying(request: &Value, word: &str) -> Vec<Value> {
    let mut events = vec![started(request)];
    events.extend(says(word));
    events.push(finished(request));
    events
}
