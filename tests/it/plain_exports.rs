//! The published client takes what is exported as plain AG-UI, of whole logs and of trimmed ones,
//! and holds what the thread holds.

use std::collections::HashMap;

use serde_json::{Value, json};
use threadcast_agui::json::RawJson;
use threadcast_run_registry::export::AguiExport;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::log;
use threadcast_run_registry::snapshot::snapshot;
use threadcast_tests::node::script;
use threadcast_thread_log::entry::Entry;

/// Logs tried.
const LOGS: u64 = 60;

/// Logs given to one process.
const BATCH: u64 = 10;

/// Of three logs one has so few ids that messages share them; of those the client holds one object
/// in several places (docs/protocol.md §14.7), and a snapshot cannot tell it to.
const COLLIDING: u64 = 1;

/// Places in a list of texts that many viewers share.
#[derive(Default)]
struct Viewers {
    texts: Vec<RawJson>,
    places: HashMap<String, usize>,
    viewers: Vec<Vec<usize>>,
}

impl Viewers {
    fn add(&mut self, events: Vec<RawJson>) {
        let mut viewer = Vec::new();
        for event in events {
            let texts = &mut self.texts;
            let place = self
                .places
                .entry(event.as_str().to_owned())
                .or_insert_with(|| {
                    texts.push(event.clone());
                    texts.len() - 1
                });
            viewer.push(*place);
        }
        self.viewers.push(viewer);
    }
}

fn fold_of(entries: &[Entry]) -> Fold {
    let mut fold = Fold::new("t".parse().unwrap());
    entries.iter().for_each(|entry| fold.apply(entry));
    fold
}

/// What stands for a log that was trimmed in front of `cut`.
fn exported(entries: &[Entry], cut: usize) -> Vec<RawJson> {
    let (gone, kept) = entries.split_at(cut);
    let (mut export, mut events) = if gone.is_empty() {
        (AguiExport::new("t".parse().unwrap()), Vec::new())
    } else {
        AguiExport::behind(fold_of(gone))
    };
    for entry in kept {
        events.extend(export.take(entry));
    }
    events
}

/// Where a log may be cut: between two runs.
fn cuts(entries: &[Entry]) -> Vec<usize> {
    let mut fold = Fold::new("t".parse().unwrap());
    let mut cuts = vec![0];
    for (at, entry) in entries.iter().enumerate() {
        fold.apply(entry);
        if fold.registry().active().is_none()
            && fold.conversation().verifier().active_run().is_none()
        {
            cuts.push(at + 1);
        }
    }
    cuts
}

/// The export of a whole log first, then of the log cut everywhere, and the snapshot of its end.
fn case(seed: u64) -> Value {
    let entries = log(seed);
    let mut viewers = Viewers::default();
    for cut in cuts(&entries) {
        viewers.add(exported(&entries, cut));
    }
    let end = snapshot(fold_of(&entries).conversation());
    viewers.add(end.into_iter().map(|event| event.json).collect());
    let texts: Vec<&str> = viewers.texts.iter().map(RawJson::as_str).collect();
    json!({ "name": seed.to_string(), "threadId": "t", "texts": texts, "viewers": viewers.viewers })
}

#[tokio::test]
async fn the_published_client_holds_the_same_of_every_export_as_of_the_thread() {
    let mut viewers = 0;
    for first in (0..LOGS).step_by(usize::try_from(BATCH).unwrap()) {
        let seeds = (first..first + BATCH).filter(|seed| seed % 3 != COLLIDING);
        let cases: Vec<Value> = seeds.map(case).collect();
        let verdict = script("follow_all.mjs", &json!(cases)).await;
        assert_eq!(verdict["differences"], json!([]), "seeds from {first}");
        viewers += verdict["viewers"].as_u64().unwrap();
    }
    assert!(viewers > 2 * LOGS, "{viewers} viewers");
}
