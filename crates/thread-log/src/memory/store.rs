//! All threads of a memory engine.
//!
//! The registry's lock is only written to when a thread comes or goes; it is always taken before a
//! thread's own.
//!
//! Invariant: a thread is in the registry only while it has a log, a tombstone or a watcher.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use threadcast_agui::ids::ThreadId;

use super::thread::Thread;
use super::work_index::WorkIndex;
use crate::lease::NodeId;
use crate::meta::{Incarnation, LogId};

pub(super) struct Store {
    pub(super) incarnation: Incarnation,
    /// Makes log ids: unique together with the incarnation.
    logs_begun: AtomicU64,
    pub(super) threads: RwLock<BTreeMap<ThreadId, Mutex<Thread>>>,
    pub(super) work: WorkIndex,
    pub(super) beats: Mutex<HashMap<NodeId, u64>>,
}

impl Store {
    pub(super) fn of(threads: BTreeMap<ThreadId, Mutex<Thread>>) -> Self {
        Self {
            incarnation: Incarnation(random_hex().into()),
            logs_begun: AtomicU64::new(0),
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
            thread.drop_unwatched_queue();
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

    pub(super) fn new_log(&self) -> LogId {
        LogId(
            format!(
                "{}-{}",
                &self.incarnation.0[..8],
                self.logs_begun.fetch_add(1, Ordering::Relaxed)
            )
            .into(),
        )
    }
}

fn random_hex() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
