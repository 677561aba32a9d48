//! All threads of a memory engine.
//!
//! The registry's lock is only written to when a thread comes or goes; it is always taken before a
//! thread's own.
//!
//! Invariant: a thread is in the registry only while it has a log, a tombstone or a watcher.

use std::collections::{BTreeMap, HashMap};

use parking_lot::{Mutex, RwLock};
use threadcast_agui::ids::ThreadId;

use super::thread::Thread;
use super::work_index::WorkIndex;
use crate::lease::NodeId;
use crate::names::Names;

pub(super) struct Store {
    pub(super) names: Names,
    pub(super) threads: RwLock<BTreeMap<ThreadId, Mutex<Thread>>>,
    pub(super) work: WorkIndex,
    pub(super) beats: Mutex<HashMap<NodeId, u64>>,
}

impl Store {
    pub(super) fn of(threads: BTreeMap<ThreadId, Mutex<Thread>>) -> Self {
        Self {
            names: Names::random(),
            threads: RwLock::new(threads),
            work: WorkIndex::default(),
            beats: Mutex::default(),
        }
    }

    /// Looks at a thread, if it is there.
    pub(super) fn with<T>(&self, id: &ThreadId, look: impl FnOnce(&mut Thread) -> T) -> Option<T> {
        Some(look(&mut self.threads.read().get(id)?.lock()))
    }

    /// Works on a thread that may have to come into being, and that goes again if nothing is left
    /// in it.
    pub(super) fn with_any<T>(&self, id: &ThreadId, work: impl FnOnce(&mut Thread) -> T) -> T {
        if let Some(thread) = self.threads.read().get(id) {
            return work(&mut thread.lock());
        }
        let mut threads = self.threads.write();
        let thread = threads.entry(id.clone()).or_default().get_mut();
        let result = work(thread);
        if thread.is_empty() {
            threads.remove(id);
        }
        result
    }

    /// Lets go of a thread in which nothing is left; called when a watcher went.
    pub(super) fn sweep(&self, id: &ThreadId) {
        let left_empty = |thread: &mut Thread| {
            thread.watchers.tidy();
            thread.is_empty()
        };
        if self.with(id, left_empty) != Some(true) {
            return;
        }
        let mut threads = self.threads.write();
        if threads
            .get_mut(id)
            .is_some_and(|thread| thread.get_mut().is_empty())
        {
            threads.remove(id);
        }
    }
}
