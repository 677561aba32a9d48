//! The shared append decision, the record's bytes and the memory engine, by what they promise.

#![expect(
    clippy::unwrap_used,
    reason = "clippy takes helper functions of tests for code"
)]

use std::sync::Arc;

use threadcast_thread_log::conformance::{self, Factory, Reopen};
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::{engine_conformance, engine_reopen_conformance};

mod admit;
mod codec;
mod lost_writes;
mod memory;
mod owners;
mod positions;
mod work;

struct Memory;

impl Factory for Memory {
    type Engine = MemoryEngine;

    async fn open(&self) -> Arc<MemoryEngine> {
        Arc::new(MemoryEngine::new())
    }
}

impl Reopen for Memory {
    async fn reopen(&self, engine: Arc<MemoryEngine>) -> Arc<MemoryEngine> {
        Arc::new(engine.restarted())
    }
}

engine_conformance!(Memory);
engine_reopen_conformance!(Memory);

#[tokio::test]
async fn whole_suite_passes_on_one_thread() {
    conformance::run_all(&Memory).await;
    conformance::run_all_reopened(&Memory).await;
}
