//! A thread in memory: its fold, its tail of ready frames, and the one task that follows its log.
//!
//! A handle keeps the thread in memory; whoever serves a viewer, decides a command or owns a run holds one. Entries
//! come from the watch, or straight from an append through [`LiveThread::append`]; both are hints with data that
//! extend the fold only if they have its epoch and start right after its head. Everything else is read from the engine.
//!
//! Invariant: fold and tail hold the same log; the tail is never ahead of the fold. Locks are taken in the order fold,
//! tail, subscribers; that of the blocks is taken alone, and none is held while anything waits.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::engine::{Append, Engine, Outcome, ReadLimit};
use threadcast_thread_log::entry::{Entry, Millis};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Epoch, Position, PositionVerdict, Seq};
use threadcast_wire::hub_frame::ThreadTag;
use tokio::sync::{OnceCell, watch};
use tokio::task::AbortHandle;

use crate::baseline::{Baseline, estimate};
use crate::blocks::Blocks;
use crate::owned::Owned;
use crate::ready::{ReadyFlag, Subscribers};
use crate::tail::{Budget, Taken};
use crate::threads::Threads;

use delivery::Delivery;
use folded::Folded;

mod advance;
mod behind;
mod delivery;
mod folded;
mod follow;
mod follower;
mod saving;
mod work;

pub(crate) use advance::LogInMotion;
pub(crate) use delivery::{Place, Serve, Step};
pub use follow::{Follow, Followed};

/// A handle on a live thread; cheap to clone.
#[derive(Clone)]
pub struct LiveThread(Arc<Live>);

/// What the handles of one thread share.
pub(crate) struct Live {
    threads: Arc<Threads>,
    thread: ThreadId,
    tag: ThreadTag,
    loaded: OnceCell<()>,
    /// Guards what the log amounts to; held while entries are folded and encoded.
    folded: Mutex<Folded>,
    /// Guards what sessions read; held for pushes and for taking slices.
    delivery: Mutex<Delivery>,
    /// Guards what is kept compacted for those who are behind.
    blocks: Mutex<Blocks>,
    subscribers: Subscribers,
    head: watch::Sender<Seq>,
    follower: OnceLock<AbortHandle>,
    /// What this handle last put into the index of work.
    work_seen: Mutex<Option<Millis>>,
    /// Whether the fold is being kept.
    is_saving: AtomicBool,
}

impl fmt::Debug for LiveThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveThread")
            .field("thread", &self.thread)
            .field("head", &*self.head.borrow())
            .finish_non_exhaustive()
    }
}

impl Live {
    pub(crate) fn new(threads: Arc<Threads>, thread: ThreadId) -> Self {
        Self {
            threads,
            tag: ThreadTag::new(&thread),
            loaded: OnceCell::new(),
            folded: Mutex::new(Folded::new(thread.clone())),
            delivery: Mutex::default(),
            blocks: Mutex::default(),
            subscribers: Subscribers::default(),
            head: watch::Sender::default(),
            follower: OnceLock::new(),
            work_seen: Mutex::default(),
            is_saving: AtomicBool::new(false),
            thread,
        }
    }

    fn engine(&self) -> &Arc<dyn Engine> {
        self.threads.engine()
    }

    pub(crate) fn thread(&self) -> &ThreadId {
        &self.thread
    }

    pub(crate) fn has_log(&self) -> bool {
        !self.folded.lock().epochs().is_empty()
    }

    /// About what its messages and state take.
    pub(crate) fn bytes(&self) -> usize {
        estimate(self.folded.lock().fold())
    }

    /// The entries before `first` were dropped from the log.
    fn trimmed(&self, first: Seq) {
        self.folded.lock().trimmed(first);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(follower) = self.follower.get() {
            follower.abort();
        }
        self.keep_on_leaving();
        self.threads.forget(&self.thread);
    }
}

impl LiveThread {
    pub(crate) fn new(live: Arc<Live>) -> Self {
        Self(live)
    }

    pub fn thread(&self) -> &ThreadId {
        &self.0.thread
    }

    /// Says that an owner of this node looks after the thread's active run, until the guard is dropped.
    pub fn own(&self) -> Owned {
        self.0.threads.owned().own(&self.0.thread)
    }

    /// The thread's id as it stands in its frames.
    pub(crate) fn tag(&self) -> &ThreadTag {
        &self.0.tag
    }

    /// Looks at the fold. Nothing is folded meanwhile, so `look` must be short.
    pub fn with_fold<T>(&self, look: impl FnOnce(&Fold) -> T) -> T {
        look(self.0.folded.lock().fold())
    }

