//! The threads that are in memory on this node, because someone holds a handle on them.
//!
//! Invariant: the registry keeps nobody alive; a thread leaves it when its last handle is dropped.

use std::sync::{Arc, Weak};

use dashmap::DashMap;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::error::EngineError;
use tokio_util::task::TaskTracker;

use crate::baseline::BaselineBounds;
use crate::live_thread::{Live, LiveThread};

#[derive(Debug)]
pub(crate) struct Threads {
    engine: Arc<dyn Engine>,
    bounds: BaselineBounds,
    live: DashMap<ThreadId, Weak<Live>>,
    /// One task a live thread.
    followers: TaskTracker,
}

impl Threads {
    pub(crate) fn new(engine: Arc<dyn Engine>, bounds: BaselineBounds) -> Self {
        Self {
            engine,
            bounds,
            live: DashMap::new(),
            followers: TaskTracker::new(),
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

    pub(crate) fn count(&self) -> usize {
        self.live.len()
    }

    /// The thread's handle, loaded; whoever comes while it is being loaded waits for the same loading.
    pub(crate) async fn live(
        self: &Arc<Self>,
        thread: &ThreadId,
    ) -> Result<LiveThread, EngineError> {
        let live = self.find_or_insert(thread);
        live.loaded().await?;
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
