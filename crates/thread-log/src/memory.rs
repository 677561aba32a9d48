//! The engine for tests and for a hub without a disk: logs live and die with the process.
//!
//! One lock a thread makes check, write and publishing one step, so that watchers see appends in
//! their order. Nothing waits: every future is ready when it is first polled, and does nothing
//! before. Held and durable are the same here.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, StreamExt};
use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;

use crate::admit::{check_length, check_record};
use crate::engine::{
    Append, Checkpoint, Engine, Head, Listed, Outcome, ReadLimit, ThreadRecord, Watched, Work,
};
use crate::entry::{Entry, Millis};
use crate::error::EngineError;
use crate::lease::NodeId;
use crate::position::Seq;

use store::Store;
use thread::Thread;

mod store;
mod thread;
mod watch;
mod work_index;

/// A store of logs in memory; a copy is the same store.
#[derive(Clone)]
pub struct MemoryEngine(Arc<Store>);

impl MemoryEngine {
    /// An empty store with an incarnation of its own.
    pub fn new() -> Self {
        Self(Arc::new(Store::of(BTreeMap::new())))
    }

    /// How many threads take memory: those with a log, a tombstone or a watcher.
    pub fn thread_count(&self) -> usize {
        self.0.threads.read().len()
    }

    /// A store with the logs as they are now and another incarnation: what a restart finds that
    /// lost nothing, or, once this one is written to again, what a failover finds that lost the
    /// rest. Watchers and work stay behind.
    pub fn restarted(&self) -> Self {
        let threads = self.0.threads.read();
        let copies = threads
            .iter()
            .filter_map(|(id, thread)| Some((id.clone(), Mutex::new(thread.lock().copy()?))));
        Self(Arc::new(Store::of(copies.collect())))
    }
}

impl Default for MemoryEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut engine = f.debug_struct("MemoryEngine");
        engine
            .field("incarnation", self.0.names.incarnation())
            .field("thread_count", &self.thread_count())
            .finish()
    }
}

impl Engine for MemoryEngine {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Outcome, EngineError>> {
        let store = &*self.0;
        let work = async move {
            check_record(&append)?;
            let write = |thread: &mut Thread| thread.append(&append, &store.names);
            Ok(store.with_any(&append.thread, write))
        };
        work.boxed()
    }

    fn make_durable<'a>(&'a self, _: &'a ThreadId) -> BoxFuture<'a, Result<(), EngineError>> {
        async { Ok(()) }.boxed()
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Seq,
        limit: ReadLimit,
    ) -> BoxFuture<'a, Result<Vec<Entry>, EngineError>> {
        async move {
            Ok(self
                .0
                .with(thread, |thread| thread.read(after, limit))
                .unwrap_or_default())
        }
        .boxed()
    }

    fn head<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<Head, EngineError>> {
        async move {
            Ok(self
                .0
                .with(thread, |thread| thread.head())
                .unwrap_or_default())
        }
        .boxed()
    }

    fn watch<'a>(
        &'a self,
        thread: &'a ThreadId,
    ) -> BoxFuture<'a, Result<BoxStream<'static, Watched>, EngineError>> {
        async move { Ok(watch::attach(&self.0, thread).boxed()) }.boxed()
    }

    fn save_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let work = async move {
            self.0
                .with(thread, |thread| thread.save_checkpoint(checkpoint));
            Ok(())
        };
        work.boxed()
    }

    fn load_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        through: Seq,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, EngineError>> {
        async move {
            Ok(self
                .0
                .with(thread, |thread| thread.checkpoint(through).cloned())
                .flatten())
        }
        .boxed()
    }

    fn trim<'a>(
        &'a self,
        thread: &'a ThreadId,
        through: Seq,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let work = async move {
            let trimmed = self
                .0
                .with(thread, |thread| thread.trim(through))
                .unwrap_or(Err(None));
            trimmed.map_err(|found| EngineError::NoCheckpoint {
                thread: thread.to_string(),
                through: through.get(),
                found: found.map(Seq::get),
            })
        };
        work.boxed()
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a ThreadId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Listed>, EngineError>> {
        let work = async move {
            let threads = self.0.threads.read();
            let page = threads.range((after.map_or(Unbounded, Excluded), Unbounded));
            Ok(page
                .filter_map(|(id, thread)| thread.lock().listed(id))
                .take(limit)
                .collect())
        };
        work.boxed()
    }

    fn delete<'a>(
        &'a self,
        thread: &'a ThreadId,
        note: ThreadRecord,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let work = async move {
            check_length(&note)?;
            self.0.with(thread, |thread| thread.delete(note));
            Ok(())
        };
        work.boxed()
    }

    fn set_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        due: Millis,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let work = async move {
            self.0.work.set(thread, due);
            Ok(())
        };
        work.boxed()
    }

    fn clear_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        seen: Millis,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let work = async move {
            self.0.work.clear(thread, seen);
            Ok(())
        };
        work.boxed()
    }

    fn work(
        &self,
        bucket: u8,
        until: Millis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Work>, EngineError>> {
        async move { Ok(self.0.work.due(bucket, until, limit)) }.boxed()
    }

    fn beat<'a>(&'a self, node: &'a NodeId) -> BoxFuture<'a, Result<(), EngineError>> {
        let work = async move {
            *self.0.beats.lock().entry(node.clone()).or_default() += 1;
            Ok(())
        };
        work.boxed()
    }

    fn beats(&self) -> BoxFuture<'_, Result<Vec<(NodeId, u64)>, EngineError>> {
        async move {
            Ok(self
                .0
                .beats
                .lock()
                .iter()
                .map(|(node, beat)| (node.clone(), *beat))
                .collect())
        }
        .boxed()
    }
}
