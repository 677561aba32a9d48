//! Those who steer: each starts, answers and cancels runs of one thread, and takes no silence for an
//! answer.

use serde_json::{Value, json};

use super::dice::Dice;
use super::victim::Address;
use crate::viewer::Viewer;

/// A command that was answered.
#[derive(Clone, Debug)]
pub struct Answered {
    pub command: Value,
    /// `ok`, or an error that will not be another one later.
    pub answer: Value,
}

/// Steers one thread, beside others.
#[derive(Debug)]
pub struct Hand {
    thread: String,
    name: String,
    address: Address,
    viewer: Option<Viewer>,
    dice: Dice,
    commands: u64,
    /// Its last answers that were accepted.
    answers: Option<(String, Value)>,
    pub answered: Vec<Answered>,
}

impl Hand {
    #[must_use]
    pub fn new(seed: u64, thread: &str, name: &str, address: Address) -> Self {
        let name = format!("{thread}-{name}");
        Self {
            thread: thread.to_owned(),
            dice: Dice::of(seed, &name),
            name,
            address,
            viewer: None,
            commands: 0,
            answers: None,
            answered: Vec::new(),
        }
    }

    /// Does one thing that the thread lets it do.
    pub async fn act(&mut self) {
        let status = self
            .ask(json!({ "op": "status", "threadId": self.thread }))
            .await;
        let view = &status["thread"];
        let interrupts = view["interrupts"].as_array().cloned().unwrap_or_default();
        let command = if let Some(run) = view["activeRun"].as_str() {
            self.dice.happens(20).then(|| self.cancel(run))
        } else if let Some(first) = interrupts.first() {
            let of = first["of"].as_str().unwrap().to_owned();
            Some(self.answer(&of, &interrupts))
        } else if self.dice.happens(30)
            && let Some((of, entries)) = self.answers.clone()
        {
            // Sent again under another run: nothing happens, or what failed is tried once more.
            Some(self.resume(&of, &entries))
        } else {
            Some(self.run())
        };
        if let Some(command) = command {
            self.carry_out(command).await;
        }
        tokio::time::sleep(self.dice.pause(200)).await;
    }

    /// Ends what is active or asks; `false` when there is nothing.
    pub async fn clear(&mut self) -> bool {
        let status = self
            .ask(json!({ "op": "status", "threadId": self.thread }))
            .await;
        let Some(run) = status["thread"]["activeRun"].as_str() else {
            return false;
        };
        let cancel = self.cancel(run);
        self.carry_out(cancel).await;
        tokio::time::sleep(self.dice.pause(50)).await;
        true
    }

    /// The thread's last seq.
    pub async fn head(&mut self) -> u64 {
        let status = self
            .ask(json!({ "op": "status", "threadId": self.thread }))
            .await;
        status["seq"].as_u64().unwrap()
    }

    async fn carry_out(&mut self, command: Value) {
        let answer = self.ask(command.clone()).await;
        if command["op"] == "resume" && answer["op"] == "ok" {
            let of = command["of"].as_str().unwrap().to_owned();
            self.answers = Some((of, command["resume"].clone()));
        }
        self.answered.push(Answered { command, answer });
    }

    /// Sends it unchanged until it has an answer that stands.
    async fn ask(&mut self, request: Value) -> Value {
        loop {
            if self.viewer.is_none() {
                let url = self
                    .address
                    .wait_for(Option::is_some)
                    .await
                    .unwrap()
                    .clone();
                self.viewer = Viewer::try_connect(&url.unwrap()).await;
            }
            let asked = match &mut self.viewer {
                Some(viewer) => viewer.try_ask(request.clone()).await,
                None => None,
            };
            match asked {
                Some(answer) if answer["code"] == "thread_busy" => return answer,
                Some(answer) if answer["retryable"] != true => return answer,
                Some(_) => {}
                None => self.viewer = None,
            }
            tokio::time::sleep(self.dice.pause(50)).await;
        }
    }

    fn next_run(&mut self) -> String {
        self.commands += 1;
        format!("{}-{}", self.name, self.commands)
    }

    fn run(&mut self) -> Value {
        // Some are said twice.
        if !self.dice.happens(10) || self.commands == 0 {
            self.next_run();
        }
        let run = format!("{}-{}", self.name, self.commands);
        let messages = json!([{ "id": format!("{run}-asks"), "role": "user", "content": run }]);
        let input = json!({ "threadId": self.thread, "runId": run, "messages": messages });
        json!({ "op": "run", "agent": "story", "input": input })
    }

    /// Answers everything, each time with other words, so that only one of two can be right.
    fn answer(&mut self, of: &str, interrupts: &[Value]) -> Value {
        self.commands += 1;
        let words = format!("{} says {}", self.name, self.commands);
        let entries = interrupts.iter().map(|asked| {
            json!({ "interruptId": asked["interrupt"]["id"], "status": "resolved", "payload": words })
        });
        let entries = Value::Array(entries.collect());
        self.resume(of, &entries)
    }

    fn resume(&mut self, of: &str, entries: &Value) -> Value {
        let run = self.next_run();
        json!({ "op": "resume", "threadId": self.thread, "of": of, "runId": run, "resume": entries })
    }

    fn cancel(&self, run: &str) -> Value {
        json!({ "op": "cancel", "threadId": self.thread, "runId": run, "reason": self.name })
    }
}
