//! Imports whose thread, log store or hub goes wrong under them.

use std::sync::Arc;

use threadcast_agui::json::RawJson;
use threadcast_hub::hub::HubConfig;
use threadcast_run_registry::export::{EXPORT_VERSION, ExportHead, entry_line};
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::fork::fork;
use threadcast_thread_log::engine::{Durability, Engine, Guard, Head};
use threadcast_thread_log::entry::{Class, Entry, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::lease::{LeaseChange, NodeId};
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::position::Epoch;
use threadcast_wire::limits::Limits;
use tokio_util::task::TaskTracker;

use super::*;
use crate::config::Config;
use crate::failing_engine::{FailingEngine, Failure};
use crate::upstream::agents::Agents;

struct Scene {
    engine: Arc<FailingEngine>,
    hub: Hub,
    stop: CancellationToken,
}

impl Scene {
    fn new() -> Self {
        let engine = Arc::new(FailingEngine::of(MemoryEngine::new()));
        let stop = CancellationToken::new();
        let agents = Agents::new(&Config::default(), TaskTracker::new(), stop.clone());
        let hub = Hub::new(HubConfig {
            engine: engine.clone(),
            agents: Arc::new(agents),
            node: NodeId("n".into()),
            limits: Limits::default(),
        });
        Self { engine, hub, stop }
    }

    async fn begin(&self) -> Result<Import, HttpError> {
        Import::begin(self.hub.clone(), thread(), self.stop.clone()).await
    }

    async fn head(&self) -> Head {
        self.engine.head(&thread()).await.unwrap()
    }
}

fn thread() -> ThreadId {
    ThreadId::new("t").unwrap()
}

/// The export of a small thread.
fn lines() -> Vec<String> {
    let fold = Fold::new(thread());
    let by = Principal::anonymous();
    let entries = fork(&fold, &thread(), &by, Millis(1), fold.position());
    let entries = entries.unwrap().entries;
    let head = ExportHead {
        threadcast: EXPORT_VERSION,
        thread_id: thread(),
        epochs: vec![(Epoch::new("log.one"), Seq::ZERO.next())],
        first: Seq::ZERO.next(),
        last: Seq::new(entries.len() as u64).unwrap(),
        private: true,
        checkpoint: None,
    };
    let line = |(at, entry): (usize, NewEntry)| {
        let entry = Entry {
            seq: Seq::new(at as u64 + 1).unwrap(),
            class: entry.class,
            record: entry.record,
        };
        entry_line(&entry, true)
    };
    let entries = entries.into_iter().enumerate().map(line);
    std::iter::once(head.to_line()).chain(entries).collect()
}

async fn take(import: &mut Import, lines: &[String]) {
    for line in lines {
        import.take_line(line.as_bytes()).await.unwrap();
    }
    let append = import.importer.flush().unwrap();
    import.append(append).await.unwrap();
}

/// What a cancel is to the log: an entry that touches control, under no lease.
async fn interfere(scene: &Scene) {
    let (head, json) = (scene.head().await, r#"{"type":"OF_LATER"}"#);
    let body = threadcast_thread_log::entry::Body::Fact {
        public: RawJson::from_trusted(json),
        private: None,
    };
    let record = Record {
        at: Millis(1),
        run: None,
        origin: Origin::Hub,
        body,
    };
    let append = Append {
        thread: thread(),
        known: threadcast_thread_log::position::Position {
            epoch: head.epochs.last().unwrap().0.clone(),
            seq: head.seq,
        },
        may_create: false,
        guard: Guard {
            control: Some(head.versions.control),
            ..Guard::default()
        },
        lease: LeaseChange::Keep,
        source: None,
        entries: vec![NewEntry {
            class: Class::CONTROL,
            record: record.into(),
        }],
        record: None,
        durability: Durability::Durable,
    };
    let outcome = scene.engine.append(append).await.unwrap();
    assert!(matches!(outcome, Outcome::Appended(_)), "{outcome:?}");
}

#[tokio::test]
async fn whoever_else_writes_to_the_thread_ends_the_import_and_nothing_of_it_stays() {
    let (scene, lines) = (Scene::new(), lines());
    let mut import = scene.begin().await.unwrap();
    take(&mut import, &lines[..2]).await;
    interfere(&scene).await;
    let error = import.beat().await.unwrap_err();
    let told = format!("{error:?}");
    assert!(
        told.contains("a log of 2 entries, 1 were expected"),
        "{told}"
    );
    let mut rest = Body::from(lines[2..].join("\n"));
    assert!(import.read(&mut rest).await.is_err());
    import.undo().await;
    assert!(scene.head().await.epochs.is_empty());
}

#[tokio::test]
async fn a_thread_with_a_log_is_refused_before_the_body_is_read_and_keeps_its_owner() {
    let (scene, lines) = (Scene::new(), lines());
    let mut first = scene.begin().await.unwrap();
    take(&mut first, &lines[..2]).await;
    let told = format!("{:?}", scene.begin().await.err().unwrap());
    assert!(
        told.contains("a log of 1 entries, none was expected"),
        "{told}"
    );
    assert!(scene.head().await.lease.is_some(), "the first one goes on");
}

/// Goal: an append whose answer is lost leaves nothing. Method: the first append, which is all of
/// the log, happens and is not answered.
#[tokio::test]
async fn an_append_of_unknown_outcome_is_removed() {
    let scene = Scene::new();
    let mut import = scene.begin().await.unwrap();
    scene.engine.fail(Failure::AnswerLost { every: 0 });
    let mut body = Body::from(lines().join("\n"));
    assert!(import.read(&mut body).await.is_err());
    assert!(!scene.head().await.epochs.is_empty(), "it happened");
    import.undo().await;
    assert!(scene.head().await.epochs.is_empty());
}

#[tokio::test]
async fn an_import_that_the_end_of_the_hub_meets_leaves_nothing() {
    let (scene, lines) = (Scene::new(), lines());
    let mut import = scene.begin().await.unwrap();
    take(&mut import, &lines[..2]).await;
    scene.stop.cancel();
    // Also when all of the rest is there.
    let mut body = Body::from(lines[2..].join("\n"));
    assert!(import.read(&mut body).await.is_err());
    import.undo().await;
    assert!(scene.head().await.epochs.is_empty());
}

#[tokio::test]
async fn an_import_that_came_to_its_end_frees_its_thread_and_is_not_undone() {
    let (scene, lines) = (Scene::new(), lines());
    let mut import = scene.begin().await.unwrap();
    let mut body = Body::from(lines.join("\n"));
    import.read(&mut body).await.unwrap();
    import.undo().await;
    let head = scene.head().await;
    assert_eq!(head.seq.get() as usize, lines.len() - 1);
    assert_eq!(head.lease, None);
}
