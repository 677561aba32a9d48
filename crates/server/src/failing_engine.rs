//! A log store that fails on request, in front of one that does not.

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::{
    Append, Checkpoint, Engine, Head, Listed, Outcome, ReadLimit, Watched, Work,
};
use threadcast_thread_log::entry::{Entry, Millis};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::NodeId;
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::position::Seq;

/// How appends fail.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Failure {
    #[default]
    None,
    /// They happen, and one answer in `every + 1` is lost.
    AnswerLost { every: usize },
    /// They do not happen.
    Away,
}

#[derive(Debug, Default)]
pub(super) struct FailingEngine {
    log: MemoryEngine,
    failure: Mutex<Failure>,
    appends: Mutex<usize>,
}

impl FailingEngine {
    pub(super) fn fail(&self, failure: Failure) {
        *self.failure.lock() = failure;
    }

    /// The log behind the failures.
    pub(super) fn log(&self) -> &MemoryEngine {
        &self.log
    }

    fn loses_answer(&self, every: usize) -> bool {
        let mut appends = self.appends.lock();
        *appends += 1;
        appends.is_multiple_of(every + 1)
    }
}

fn unavailable() -> EngineError {
    EngineError::Unavailable("away on request".into())
}

impl Engine for FailingEngine {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Outcome, EngineError>> {
        let failure = *self.failure.lock();
        async move {
            match failure {
                Failure::Away => Err(unavailable()),
                Failure::AnswerLost { every } => {
                    let outcome = self.log.append(append).await;
                    if self.loses_answer(every) {
                        Err(unavailable())
                    } else {
                        outcome
                    }
                }
                Failure::None => self.log.append(append).await,
            }
        }
        .boxed()
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Seq,
        limit: ReadLimit,
    ) -> BoxFuture<'a, Result<Vec<Entry>, EngineError>> {
        self.log.read(thread, after, limit)
    }

    fn head<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<Head, EngineError>> {
        self.log.head(thread)
    }

    fn watch<'a>(
        &'a self,
        thread: &'a ThreadId,
    ) -> BoxFuture<'a, Result<BoxStream<'static, Watched>, EngineError>> {
        self.log.watch(thread)
    }

    fn save_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        self.log.save_checkpoint(thread, checkpoint)
    }

    fn load_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, EngineError>> {
        self.log.load_checkpoint(thread)
    }

    fn trim<'a>(
        &'a self,
        thread: &'a ThreadId,
        through: Seq,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        self.log.trim(thread, through)
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a ThreadId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Listed>, EngineError>> {
        self.log.list(after, limit)
    }

    fn delete<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<(), EngineError>> {
        self.log.delete(thread)
    }

    fn set_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        due: Millis,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        self.log.set_work(thread, due)
    }

    fn clear_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        seen: Millis,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        self.log.clear_work(thread, seen)
    }

    fn work(
        &self,
        bucket: u8,
        until: Millis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Work>, EngineError>> {
        self.log.work(bucket, until, limit)
    }

    fn beat<'a>(&'a self, node: &'a NodeId) -> BoxFuture<'a, Result<(), EngineError>> {
        self.log.beat(node)
    }

    fn beats(&self) -> BoxFuture<'_, Result<Vec<(NodeId, u64)>, EngineError>> {
        self.log.beats()
    }
}
