//! Recorded traffic of real agents, as it stands in `proto-fixtures/recordings`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::repository;

/// What one client asked one agent, and what came back.
#[derive(Clone, Debug)]
pub struct Recording {
    pub name: String,
    pub exchanges: Vec<Exchange>,
}

/// One request with its answer.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    /// The `RunAgentInput` the recorded client sent.
    pub request: Value,
    pub status: u16,
    pub content_type: String,
    /// The answer in pieces as they were written: SSE blocks with their terminators, or one whole
    /// body.
    pub blocks: Vec<String>,
    /// Whether the recorded answer was cut or left by its client.
    pub broken: bool,
}

impl Recording {
    /// # Panics
    /// The file is missing or not a recording.
    #[must_use]
    pub fn load(name: &str) -> Self {
        let path = repository(&format!("proto-fixtures/recordings/{name}.jsonl"));
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut exchanges: BTreeMap<u64, Exchange> = BTreeMap::new();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let Some(n) = line["n"].as_u64() else {
                continue;
            };
            let exchange = exchanges.entry(n).or_default();
            match line["t"].as_str().unwrap() {
                "req" => exchange.request = line["body"].clone(),
                "head" => {
                    exchange.status = u16::try_from(line["status"].as_u64().unwrap()).unwrap();
                    exchange.content_type = line["headers"]["content-type"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned();
                }
                "sse" | "body" => exchange
                    .blocks
                    .push(line["raw"].as_str().unwrap().to_owned()),
                "end" => exchange.broken |= line.get("error").is_some(),
                "client_disconnect" => exchange.broken = true,
                other => panic!("{name}: a line of type `{other}` is not known"),
            }
        }
        Self {
            name: name.to_owned(),
            exchanges: exchanges.into_values().collect(),
        }
    }

    /// An agent that says `runs`, one list of events a request, with `THREAD` and `RUN` for the ids
    /// of the request.
    #[must_use]
    pub fn scripted(name: &str, runs: &[Vec<Value>]) -> Self {
        let exchanges = runs.iter().map(|events| Exchange {
            request: json!({ "threadId": "THREAD", "runId": "RUN" }),
            status: 200,
            content_type: "text/event-stream".to_owned(),
            blocks: events
                .iter()
                .map(|event| format!("data: {event}\n\n"))
                .collect(),
            broken: false,
        });
        Self {
            name: name.to_owned(),
            exchanges: exchanges.collect(),
        }
    }

    /// An agent that answers every request with this, whatever it is.
    #[must_use]
    pub fn answering(name: &str, status: u16, content_type: &str, body: &str) -> Self {
        let exchange = Exchange {
            request: json!({ "threadId": "THREAD", "runId": "RUN" }),
            status,
            content_type: content_type.to_owned(),
            blocks: vec![body.to_owned()],
            broken: false,
        };
        Self {
            name: name.to_owned(),
            exchanges: vec![exchange],
        }
    }

    /// The recordings of runs that went to their end: what a client through the hub must see as the
    /// recorded one did.
    #[must_use]
    pub fn complete() -> Vec<Self> {
        let mut names: Vec<String> = std::fs::read_dir(repository("proto-fixtures/recordings"))
            .unwrap()
            .filter_map(|entry| {
                entry
                    .unwrap()
                    .file_name()
                    .to_str()?
                    .strip_suffix(".jsonl")
                    .map(str::to_owned)
            })
            .filter(|name| {
                name.starts_with("agui-pydantic-") || name.starts_with("agui-langgraph-")
            })
            .collect();
        names.sort();
        let all = names.iter().map(|name| Self::load(name));
        all.filter(|recording| {
            recording
                .exchanges
                .iter()
                .all(|it| it.status == 200 && !it.broken)
        })
        .collect()
    }

    #[must_use]
    pub fn block_count(&self) -> usize {
        self.exchanges
            .iter()
            .map(|exchange| exchange.blocks.len())
            .sum()
    }
}
