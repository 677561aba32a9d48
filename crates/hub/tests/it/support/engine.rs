//! The memory engine, with doors that a test can close.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::{
    Append, Checkpoint, Engine, Head, Listed, Outcome, ReadLimit, ThreadRecord, Watched, Work,
};
use threadcast_thread_log::entry::{Entry, Millis};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::{LeaseChange, NodeId};
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::work::BUCKETS;
use tokio::sync::watch;

type Answer<'a, T> = BoxFuture<'a, Result<T, EngineError>>;

#[derive(Clone, Debug)]
pub(crate) struct TestEngine {
    memory: MemoryEngine,
    /// Heads are asked only while it is open.
    head_door: Arc<watch::Sender<bool>>,
    /// This many appends happen and are answered with an error.
    unknown_outcomes: Arc<AtomicUsize>,
    /// So often nothing becomes durable, and nothing is appended without entries.
    failing_syncs: Arc<AtomicUsize>,
    /// This many checkpoints cannot be read.
    failing_loads: Arc<AtomicUsize>,
    /// Appends that free a lease have happened, and are answered when it is open.
    free_door: Arc<watch::Sender<bool>>,
    /// Appends that take a lease happen when it is open.
    take_door: Arc<watch::Sender<bool>>,
    /// This many reads fail.
    failing_reads: Arc<AtomicUsize>,
    /// This many find what nobody wrote.
    corrupt_reads: Arc<AtomicUsize>,
    /// This many reads wait until it is open.
    held_reads: Arc<AtomicUsize>,
    read_door: Arc<watch::Sender<bool>>,
    reads: Arc<AtomicUsize>,
    heads: Arc<AtomicUsize>,
    failing_heads: Arc<AtomicUsize>,
    /// This many heads are said to be one entry further than they are.
    overstated_heads: Arc<AtomicUsize>,
    /// Deletions wait until it is open.
    delete_door: Arc<watch::Sender<bool>>,
    /// Watches end when it changes.
    watch_end: Arc<watch::Sender<()>>,
}

impl TestEngine {
    pub(crate) fn new() -> Self {
        Self::of(MemoryEngine::new())
    }

    pub(crate) fn of(memory: MemoryEngine) -> Self {
        Self {
            memory,
            head_door: Arc::new(watch::Sender::new(true)),
            unknown_outcomes: Arc::default(),
            failing_syncs: Arc::default(),
            failing_loads: Arc::default(),
            free_door: Arc::new(watch::Sender::new(true)),
            take_door: Arc::new(watch::Sender::new(true)),
            failing_reads: Arc::default(),
            corrupt_reads: Arc::default(),
            held_reads: Arc::default(),
            read_door: Arc::new(watch::Sender::new(true)),
            reads: Arc::default(),
            heads: Arc::default(),
            failing_heads: Arc::default(),
            overstated_heads: Arc::default(),
            delete_door: Arc::new(watch::Sender::new(true)),
            watch_end: Arc::default(),
        }
    }

    pub(crate) fn memory(&self) -> &MemoryEngine {
        &self.memory
    }

    pub(crate) fn close_heads(&self) {
        self.head_door.send_replace(false);
    }

    pub(crate) fn open_heads(&self) {
        self.head_door.send_replace(true);
    }

    pub(crate) fn hold_deletions(&self, are_held: bool) {
        self.delete_door.send_replace(!are_held);
    }

    pub(crate) fn hold_frees(&self, are_held: bool) {
        self.free_door.send_replace(!are_held);
    }

    pub(crate) fn hold_takes(&self, are_held: bool) {
        self.take_door.send_replace(!are_held);
    }

    pub(crate) fn fail_syncs(&self, count: usize) {
        self.failing_syncs.store(count, Ordering::SeqCst);
    }

    pub(crate) fn fail_loads(&self, count: usize) {
        self.failing_loads.store(count, Ordering::SeqCst);
    }

    pub(crate) fn lose_answers(&self, count: usize) {
        self.unknown_outcomes.store(count, Ordering::SeqCst);
    }

    pub(crate) fn fail_reads(&self, count: usize) {
        self.failing_reads.store(count, Ordering::SeqCst);
    }

    pub(crate) fn corrupt_reads(&self, count: usize) {
        self.corrupt_reads.store(count, Ordering::SeqCst);
    }

    /// The next read waits for [`TestEngine::let_reads_go`], those after it do not.
    pub(crate) fn hold_one_read(&self) {
        self.read_door.send_replace(false);
        self.held_reads.store(1, Ordering::SeqCst);
    }

    pub(crate) fn let_reads_go(&self) {
        self.read_door.send_replace(true);
    }

    pub(crate) fn fail_heads(&self, count: usize) {
        self.failing_heads.store(count, Ordering::SeqCst);
    }

    pub(crate) fn overstate_heads(&self, count: usize) {
        self.overstated_heads.store(count, Ordering::SeqCst);
    }

    /// Heads that are still to fail.
    pub(crate) fn failing_heads_left(&self) -> usize {
        self.failing_heads.load(Ordering::SeqCst)
    }

    pub(crate) fn end_watches(&self) {
        self.watch_end.send_replace(());
    }

    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// How many hold this store, with this copy.
    pub(crate) fn copies(&self) -> usize {
        Arc::strong_count(&self.reads)
    }

