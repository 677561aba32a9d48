//! The engine over a directory.
//!
//! An append is done where it is asked for, whatever may wait for the disk on the runtime's pool
//! for blocking work. Every method but `beat`, `beats` and `watch` must be called within a tokio
//! runtime.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, StreamExt};
use parking_lot::RwLock;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::admit::{check_length, check_record};
use threadcast_thread_log::engine::{
    Append, Checkpoint, Durability, Engine, Head, Listed, Outcome, ReadLimit, ThreadRecord,
    Watched, Work,
};
use threadcast_thread_log::entry::{Entry, Millis};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::NodeId;
use threadcast_thread_log::position::Seq;

use crate::blocking::blocking;
use crate::error::{DiskError, Failure, OpenError};
use crate::health::Health;
use crate::open::{DiskOptions, open};
use crate::store::Store;
use crate::thread::{Decided, Encoded};
use crate::watch::attach;

/// A store of logs in a directory; a copy is the same store.
///
/// The directory is closed, with a last sync, when the last copy and the last work under way are
/// gone, or by [`DiskEngine::close`].
#[derive(Clone)]
pub struct DiskEngine {
    store: Arc<RwLock<Option<Arc<Store>>>>,
    health: Arc<Health>,
    directory: Arc<Path>,
}

impl DiskEngine {
    /// Opens a data directory, or makes one where there is none or an empty one. May take a while:
    /// the journals of the databases are read.
    ///
    /// # Errors
    /// Another process has it open, it is no data directory of a version that is known, or it
    /// cannot be read.
    pub fn open(directory: &Path, options: &DiskOptions) -> Result<Self, OpenError> {
        let store = open(directory, options)?;
        let health = Arc::clone(&store.health);
        Ok(Self {
            store: Arc::new(RwLock::new(Some(Arc::new(store)))),
            health,
            directory: directory.into(),
        })
    }

    /// Where the logs are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Closes the directory for all copies: what is under way ends, all is synced, and whoever
    /// asks for anything after it hears [`DiskError::Closed`]. Waits for the disk.
    pub fn close(&self) {
        let Some(mut store) = self.store.write().take() else {
            return;
        };
        // Work on the pool that nobody waits for any more may still hold it.
        loop {
            match Arc::try_unwrap(store) {
                Ok(alone) => return drop(alone),
                Err(shared) => store = shared,
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Resolves when a write or sync has failed: nothing is written any more, and the program
    /// should end so that a restart finds out what there is.
    pub fn poisoned(&self) -> impl Future<Output = Arc<Failure>> + Send + use<> {
        let mut failures = self.health.failures();
        async move {
            loop {
                if let Some(failure) = failures.borrow_and_update().clone() {
                    return failure;
                }
                if failures.changed().await.is_err() {
                    // The engine is gone and did not fail.
                    std::future::pending::<()>().await;
                }
            }
        }
    }

    /// How many threads take memory: those that someone works on or watches, and a few that were
    /// used lately.
    pub fn threads_in_memory(&self) -> usize {
        self.store().map_or(0, |store| store.slots.count())
    }

    fn store(&self) -> Result<Arc<Store>, DiskError> {
        self.store.read().clone().ok_or(DiskError::Closed)
    }

    /// Asks the store for something that may wait for the disk.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let store = self.store()?;
        blocking(move || work(&store)).await
    }

    async fn append_now(&self, append: Append) -> Result<Outcome, EngineError> {
        check_record(&append)?;
        let store = self.store()?;
        if append.entries.is_empty() {
            // A lease is taken before a thread is deleted.
            store.health.may_remove()?;
        } else {
            store.health.may_write()?;
        }
        let durability = append.durability;
        let slot = store.slots.of(&append.thread);
        let encoded = Encoded::new(append);
        let (decided, encoded) = match store.try_append(&slot, &encoded) {
            Some(decided) => (decided?, encoded),
            None => {
                let (store, slot) = (Arc::clone(&store), Arc::clone(&slot));
                blocking(move || Ok((store.append(&slot, &encoded)?, encoded))).await?
            }
        };
        let outcome = match decided {
            Decided::Appended(outcome) => outcome,
            Decided::Refused(refusal) => {
                let store = Arc::clone(&store);
                blocking(move || store.refuse(&encoded, refusal)).await?
            }
        };
        if durability == Durability::Durable {
            // A refusal too: what was faster may not be told of before it is durable.
            store.shard(&slot.thread).syncer.wait_for_all().await?;
        }
        Ok(outcome)
    }

    async fn delete_now(&self, thread: &ThreadId, note: ThreadRecord) -> Result<(), EngineError> {
        check_length(&note)?;
        let store = self.store()?;
        let slot = store.slots.of(thread);
        let deleting = Arc::clone(&store);
        if blocking(move || deleting.delete(&slot, note)).await? {
            store.shard(thread).syncer.wait_for_all().await?;
        }
        Ok(())
    }
}

impl fmt::Debug for DiskEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskEngine")
            .field("directory", &self.directory)
            .field("is_open", &self.store.read().is_some())
            .field("health", &self.health)
            .finish()
    }
}

