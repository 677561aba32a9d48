//! What the program costs, end to end: told, not asserted, for every machine has other numbers.

pub mod latency;
pub mod many;
pub mod opening;
pub mod pacing_agent;

use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Program, Starting, serving};
use crate::viewer::{Start, Viewer};

/// Times of the same thing.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The time that so many of a hundred stay within, in milliseconds.
    ///
    /// # Panics
    /// Nothing was measured.
    #[must_use]
    pub fn percentile_ms(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        let at = (sorted.len() * percent / 100).min(sorted.len() - 1);
        sorted[at].as_secs_f64() * 1000.0
    }
}

/// A hub that logs nothing, with agents.
async fn start(agents: &[(String, String)], args: &[&str]) -> Program {
    let mut command = serving(agents, args);
    command.env("RUST_LOG", "error");
    Starting::spawn(command).listening().await
}

fn run(agent: &str, thread: &str, run: &str) -> Value {
    let messages = json!([{ "id": format!("{run}-asks"), "role": "user", "content": "go" }]);
    let input = json!({ "threadId": thread, "runId": run, "messages": messages });
    json!({ "op": "run", "agent": agent, "input": input })
}

/// Runs an agent on a thread to its end; the thread's head then.
async fn run_to_end(hub: &Program, agent: &str, thread: &str) -> u64 {
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe(thread, Start::Log).await;
    let answer = viewer.ask(run(agent, thread, "first")).await;
    assert_eq!(answer["op"], "ok", "{answer}");
    loop {
        let frame = viewer.frame().await.expect("the hub stays");
        let last = &frame["event"]["type"];
        if *last == "RUN_FINISHED" || *last == "RUN_ERROR" {
            assert_eq!(*last, "RUN_FINISHED", "{frame}");
            return frame["seq"].as_u64().unwrap();
        }
    }
}
