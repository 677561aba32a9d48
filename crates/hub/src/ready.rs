//! Who has something to read: one flag a subscription, one list a session.
//!
//! When a tail advances it marks the flag of every subscriber. Only the mark that changes a flag puts it on its
//! session's list, and only the first of a list wakes the session; so entries that pile up cost no more wakes, and
//! waking neither allocates nor waits for more than another push.
//!
//! Invariant: a flag is on its session's list at most once, and a tail that advanced after a flag was cleared marks it
//! again: whoever clears first and looks at the tail then misses nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::task::AtomicWaker;
use parking_lot::Mutex;
use std::task::Waker;

/// A session's side: which of its subscriptions are ready.
#[derive(Debug, Default)]
pub(crate) struct ReadyList {
    waker: AtomicWaker,
    /// Guards the list alone; its capacity covers all subscriptions.
    slots: Mutex<Vec<u32>>,
}

impl ReadyList {
    /// Makes room for `subscriptions` flags, so that marking allocates nothing.
    pub(crate) fn reserve(&self, subscriptions: usize) {
        let mut slots = self.slots.lock();
        let more = subscriptions.saturating_sub(slots.len());
        slots.reserve_exact(more);
    }

    /// Says whom to wake. To be called before looking at the list, or at anything else that [`ReadyList::wake`] tells.
    pub(crate) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    pub(crate) fn wake(&self) {
        self.waker.wake();
    }

    /// Moves the slots that became ready to `take`, in the order in which they did.
    pub(crate) fn drain(&self, take: impl FnMut(u32)) {
        self.slots.lock().drain(..).for_each(take);
    }

    fn push(&self, slot: u32) {
        let is_first = {
            let mut slots = self.slots.lock();
            slots.push(slot);
            slots.len() == 1
        };
        if is_first {
            self.wake();
        }
    }
}

/// A subscription's flag, held by the subscription and by the thread's list of subscribers.
#[derive(Debug)]
pub(crate) struct ReadyFlag {
    session: Arc<ReadyList>,
    slot: u32,
    is_marked: AtomicBool,
    /// Its place in the list of subscribers; written under that list's lock.
    place: AtomicUsize,
}

impl ReadyFlag {
    pub(crate) fn new(session: Arc<ReadyList>, slot: u32) -> Arc<Self> {
        Arc::new(Self {
            session,
            slot,
            is_marked: AtomicBool::new(false),
            place: AtomicUsize::new(usize::MAX),
        })
    }

    /// The subscription has something to read.
    pub(crate) fn mark(&self) {
        if !self.is_marked.swap(true, Ordering::AcqRel) {
            self.session.push(self.slot);
        }
    }

    /// To be called before looking at the tail.
    pub(crate) fn clear(&self) {
        self.is_marked.swap(false, Ordering::AcqRel);
    }
}

/// A live thread's side: the flags of its subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    flags: Mutex<Vec<Arc<ReadyFlag>>>,
    count: AtomicUsize,
}

impl Subscribers {
    /// From now on the flag is marked whenever the tail advances. A tail looked at afterwards misses nothing.
    pub(crate) fn add(&self, flag: &Arc<ReadyFlag>) {
        let mut flags = self.flags.lock();
        flag.place.store(flags.len(), Ordering::Relaxed);
        flags.push(Arc::clone(flag));
        self.count.store(flags.len(), Ordering::Release);
    }

    /// Tells whether it was the last one.
    pub(crate) fn remove(&self, flag: &ReadyFlag) -> bool {
        let mut flags = self.flags.lock();
        let place = flag.place.load(Ordering::Relaxed);
        debug_assert!(std::ptr::eq(&*flags[place], flag));
        flags.swap_remove(place);
        if let Some(moved) = flags.get(place) {
            moved.place.store(place, Ordering::Relaxed);
        }
        self.count.store(flags.len(), Ordering::Release);
        flags.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    pub(crate) fn mark_all(&self) {
        if !self.is_empty() {
            self.flags.lock().iter().for_each(|flag| flag.mark());
        }
    }
}

#[cfg(test)]
mod tests;