impl Engine for DiskEngine {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Outcome, EngineError>> {
        self.append_now(append).boxed()
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Seq,
        limit: ReadLimit,
    ) -> BoxFuture<'a, Result<Vec<Entry>, EngineError>> {
        let thread = thread.clone();
        self.ask(move |store| {
            let shard = store.shard(&thread);
            let snapshot = shard.snapshot();
            let stored = shard.stored(&snapshot, &thread, &store.incarnation)?;
            shard.entries(&snapshot, &thread, &stored, after, limit)
        })
        .boxed()
    }

    fn head<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<Head, EngineError>> {
        let work = async move {
            let store = self.store()?;
            let slot = store.slots.of(thread);
            let known = slot
                .state
                .try_lock()
                .and_then(|state| Some(state.stored.as_ref()?.meta.to_head()));
            if let Some(head) = known {
                return Ok(head);
            }
            let read = move || {
                let mut state = slot.state.lock();
                let stored = store.load(store.shard(&slot.thread), &slot, &mut state)?;
                Ok(stored.meta.to_head())
            };
            blocking(read).await
        };
        work.boxed()
    }

    fn watch<'a>(
        &'a self,
        thread: &'a ThreadId,
    ) -> BoxFuture<'a, Result<BoxStream<'static, Watched>, EngineError>> {
        async move { Ok(attach(self.store()?.slots.of(thread)).boxed()) }.boxed()
    }

    fn save_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let thread = thread.clone();
        self.ask(move |store| {
            // Without one nothing can be trimmed.
            store.health.may_keep(checkpoint.bytes.len() as u64)?;
            store.save_checkpoint(&store.slots.of(&thread), &checkpoint)
        })
        .boxed()
    }

    fn load_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        through: Seq,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, EngineError>> {
        let thread = thread.clone();
        self.ask(move |store| store.load_checkpoint(&thread, through))
            .boxed()
    }

    fn trim<'a>(
        &'a self,
        thread: &'a ThreadId,
        through: Seq,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let thread = thread.clone();
        self.ask(move |store| store.trim(&store.slots.of(&thread), through))
            .boxed()
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a ThreadId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Listed>, EngineError>> {
        let after = after.cloned();
        self.ask(move |store| store.list(after.as_ref(), limit))
            .boxed()
    }

    fn delete<'a>(
        &'a self,
        thread: &'a ThreadId,
        note: ThreadRecord,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        self.delete_now(thread, note).boxed()
    }

    fn set_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        due: Millis,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let thread = thread.clone();
        self.ask(move |store| {
            store.health.may_remove()?;
            store.set_work(&thread, due)
        })
        .boxed()
    }

    fn clear_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        seen: Millis,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        let thread = thread.clone();
        self.ask(move |store| store.clear_work(&thread, seen))
            .boxed()
    }

    fn work(
        &self,
        bucket: u8,
        until: Millis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Work>, EngineError>> {
        self.ask(move |store| store.work(bucket, until, limit))
            .boxed()
    }

    fn beat<'a>(&'a self, node: &'a NodeId) -> BoxFuture<'a, Result<(), EngineError>> {
        let work = async move {
            *self.store()?.beats.lock().entry(node.clone()).or_default() += 1;
            Ok(())
        };
        work.boxed()
    }

    fn beats(&self) -> BoxFuture<'_, Result<Vec<(NodeId, u64)>, EngineError>> {
        let work = async move {
            let store = self.store()?;
            let beats = store.beats.lock();
            Ok(beats
                .iter()
                .map(|(node, beat)| (node.clone(), *beat))
                .collect())
        };
        work.boxed()
    }
}
