//! The threads that are in memory on this node, because someone holds a handle on them.
//!
//! Invariant: the registry keeps nobody alive; a thread leaves it when its last handle is dropped.
//! That of `recent` is one of them, for a short while.

use std::sync::{Arc, Weak};

use dashmap::DashMap;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::error::EngineError;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::baseline::BaselineBounds;
use crate::defaults::{FOLDINGS_MAX, SAVERS_MAX};
use crate::live_thread::{Live, LiveThread};
use crate::owned::OwnedThreads;
use crate::recent::{Recent, RecentBounds};
use crate::retention::EndedRuns;

#[derive(Debug)]
pub(crate) struct Threads {
    engine: Arc<dyn Engine>,
    bounds: BaselineBounds,
    live: DashMap<ThreadId, Weak<Live>>,
    recent: Arc<Recent>,
    owned: Arc<OwnedThreads>,
    ended: EndedRuns,
    /// One task a live thread.
    followers: TaskTracker,
    /// One task a fold that is being kept.
    savers: TaskTracker,
    saver_turns: Semaphore,
    foldings: Semaphore,
}

impl Threads {
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        bounds: BaselineBounds,
        recent: RecentBounds,
    ) -> Self {
        Self {
            engine,
            bounds,
            live: DashMap::new(),
            recent: Arc::new(Recent::new(recent)),
            owned: Arc::default(),
            ended: EndedRuns::default(),
            followers: TaskTracker::new(),
            savers: TaskTracker::new(),
            saver_turns: Semaphore::new(SAVERS_MAX),
            foldings: Semaphore::new(FOLDINGS_MAX),
        }
    }

    pub(crate) fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// Frames over this length are sent in parts.
    pub(crate) fn part_over_bytes(&self) -> usize {
        self.bounds.part_over
    }

    pub(crate) fn baseline_bounds(&self) -> BaselineBounds {
        self.bounds
    }

    pub(crate) fn followers(&self) -> &TaskTracker {
        &self.followers
    }

    pub(crate) fn savers(&self) -> &TaskTracker {
        &self.savers
    }

    pub(crate) fn saver_turns(&self) -> &Semaphore {
        &self.saver_turns
    }

    /// Turns to fold a log for one request.
    pub(crate) fn foldings(&self) -> &Semaphore {
        &self.foldings
    }

    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }

    pub(crate) fn owned(&self) -> &Arc<OwnedThreads> {
        &self.owned
    }

    pub(crate) fn ended(&self) -> &EndedRuns {
        &self.ended
    }

    pub(crate) fn count(&self) -> usize {
        self.live.len()
    }

    /// The thread's handle, loaded; whoever comes while it is being loaded waits for the same
    /// loading.
    pub(crate) async fn live(
        self: &Arc<Self>,
        thread: &ThreadId,
    ) -> Result<LiveThread, EngineError> {
        let live = self.find_or_insert(thread);
        live.loaded().await?;
        if live.has_log() {
            self.recent.keep(&live);
        }
        Ok(LiveThread::new(live))
    }

    fn find_or_insert(self: &Arc<Self>, thread: &ThreadId) -> Arc<Live> {
        if let Some(live) = self.live.get(thread).and_then(|live| live.upgrade()) {
            return live;
        }
        let mut place = self.live.entry(thread.clone()).or_default();
        if let Some(live) = place.upgrade() {
            return live;
        }
        let live = Arc::new(Live::new(Arc::clone(self), thread.clone()));
        *place = Arc::downgrade(&live);
        live
    }

    /// Removes a thread whose last handle is gone, unless another one has taken its place.
    pub(crate) fn forget(&self, thread: &ThreadId) {
        self.live
            .remove_if(thread, |_, live| live.strong_count() == 0);
    }
}
