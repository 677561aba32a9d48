//! Writes logs, past the hub: as another node would.

use std::sync::Arc;

use serde_json::{Value, json};
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::engine::{Append, Durability, Engine, Guard, Outcome, ReadLimit};
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::lease::LeaseChange;
use threadcast_thread_log::position::{Position, Seq};

use super::engine::TestEngine;

pub(crate) fn thread(id: &str) -> ThreadId {
    ThreadId::new(id).unwrap()
}

pub(crate) fn event(event: &Value) -> NewEntry {
    event_json(&RawJson::from_value(event))
}

pub(crate) fn event_json(json: &RawJson) -> NewEntry {
    let body = Body::Event {
        json: json.clone(),
        from_chunk: false,
    };
    entry(body, Class::NONE)
}

pub(crate) fn fact(fact: &Value) -> NewEntry {
    entry(
        Body::Fact {
            public: RawJson::from_value(fact),
            private: None,
        },
        Class::NONE,
    )
}

fn entry(body: Body, class: Class) -> NewEntry {
    NewEntry {
        class,
        record: Arc::new(Record {
            at: Millis(7),
            run: None,
            origin: Origin::Agent,
            body,
        }),
    }
}

/// A whole run that says `deltas` pieces of text, with a fact in the middle.
pub(crate) fn run(thread: &str, run: usize, deltas: usize) -> Vec<NewEntry> {
    let message = format!("m{run}");
    let mut entries = vec![
        event(&json!({ "type": "RUN_STARTED", "threadId": thread, "runId": format!("r{run}") })),
        event(&json!({ "type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant" })),
        fact(&json!({ "type": "test.happened", "by": { "id": "hub" }, "run": run })),
    ];
    entries.extend((0..deltas).map(|at| {
        event(&json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": format!("word {at} ") }))
    }));
    entries.push(event(
        &json!({ "type": "TEXT_MESSAGE_END", "messageId": message }),
    ));
    entries.push(event(
        &json!({ "type": "RUN_FINISHED", "threadId": thread, "runId": format!("r{run}") }),
    ));
    entries
}

/// The content of a message that is so many bytes long.
pub(crate) fn long_delta(message: &str, bytes: usize) -> NewEntry {
    let delta = "é \"quoted\" \\ ".repeat(bytes / 14 + 1);
    event(&json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta }))
}

/// An append without any guard, by someone who knows the log up to `known`.
pub(crate) fn append(thread: &str, known: Position, entries: Vec<NewEntry>) -> Append {
    Append {
        thread: self::thread(thread),
        known,
        may_create: true,
        guard: Guard::default(),
        lease: LeaseChange::Keep,
        source: None,
        entries,
        record: None,
        durability: Durability::Held,
    }
}

impl TestEngine {
    /// Appends without any guard.
    pub(crate) async fn write(&self, thread: &str, entries: Vec<NewEntry>) -> Seq {
        let append = append(thread, Position::default(), entries);
        match self.memory().append(append).await.unwrap() {
            Outcome::Appended(appended) => appended.last,
            Outcome::Refused(refused) => {
                panic!("an append without guards was refused: {refused:?}")
            }
        }
    }

    /// The whole log, as its frames should tell it: seq and JSON of each entry.
    pub(crate) async fn told(&self, thread: &str) -> Vec<(u64, String)> {
        let limit = ReadLimit {
            entries: usize::MAX,
            bytes: usize::MAX,
        };
        let entries = self
            .memory()
            .read(&self::thread(thread), Seq::ZERO, limit)
            .await
            .unwrap();
        entries.iter().map(told).collect()
    }
}

fn told(entry: &Entry) -> (u64, String) {
    let json = match &entry.record.body {
        Body::Event { json, .. } => json,
        Body::Fact { public, .. } => public,
    };
    (entry.seq.get(), json.to_string())
}