    /// The current epoch and the last seq folded.
    pub fn head(&self) -> Position {
        self.with_fold(|fold| fold.position().clone())
    }

    /// The epoch in which the entry at `seq` was written; empty for a thread without a log.
    pub fn epoch_at(&self, seq: Seq) -> Epoch {
        self.0.folded.lock().epoch_at(seq)
    }

    /// Tells when the head moves, and when the log was replaced.
    pub fn head_changed(&self) -> watch::Receiver<Seq> {
        self.0.head.subscribe()
    }

    /// Appends, and takes what was appended, or what the caller had missed, into the fold before it answers.
    ///
    /// # Errors
    /// The engine failed; whether it was appended is unknown.
    pub async fn append(&self, append: Append) -> Result<Outcome, EngineError> {
        self.0.append(append).await
    }

    /// Waits until what stands in the log is durable: an entry that is found there need not be.
    ///
    /// # Errors
    /// The engine failed, and what was found may still be lost.
    pub async fn make_durable(&self) -> Result<(), EngineError> {
        self.0.engine().make_durable(self.thread()).await
    }

    /// Takes in what the engine holds beyond the fold: what an append of unknown outcome may have left there.
    ///
    /// # Errors
    /// The engine failed.
    pub async fn catch_up(&self) -> Result<(), EngineError> {
        self.0.catch_up().await
    }

    /// What a viewer's position is worth. A node may be behind: what its own fold does not confirm the engine decides.
    ///
    /// # Errors
    /// The engine failed.
    pub async fn verdict(&self, position: &Position) -> Result<PositionVerdict, EngineError> {
        if self.verdict_here(position) == PositionVerdict::Valid {
            return Ok(PositionVerdict::Valid);
        }
        self.catch_up().await?;
        Ok(self.verdict_here(position))
    }

    /// The first entry that is still kept.
    pub fn first_retained(&self) -> Seq {
        self.0.folded.lock().first()
    }

    /// The entries before `first` were dropped from the log.
    pub(crate) fn trimmed(&self, first: Seq) {
        self.0.trimmed(first);
    }

    /// The entries after `after`; if that is no place in the log, the follower is told at once that it was replaced.
    pub fn follow(&self, after: &Position) -> Follow {
        Follow::new(self.clone(), after)
    }

    /// The entries after `after`, from the engine.
    ///
    /// # Errors
    /// The engine failed.
    pub async fn read(&self, after: Seq, limit: ReadLimit) -> Result<Vec<Entry>, EngineError> {
        self.0.engine().read(&self.0.thread, after, limit).await
    }

    /// The frame that brings an empty viewer to a seq near the head; `None` while the thread has no log.
    pub(crate) fn baseline(&self) -> Option<Arc<Baseline>> {
        self.0
            .folded
            .lock()
            .baseline(&self.0.tag, self.0.threads.baseline_bounds())
    }

    /// About how long the frame is that would bring an empty viewer near the head, and the seq it would bring it to.
    pub(crate) fn baseline_length(&self) -> (usize, Seq) {
        self.0.folded.lock().baseline_length()
    }

    /// About how long the frame is that the next [`baseline`](Self::baseline) has to make; 0 if none.
    pub(crate) fn baseline_to_make(&self) -> usize {
        self.0.folded.lock().baseline_to_make()
    }

    /// The place of a viewer that has all there is.
    pub(crate) fn place(&self) -> Place {
        self.0.delivery.lock().place()
    }

    /// Which of the logs that this live thread has held it holds now.
    pub(crate) fn generation(&self) -> u32 {
        self.0.delivery.lock().generation()
    }

    /// What a position is worth by this node's fold.
    pub(crate) fn verdict_here(&self, position: &Position) -> PositionVerdict {
        self.0.folded.lock().verdict(position)
    }

    pub(crate) fn add_subscriber(&self, flag: &Arc<ReadyFlag>) {
        self.0.subscribers.add(flag);
    }

    pub(crate) fn remove_subscriber(&self, flag: &ReadyFlag) {
        if self.0.subscribers.remove(flag) {
            self.0.delivery.lock().forget_frames();
            *self.0.blocks.lock() = Blocks::default();
        }
    }

    /// The next step of a subscription that stands at `place`; slices of whole ready frames are pushed to `out`.
    pub(crate) fn step(
        &self,
        place: &Place,
        serve: Serve,
        bytes: usize,
        slices: usize,
        out: &mut Vec<Bytes>,
    ) -> Step {
        self.0
            .delivery
            .lock()
            .step(place, serve, bytes, slices, out)
    }
}