    pub(crate) fn heads(&self) -> usize {
        self.heads.load(Ordering::SeqCst)
    }

    /// What a restart finds that lost nothing: other doors, and the index of work as it was.
    pub(crate) async fn restarted(&self) -> Self {
        let memory = self.memory.restarted();
        for bucket in 0..BUCKETS {
            let listed = self.memory.work(bucket, Millis(u64::MAX), usize::MAX);
            for Work { thread, due } in listed.await.unwrap() {
                memory.set_work(&thread, due).await.unwrap();
            }
        }
        Self::of(memory)
    }
}

fn is_due(counter: &AtomicUsize) -> bool {
    counter
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| {
            count.checked_sub(1)
        })
        .is_ok()
}

fn away<T>() -> Result<T, EngineError> {
    Err(EngineError::Unavailable("the line is cut".into()))
}

impl Engine for TestEngine {
    fn append(&self, append: Append) -> Answer<'_, Outcome> {
        async move {
            let (takes, frees) = (
                matches!(append.lease, LeaseChange::Take { .. }),
                append.lease == LeaseChange::Free,
            );
            if takes {
                let mut door = self.take_door.subscribe();
                door.wait_for(|is_open| *is_open).await.unwrap();
            }
            if append.entries.is_empty() && is_due(&self.failing_syncs) {
                return away();
            }
            let outcome = self.memory.append(append).await;
            if frees {
                let mut door = self.free_door.subscribe();
                door.wait_for(|is_open| *is_open).await.unwrap();
            }
            if is_due(&self.unknown_outcomes) {
                away()
            } else {
                outcome
            }
        }
        .boxed()
    }

    fn make_durable<'a>(&'a self, thread: &'a ThreadId) -> Answer<'a, ()> {
        if is_due(&self.failing_syncs) {
            return async { away() }.boxed();
        }
        self.memory.make_durable(thread)
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Seq,
        limit: ReadLimit,
    ) -> Answer<'a, Vec<Entry>> {
        async move {
            self.reads.fetch_add(1, Ordering::SeqCst);
            if is_due(&self.held_reads) {
                let mut door = self.read_door.subscribe();
                door.wait_for(|is_open| *is_open).await.unwrap();
            }
            if is_due(&self.corrupt_reads) {
                return Err(EngineError::Corrupt {
                    thread: thread.to_string(),
                    seq: after.next().get(),
                    source: "not what was written".into(),
                });
            }
            if is_due(&self.failing_reads) {
                away()
            } else {
                self.memory.read(thread, after, limit).await
            }
        }
        .boxed()
    }

    fn head<'a>(&'a self, thread: &'a ThreadId) -> Answer<'a, Head> {
        async move {
            self.head_door
                .subscribe()
                .wait_for(|is_open| *is_open)
                .await
                .unwrap();
            self.heads.fetch_add(1, Ordering::SeqCst);
            if is_due(&self.failing_heads) {
                return away();
            }
            let mut head = self.memory.head(thread).await?;
            if is_due(&self.overstated_heads) {
                head.seq = head.seq.next();
            }
            Ok(head)
        }
        .boxed()
    }

    fn watch<'a>(&'a self, thread: &'a ThreadId) -> Answer<'a, BoxStream<'static, Watched>> {
        let mut end = self.watch_end.subscribe();
        async move {
            let watched = self.memory.watch(thread).await?;
            let end = async move { end.changed().await };
            Ok(watched.take_until(Box::pin(end)).boxed())
        }
        .boxed()
    }

    fn save_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        checkpoint: Checkpoint,
    ) -> Answer<'a, ()> {
        self.memory.save_checkpoint(thread, checkpoint)
    }

    fn load_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        through: Seq,
    ) -> Answer<'a, Option<Checkpoint>> {
        if is_due(&self.failing_loads) {
            return async { away() }.boxed();
        }
        self.memory.load_checkpoint(thread, through)
    }

    fn trim<'a>(&'a self, thread: &'a ThreadId, through: Seq) -> Answer<'a, ()> {
        self.memory.trim(thread, through)
    }

    fn list<'a>(&'a self, after: Option<&'a ThreadId>, limit: usize) -> Answer<'a, Vec<Listed>> {
        self.memory.list(after, limit)
    }

    fn delete<'a>(&'a self, thread: &'a ThreadId, note: ThreadRecord) -> Answer<'a, ()> {
        async move {
            let mut door = self.delete_door.subscribe();
            door.wait_for(|is_open| *is_open).await.unwrap();
            self.memory.delete(thread, note).await
        }
        .boxed()
    }

    fn set_work<'a>(&'a self, thread: &'a ThreadId, due: Millis) -> Answer<'a, ()> {
        self.memory.set_work(thread, due)
    }

    fn clear_work<'a>(&'a self, thread: &'a ThreadId, seen: Millis) -> Answer<'a, ()> {
        self.memory.clear_work(thread, seen)
    }

    fn work(&self, bucket: u8, until: Millis, limit: usize) -> Answer<'_, Vec<Work>> {
        self.memory.work(bucket, until, limit)
    }

    fn beat<'a>(&'a self, node: &'a NodeId) -> Answer<'a, ()> {
        self.memory.beat(node)
    }

    fn beats(&self) -> Answer<'_, Vec<(NodeId, u64)>> {
        self.memory.beats()
    }
}
