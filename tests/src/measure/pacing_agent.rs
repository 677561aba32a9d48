//! An agent that speaks at a rate, and says in each event when it said it.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// How it speaks.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub events: usize,
    pub every: Duration,
}

/// A running agent; ends when dropped.
#[derive(Debug)]
pub struct PacingAgent {
    url: String,
    _serving: JoinSet<()>,
}

impl PacingAgent {
    /// Times in its events are microseconds since `began`.
    ///
    /// # Panics
    /// No port is free.
    pub async fn start(pace: Pace, began: Instant) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                socket.set_nodelay(true).unwrap();
                let service = service_fn(move |request| answer(request, pace, began));
                let serving = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(socket), service);
                // A hub that ends in the middle is part of what is measured.
                connections.spawn(async move { drop(serving.await) });
            }
        });
        Self {
            url,
            _serving: serving,
        }
    }

    #[must_use]
    pub fn agents(&self) -> Vec<(String, String)> {
        vec![("paced".to_owned(), self.url.clone())]
    }
}

type Body = StreamBody<stream::BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

async fn answer(
    request: Request<Incoming>,
    Pace { events, every }: Pace,
    began: Instant,
) -> Result<Response<Body>, hyper::Error> {
    let input = request.into_body().collect().await?.to_bytes();
    let input: Value = serde_json::from_slice(&input).unwrap();
    let (thread, run) = (input["threadId"].clone(), input["runId"].clone());
    let first = [
        json!({ "type": "RUN_STARTED", "threadId": thread, "runId": run }),
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant" }),
    ];
    let last = [
        json!({ "type": "TEXT_MESSAGE_END", "messageId": "m" }),
        json!({ "type": "RUN_FINISHED", "threadId": thread, "runId": run }),
    ];
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let told = stream::unfold((ticks, 0), move |(mut ticks, told)| async move {
        if told == events {
            return None;
        }
        ticks.tick().await;
        let delta = format!("{} {}", began.elapsed().as_micros(), ".".repeat(100));
        let event = json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": delta });
        Some((event, (ticks, told + 1)))
    });
    let all = stream::iter(first).chain(told).chain(stream::iter(last));
    let frames = all.map(|event| Ok(Frame::data(Bytes::from(format!("data: {event}\n\n")))));
    let response = Response::builder().header("content-type", "text/event-stream");
    Ok(response.body(StreamBody::new(frames.boxed())).unwrap())
}
