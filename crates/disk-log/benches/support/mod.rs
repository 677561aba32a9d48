//! Threads that are written in turn, and what is appended to them.

use std::sync::Arc;

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::json::RawJson;
use threadcast_disk_log::{DiskEngine, DiskOptions};
use threadcast_thread_log::conformance::requests::{request, take, token};
use threadcast_thread_log::engine::{Append, Durability, Engine, Guard, Outcome};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use tokio::runtime::Runtime;

/// Threads that are written in turn, as by so many agents.
const THREADS: usize = 16;

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts")
}

pub(crate) fn thread(number: usize) -> ThreadId {
    ThreadId::new(format!("th_{number}")).expect("it is an id")
}

pub(crate) fn delta(number: usize) -> NewEntry {
    let json = format!(
        r#"{{"type":"TEXT_MESSAGE_CONTENT","timestamp":1764530000{:03},"messageId":"msg_0193f1c2-7d1e-7a52-9c46-0a8b6f1f2a11","delta":"{} of the answer that is being written, word by word"}}"#,
        number % 1000,
        number
    );
    let record = Record {
        at: Millis(1_764_530_000_000),
        run: RunId::new("run_0193f1c2-7d1e-7a52-9c46-0a8b6f1f2a11").ok(),
        origin: Origin::Agent,
        body: Body::Event {
            json: RawJson::from_trusted(json),
            from_chunk: false,
        },
    };
    NewEntry {
        class: Class::NONE,
        record: Arc::new(record),
    }
}

/// Begins the log of every thread and takes its lease, with a record as a hub keeps it.
pub(crate) async fn begin(engine: &impl Engine) {
    for number in 0..THREADS {
        let begun = engine
            .append(Append {
                may_create: true,
                lease: take("owner"),
                entries: vec![delta(0)],
                record: Some(vec![b'r'; 300]),
                ..request(&thread(number))
            })
            .await
            .expect("the log begins");
        assert!(matches!(begun, Outcome::Appended(_)));
    }
}

pub(crate) fn tokens(number: usize, entries: Vec<NewEntry>, durability: Durability) -> Append {
    Append {
        guard: Guard {
            lease: Some(token("owner")),
            ..Guard::default()
        },
        entries,
        durability,
        ..request(&thread(number % THREADS))
    }
}

pub(crate) fn open(directory: &tempfile::TempDir) -> DiskEngine {
    DiskEngine::open(directory.path(), &DiskOptions::default()).expect("the directory opens")
}
