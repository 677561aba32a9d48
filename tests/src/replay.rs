//! An agent that says what a recorded agent said.
//!
//! Each thread replays the recording from its start, one exchange a request, under the ids of the
//! request. A thread may be held back: its blocks leave one by one, as a test allows them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use crate::recording::{Exchange, Recording};

type Body = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// A server that replays recordings, each under `/<name>`; ends when dropped.
#[derive(Debug)]
pub struct Replay {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Shared {
    recordings: HashMap<String, Recording>,
    threads: Mutex<HashMap<String, Thread>>,
    asked: Notify,
}

#[derive(Debug, Default)]
struct Thread {
    answered: usize,
    hold: Option<Arc<Semaphore>>,
    requests: Vec<Value>,
    keys: Vec<String>,
}

/// Lets the blocks of one thread out.
#[derive(Clone, Debug)]
pub struct Hold(Arc<Semaphore>);

impl Hold {
    pub fn allow(&self, blocks: usize) {
        self.0.add_permits(blocks);
    }

    pub fn release(&self) {
        self.0.add_permits(Semaphore::MAX_PERMITS / 2);
    }
}

impl Replay {
    pub async fn start(recordings: impl IntoIterator<Item = Recording>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::serve(listener, recordings)
    }

    pub(crate) fn serve(
        listener: TcpListener,
        recordings: impl IntoIterator<Item = Recording>,
    ) -> Self {
        let recordings = recordings
            .into_iter()
            .map(|recording| (recording.name.clone(), recording))
            .collect();
        let shared = Arc::new(Shared {
            recordings,
            ..Shared::default()
        });
        let address = listener.local_addr().unwrap();
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, Arc::clone(&shared)));
        Self {
            address,
            shared,
            _serving: serving,
        }
    }

    #[must_use]
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// The `--agent` settings that make a hub know every recording by its name.
    #[must_use]
    pub fn agents(&self) -> Vec<(String, String)> {
        self.shared
            .recordings
            .keys()
            .map(|name| (name.clone(), self.url(name)))
            .collect()
    }

    /// Holds back what `thread` will be told; to be called before its run is asked for.
    #[must_use]
    pub fn hold(&self, thread: &str) -> Hold {
        let hold = Arc::new(Semaphore::new(0));
        self.shared
            .threads
            .lock()
            .unwrap()
            .entry(thread.to_owned())
            .or_default()
            .hold = Some(Arc::clone(&hold));
        Hold(hold)
    }

    /// The bodies of the requests that came for `thread`.
    #[must_use]
    pub fn requests(&self, thread: &str) -> Vec<Value> {
        self.of_thread(thread, |it| it.requests.clone())
    }

    /// The Idempotency-Keys of these requests.
    #[must_use]
    pub fn keys(&self, thread: &str) -> Vec<String> {
        self.of_thread(thread, |it| it.keys.clone())
    }

    /// Waits until so many requests came for `thread`.
    pub async fn asked(&self, thread: &str, count: usize) {
        loop {
            let asked = self.shared.asked.notified();
            if self.requests(thread).len() >= count {
                return;
            }
            asked.await;
        }
    }

    fn of_thread<T: Default>(&self, thread: &str, look: impl FnOnce(&Thread) -> T) -> T {
        let threads = self.shared.threads.lock().unwrap();
        threads.get(thread).map(look).unwrap_or_default()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(move |request| answer(request, Arc::clone(&shared)));
            // A client that goes away in mid-answer is part of the tests.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Infallible> {
    let name = request.uri().path().trim_start_matches('/').to_owned();
    let key = request.headers().get("idempotency-key").cloned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let input: Value = serde_json::from_slice(&body).unwrap();
    let (thread, run) = (
        input["threadId"].as_str().unwrap(),
        input["runId"].as_str().unwrap(),
    );
    let recording = &shared.recordings[&name];
    let (exchange, hold) = {
        let mut threads = shared.threads.lock().unwrap();
        let state = threads.entry(thread.to_owned()).or_default();
        state.requests.push(input.clone());
        let key = key.as_ref().and_then(|key| key.to_str().ok());
        state.keys.extend(key.map(str::to_owned));
        state.answered += 1;
        let exchange = recording.exchanges.get(state.answered - 1);
        let exchange =
            exchange.unwrap_or_else(|| panic!("{name}: thread {thread} asked once too often"));
        (exchange.clone(), state.hold.clone())
    };
    shared.asked.notify_waiters();
    let blocks = under_ids(&exchange, thread, run);
    let stream = futures::stream::iter(blocks).then(move |block| {
        let hold = hold.clone();
        async move {
            if let Some(hold) = hold {
                hold.acquire().await.unwrap().forget();
            }
            Ok(Frame::data(Bytes::from(block)))
        }
    });
    let response = Response::builder()
        .status(exchange.status)
        .header("content-type", exchange.content_type);
    Ok(response.body(StreamBody::new(stream.boxed())).unwrap())
}

/// The recorded blocks with the recorded thread and run ids replaced.
fn under_ids(exchange: &Exchange, thread: &str, run: &str) -> Vec<String> {
    let swap = |block: &String, from: &Value, to: &str| match from.as_str() {
        Some(from) => block.replace(&format!("\"{from}\""), &Value::from(to).to_string()),
        None => block.clone(),
    };
    let recorded = &exchange.request;
    let blocks = exchange.blocks.iter();
    blocks
        .map(|block| {
            swap(
                &swap(block, &recorded["threadId"], thread),
                &recorded["runId"],
                run,
            )
        })
        .collect()
}
