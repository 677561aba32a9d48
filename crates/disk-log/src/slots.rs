//! The threads in use: what is kept of them in memory, each behind its lock.
//!
//! A thread is in use while someone works on it or watches it, and for a while after: a few are
//! kept in any case. The others take no memory, however many there are on the disk.
//!
//! Invariant: there is at most one slot of a thread at any time.

use std::collections::VecDeque;
use std::collections::hash_map::{DefaultHasher, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::watchers::Watchers;

use crate::stored::Stored;

const STRIPES: usize = 64;

/// Slots a stripe keeps of threads that nobody uses.
const KEPT: usize = 16;

/// A thread in use.
pub(crate) struct Slot {
    pub(crate) thread: ThreadId,
    pub(crate) state: Mutex<SlotState>,
}

#[derive(Default)]
pub(crate) struct SlotState {
    /// As on the disk; `None` until it was read, and after a write whose outcome is unknown.
    pub(crate) stored: Option<Stored>,
    pub(crate) watchers: Watchers,
}

pub(crate) struct Slots([Mutex<Stripe>; STRIPES]);

#[derive(Default)]
struct Stripe {
    slots: HashMap<ThreadId, Weak<Slot>>,
    kept: VecDeque<Arc<Slot>>,
    /// Length of the map at which it is rid of those that went.
    tidy_at: usize,
}

impl Slots {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }

    /// The thread's slot.
    pub(crate) fn of(&self, thread: &ThreadId) -> Arc<Slot> {
        let mut hasher = DefaultHasher::new();
        thread.hash(&mut hasher);
        let stripe = (hasher.finish() % STRIPES as u64) as usize;
        self.0[stripe].lock().slot(thread)
    }

    /// How many threads take memory.
    pub(crate) fn count(&self) -> usize {
        let in_use = |stripe: &Mutex<Stripe>| {
            let stripe = stripe.lock();
            let slots = stripe.slots.values();
            slots.filter(|slot| slot.strong_count() > 0).count()
        };
        self.0.iter().map(in_use).sum()
    }
}

impl Stripe {
    fn slot(&mut self, thread: &ThreadId) -> Arc<Slot> {
        if let Some(slot) = self.slots.get(thread).and_then(Weak::upgrade) {
            return slot;
        }
        if self.slots.len() >= self.tidy_at {
            self.slots.retain(|_, slot| slot.strong_count() > 0);
            self.tidy_at = 2 * (self.slots.len() + KEPT);
        }
        let slot = Arc::new(Slot {
            thread: thread.clone(),
            state: Mutex::default(),
        });
        self.slots.insert(thread.clone(), Arc::downgrade(&slot));
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(Arc::clone(&slot));
        slot
    }
}
