//! What every engine does, as this one does it.

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, StreamExt};
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::{
    Append, Checkpoint, Engine, Head, Listed, Outcome, ReadLimit, ThreadRecord, Watched, Work,
};
use threadcast_thread_log::entry::{Entry, Millis};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::NodeId;
use threadcast_thread_log::position::Seq;

use super::DiskEngine;
use crate::blocking::blocking;
use crate::watch::attach;

impl Engine for DiskEngine {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Outcome, EngineError>> {
        self.append_now(append).boxed()
    }

    fn make_durable<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<(), EngineError>> {
        let work = async move {
            let store = self.store()?;
            // A write that failed may have left what nobody waits for.
            store.health.may_go_on()?;
            Ok(store.shard(thread).syncer.wait_for_all().await?)
        };
        work.boxed()
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
            let stored = shard.stored(&snapshot, &thread, store.names.incarnation())?;
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
        self.ask(move |store| store.set_work(&thread, due)).boxed()
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
