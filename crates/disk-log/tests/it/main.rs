//! The engine over real directories: what every engine does, and what only one on a disk can do
//! wrong.

#![expect(
    clippy::unwrap_used,
    reason = "clippy takes helper functions of tests for code"
)]

use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use threadcast_disk_log::{DiskEngine, DiskOptions};
use threadcast_thread_log::conformance::{Factory, Reopen};
use threadcast_thread_log::{engine_conformance, engine_reopen_conformance};

mod crash;
mod failures;
mod kill;
mod memory;
mod support;
mod torn;

/// Opens engines over directories that go with it.
#[derive(Default)]
struct Directories(Mutex<Vec<TempDir>>);

impl Factory for Directories {
    type Engine = DiskEngine;

    async fn open(&self) -> Arc<DiskEngine> {
        let directory = tempfile::tempdir().unwrap();
        let engine = DiskEngine::open(directory.path(), &DiskOptions::default()).unwrap();
        self.0.lock().unwrap().push(directory);
        Arc::new(engine)
    }
}

impl Reopen for Directories {
    async fn reopen(&self, engine: Arc<DiskEngine>) -> Arc<DiskEngine> {
        engine.close();
        Arc::new(DiskEngine::open(engine.directory(), &DiskOptions::default()).unwrap())
    }
}

engine_conformance!(Directories::default());
engine_reopen_conformance!(Directories::default());
