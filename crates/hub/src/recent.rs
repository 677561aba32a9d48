//! Handles of the threads that were asked for last, so that a burst of requests does not read a log
//! again and again.
//!
//! Bounded in number, bytes and time; over a bound the one that was not asked for longest goes.
//! Invariant: while any is kept one task runs, which lets go of those whose time is over.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;
use tokio::time::{Instant, sleep_until};

use crate::defaults::{RECENT_BYTES, RECENT_FOR, RECENT_THREADS};
use crate::live_thread::Live;

/// How much of what nobody uses stays in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentBounds {
    pub threads: usize,
    /// Of their messages and states.
    pub bytes: usize,
    /// Since a thread was last asked for.
    pub keep_for: Duration,
}

impl Default for RecentBounds {
    fn default() -> Self {
        Self {
            threads: RECENT_THREADS,
            bytes: RECENT_BYTES,
            keep_for: RECENT_FOR,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Recent {
    bounds: RecentBounds,
    /// Never held while a handle is dropped.
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The oldest first.
    by_order: BTreeMap<u64, Handle>,
    orders: HashMap<ThreadId, u64>,
    last_order: u64,
    bytes: usize,
    is_tended: bool,
}

#[derive(Debug)]
struct Handle {
    live: Arc<Live>,
    bytes: usize,
    asked: Instant,
}

impl Recent {
    pub(crate) fn new(bounds: RecentBounds) -> Self {
        Self {
            bounds,
            kept: Mutex::default(),
        }
    }

    /// The thread was asked for.
    pub(crate) fn keep(self: &Arc<Self>, live: &Arc<Live>) {
        let bytes = live.bytes();
        let handle = Handle {
            live: Arc::clone(live),
            bytes,
            asked: Instant::now(),
        };
        let mut gone = Vec::new();
        let tends = {
            let mut kept = self.kept.lock();
            gone.extend(kept.remove(live.thread()));
            // One that alone is over the bound would make all others go.
            if bytes > self.bounds.bytes {
                gone.push(handle);
            } else {
                kept.push(handle);
            }
            while kept.by_order.len() > self.bounds.threads || kept.bytes > self.bounds.bytes {
                gone.extend(kept.pop());
            }
            let tends = !kept.is_tended && !kept.by_order.is_empty();
            kept.is_tended |= tends;
            tends
        };
        if tends {
            tokio::spawn(Arc::clone(self).tend());
        }
    }

    /// Lets go of all.
    pub(crate) fn clear(&self) {
        let mut gone = Vec::new();
        let mut kept = self.kept.lock();
        while let Some(handle) = kept.pop() {
            gone.push(handle);
        }
        drop(kept);
    }

    /// Lets go of each when its time is over, until none is left.
    async fn tend(self: Arc<Self>) {
        while let Some(at) = self.next_end() {
            sleep_until(at).await;
            let mut gone = Vec::new();
            let now = Instant::now();
            let mut kept = self.kept.lock();
            while kept
                .oldest()
                .is_some_and(|oldest| oldest.asked + self.bounds.keep_for <= now)
            {
                gone.extend(kept.pop());
            }
            drop(kept);
        }
    }

    fn next_end(&self) -> Option<Instant> {
        let mut kept = self.kept.lock();
        let end = kept
            .oldest()
            .map(|oldest| oldest.asked + self.bounds.keep_for);
        kept.is_tended = end.is_some();
        end
    }
}

impl Kept {
    fn oldest(&self) -> Option<&Handle> {
        self.by_order.first_key_value().map(|(_, handle)| handle)
    }

    fn push(&mut self, handle: Handle) {
        self.last_order += 1;
        self.bytes += handle.bytes;
        self.orders
            .insert(handle.live.thread().clone(), self.last_order);
        self.by_order.insert(self.last_order, handle);
    }

    fn pop(&mut self) -> Option<Handle> {
        let (_, handle) = self.by_order.pop_first()?;
        self.orders.remove(handle.live.thread());
        self.bytes -= handle.bytes;
        Some(handle)
    }

    fn remove(&mut self, thread: &ThreadId) -> Option<Handle> {
        let handle = self.by_order.remove(&self.orders.remove(thread)?)?;
        self.bytes -= handle.bytes;
        Some(handle)
    }
}
