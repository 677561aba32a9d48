//! The published client ends the same, whatever part of a history it was sent compacted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use threadcast_agui::event::Event;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::compaction::{Compacted, compact};
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::histories::{Random, colliding, diverged, history};
use threadcast_run_registry::snapshot::snapshot;
use threadcast_tests::node::script;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_thread_log::position::Seq;

/// Histories tried of each kind, unless `THREADCAST_HISTORIES` asks for more.
const HISTORIES: u64 = 60;
/// Histories given to one process.
const BATCH: u64 = 5;

/// The events as a hub would log them: a patch that fails is followed by the fact.
fn log(events: &[Event]) -> Vec<Entry> {
    let mut conversation = Conversation::new();
    let mut entries: Vec<Entry> = Vec::new();
    let mut push = |body: Body| {
        let record = Record {
            at: Millis(0),
            run: None,
            origin: Origin::Agent,
            body,
        };
        entries.push(Entry {
            seq: Seq::new(entries.len() as u64 + 1).unwrap(),
            class: Class::NONE,
            record: Arc::new(record),
        });
    };
    for event in events {
        push(Body::Event {
            json: event.json.clone(),
            from_chunk: false,
        });
        if let Some(public) = diverged(&conversation, event) {
            push(Body::Fact {
                public,
                private: None,
            });
        }
        conversation.apply(event);
    }
    entries
}

fn compacted(entries: &[Entry]) -> Vec<RawJson> {
    let events = compact(entries).into_iter().flat_map(|piece| match piece {
        Compacted::Events { events, .. } => events,
        Compacted::Fact(_) => Vec::new(),
    });
    events.collect()
}

fn raw(entries: &[Entry]) -> Vec<RawJson> {
    let events = entries.iter().filter_map(|entry| match &entry.record.body {
        Body::Event { json, .. } => Some(json.clone()),
        Body::Fact { .. } => None,
    });
    events.collect()
}

fn snapshots(events: &[Event]) -> HashMap<usize, Vec<RawJson>> {
    let mut conversation = Conversation::new();
    let mut snapshots = HashMap::from([(0, Vec::new())]);
    for (at, event) in events.iter().enumerate() {
        conversation.apply(event);
        let joined = snapshot(&conversation).into_iter();
        snapshots.insert(at + 1, joined.map(|event| event.json).collect());
    }
    snapshots
}

/// Everything a viewer could have been sent, the raw history first.
struct Viewers {
    texts: Vec<RawJson>,
    places: HashMap<String, usize>,
    viewers: Vec<Vec<usize>>,
}

impl Viewers {
    fn add(&mut self, parts: &[&[RawJson]]) {
        let places = &mut self.places;
        let texts = &mut self.texts;
        let indices = parts.concat().into_iter().map(|text| {
            *places.entry(text.as_str().to_owned()).or_insert_with(|| {
                texts.push(text.clone());
                texts.len() - 1
            })
        });
        self.viewers.push(indices.collect());
    }

    /// At every cut: what came before as it is, and perhaps as a snapshot, then the rest, compacted
    /// and not; and a range in the middle compacted.
    fn of(events: &[Event], with_snapshots: bool, random: &mut Random) -> Self {
        let entries = log(events);
        let mut viewers = Self {
            texts: Vec::new(),
            places: HashMap::new(),
            viewers: Vec::new(),
        };
        viewers.add(&[&raw(&entries)]);
        let snapshots = if with_snapshots {
            snapshots(events)
        } else {
            HashMap::new()
        };
        let mut events_before = 0;
        for cut in 0..=entries.len() {
            let (before, rest) = entries.split_at(cut);
            viewers.add(&[&raw(before), &compacted(rest)]);
            let (range, behind) = rest.split_at(random.below(rest.len() + 1));
            viewers.add(&[&raw(before), &compacted(range), &raw(behind)]);
            if let Some(joined) = snapshots.get(&events_before) {
                viewers.add(&[joined, &compacted(rest)]);
                viewers.add(&[joined, &raw(rest)]);
            }
            if let Some(Body::Event { .. }) = rest.first().map(|entry| &entry.record.body) {
                events_before += 1;
            }
        }
        viewers
    }

    fn to_json(&self, name: &str) -> Value {
        let texts: Vec<_> = self.texts.iter().map(RawJson::as_str).collect();
        json!({ "name": name, "threadId": "t", "texts": texts, "viewers": self.viewers })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a length of the test run, not a setting of the program"
)]
fn histories() -> u64 {
    let asked = std::env::var("THREADCAST_HISTORIES").ok();
    asked.map_or(HISTORIES, |asked| asked.parse().unwrap())
}

async fn check(kind: &str, count: u64, with_snapshots: bool, history: impl Fn(u64) -> Vec<Event>) {
    let started = Instant::now();
    let mut viewers = 0;
    for first in (0..count).step_by(BATCH as usize) {
        let batch = (first..count.min(first + BATCH)).map(|seed| {
            let events = history(seed);
            let viewers = Viewers::of(&events, with_snapshots, &mut Random::new(seed));
            viewers.to_json(&format!("{kind} {seed}"))
        });
        let verdict = script("follow_all.mjs", &Value::Array(batch.collect())).await;
        let differences = verdict["differences"].as_array().unwrap();
        assert!(differences.is_empty(), "{:#}", differences[0]);
        viewers += verdict["viewers"].as_u64().unwrap();
    }
    assert!(viewers > count, "{viewers} viewers of {count} histories");
    let seconds = started.elapsed().as_secs();
    eprintln!("{count} histories ({kind}), {viewers} viewers, no differences, {seconds} s");
}

#[tokio::test]
async fn a_published_client_ends_the_same_wherever_it_joins_and_is_caught_up() {
    check("history", histories(), true, history).await;
}

/// Their ids are so few that a snapshot cannot tell all of it (see the protocol's two limits).
#[tokio::test]
async fn a_published_client_ends_the_same_where_all_ids_collide() {
    check("colliding", histories() / 3, false, colliding).await;
}
