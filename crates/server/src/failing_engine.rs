//! A log store that fails on request, in front of one that does not.

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::{
    Append, Checkpoint, Engine, Head, Listed, Outcome, ReadLimit, ThreadRecord, Watched, Work,
};
use threadcast_thread_log::entry::{Entry, Millis};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::NodeId;
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::position::Seq;
use tokio::sync::watch;

/// What fails, and how.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Failure {
    #[default]
    None,
    /// Appends happen, and one answer in `every + 1` is lost.
    AnswerLost { every: usize },
    /// They do not happen.
    Away,
    /// They do not happen after this many more.
    AwayAfter { appends: usize },
    /// They wait for another failure, or none.
    Held,
    /// One panics after this many more; those behind it succeed.
    Panics { after: usize },
    /// They happen, but nothing can be read.
    Unreadable,
    /// They happen, but nobody hears where a thread stands.
    NoHeads,
    /// They happen, deletions do not.
    Undeletable,
}

#[derive(Debug, Default)]
pub(crate) struct FailingEngine {
    log: MemoryEngine,
    failure: watch::Sender<Failure>,
    appends: Mutex<usize>,
}

impl FailingEngine {
    /// In front of this one, which others may use as well.
    pub(crate) fn of(log: MemoryEngine) -> Self {
        Self {
            log,
            ..Self::default()
        }
    }

    pub(crate) fn fail(&self, failure: Failure) {
        self.failure.send_replace(failure);
    }

    /// The log behind the failures.
    pub(crate) fn log(&self) -> &MemoryEngine {
        &self.log
    }

    /// The failure that stands, once writes are not held.
    async fn failure_of_a_write(&self) -> Failure {
        let mut failures = self.failure.subscribe();
        let failure = failures.wait_for(|failure| !matches!(failure, Failure::Held));
        *failure.await.expect("the sender is here")
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
        async move {
            let failure = self.failure_of_a_write().await;
            match failure {
                Failure::Away | Failure::AwayAfter { appends: 0 } => return Err(unavailable()),
                Failure::AwayAfter { appends } => self.fail(Failure::AwayAfter {
                    appends: appends - 1,
                }),
                Failure::Panics { after: 0 } => {
                    self.fail(Failure::None);
                    panic!("on request");
                }
                Failure::Panics { after } => self.fail(Failure::Panics { after: after - 1 }),
                Failure::AnswerLost { .. }
                | Failure::Held
                | Failure::None
                | Failure::NoHeads
                | Failure::Undeletable
                | Failure::Unreadable => {}
            }
            let outcome = self.log.append(append).await;
            match failure {
                Failure::AnswerLost { every } if self.loses_answer(every) => Err(unavailable()),
                _ => outcome,
            }
        }
        .boxed()
    }

    fn make_durable<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<(), EngineError>> {
        async move {
            let failure = self.failure_of_a_write().await;
            match failure {
                Failure::Away | Failure::AwayAfter { appends: 0 } => Err(unavailable()),
                _ => self.log.make_durable(thread).await,
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
        if matches!(*self.failure.borrow(), Failure::Unreadable) {
            let error = EngineError::Corrupt {
                thread: thread.to_string(),
                seq: after.next().get(),
                source: "on request".into(),
            };
            return async { Err(error) }.boxed();
        }
        self.log.read(thread, after, limit)
    }

    fn head<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<Head, EngineError>> {
        if matches!(*self.failure.borrow(), Failure::NoHeads) {
            return async { Err(unavailable()) }.boxed();
        }
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
        through: Seq,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, EngineError>> {
        self.log.load_checkpoint(thread, through)
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

    fn delete<'a>(
        &'a self,
        thread: &'a ThreadId,
        note: ThreadRecord,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        if matches!(*self.failure.borrow(), Failure::Undeletable) {
            return async { Err(unavailable()) }.boxed();
        }
        self.log.delete(thread, note)
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
