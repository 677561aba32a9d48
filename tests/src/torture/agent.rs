//! An agent whose events are numbered, and which counts how often it is asked for what.
//!
//! What a run does follows from its id: it tells a story and then succeeds, fails, asks, or says
//! nothing more until its caller goes away.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::dice::Dice;

/// One request as the agent got it.
#[derive(Clone, Debug)]
pub struct Call {
    pub thread: String,
    pub run: String,
    /// Its Idempotency-Key.
    pub key: String,
    pub resume: Value,
}

/// A running agent; ends when dropped.
#[derive(Debug)]
pub struct NumberingAgent {
    url: String,
    calls: Arc<Mutex<Vec<Call>>>,
    _serving: JoinSet<()>,
}

impl NumberingAgent {
    /// # Panics
    /// No port is free.
    pub async fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let calls = Arc::default();
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, seed, Arc::clone(&calls)));
        Self {
            url,
            calls,
            _serving: serving,
        }
    }

    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// # Panics
    /// A connection panicked.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

async fn accept(listener: TcpListener, seed: u64, calls: Arc<Mutex<Vec<Call>>>) {
    let mut connections = JoinSet::new();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        let calls = Arc::clone(&calls);
        connections.spawn(async move {
            let service = service_fn(move |request| answer(request, seed, Arc::clone(&calls)));
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service);
            // Its caller is killed again and again.
            let _ = connection.await;
        });
        while connections.try_join_next().is_some() {}
    }
}

type Body = StreamBody<futures::stream::BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

async fn answer(
    request: Request<Incoming>,
    seed: u64,
    calls: Arc<Mutex<Vec<Call>>>,
) -> Result<Response<Body>, hyper::Error> {
    let key = request.headers()["idempotency-key"]
        .to_str()
        .unwrap()
        .to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let input: Value = serde_json::from_slice(&body).unwrap();
    let text = |name: &str| input[name].as_str().unwrap().to_owned();
    let call = Call {
        thread: text("threadId"),
        run: text("runId"),
        key,
        resume: input["resume"].clone(),
    };
    calls.lock().unwrap().push(call.clone());
    let mut dice = Dice::of(seed, &call.run);
    let (events, hangs) = story(&call, &mut dice);
    let pause_ms = 1 + dice.below(8);
    let told = futures::stream::iter(events).then(move |event| {
        let pause = dice.pause(pause_ms);
        async move {
            tokio::time::sleep(pause).await;
            Ok(Frame::data(Bytes::from(format!("data: {event}\n\n"))))
        }
    });
    let rest = if hangs {
        futures::stream::pending().boxed()
    } else {
        futures::stream::empty().boxed()
    };
    let response = Response::builder().header("content-type", "text/event-stream");
    Ok(response
        .body(StreamBody::new(told.chain(rest).boxed()))
        .unwrap())
}

/// What a run tells, and whether it stays silent then.
fn story(call: &Call, dice: &mut Dice) -> (Vec<Value>, bool) {
    let (thread, run) = (&call.thread, &call.run);
    let message = format!("{run}-story");
    let mut events = vec![
        json!({ "type": "RUN_STARTED", "threadId": thread, "runId": run }),
        json!({ "type": "STATE_SNAPSHOT", "snapshot": { "run": run, "told": 0 } }),
        json!({ "type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant" }),
    ];
    let (count, mut patched) = (10 + dice.below(60), 0);
    for number in 1..=count {
        let delta = format!("{number} ");
        events
            .push(json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta }));
        if dice.happens(10) {
            let patch = json!([{ "op": "replace", "path": "/told", "value": number }]);
            events.push(json!({ "type": "STATE_DELTA", "delta": patch }));
            patched = number;
        }
    }
    match dice.below(10) {
        0 => return (events, true),
        1 => {
            events.push(json!({ "type": "RUN_ERROR", "message": "as planned" }));
            return (events, false);
        }
        _ => {}
    }
    events.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": message }));
    // What must stand before it.
    let result = json!({ "told": count, "patched": patched });
    let mut end =
        json!({ "type": "RUN_FINISHED", "threadId": thread, "runId": run, "result": result });
    if dice.happens(50) {
        let asked = (0..1 + dice.below(2)).map(
            |n| json!({ "id": format!("q{n}"), "reason": "confirmation", "message": "Go on?" }),
        );
        let interrupts: Vec<Value> = asked.collect();
        end["outcome"] = json!({ "type": "interrupt", "interrupts": interrupts });
    }
    events.push(end);
    (events, false)
}
