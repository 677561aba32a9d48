//! One viewer's place in one thread, and the places of one session.
//!
//! A subscription holds no frames: a cursor, the epoch that was told, and whether a baseline is due.

use std::sync::Arc;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::position::Seq;

use crate::live_thread::{LiveThread, Place};
use crate::ready::{ReadyFlag, ReadyList};

#[derive(Debug)]
pub(crate) struct Subscription {
    pub(crate) live: LiveThread,
    pub(crate) flag: Arc<ReadyFlag>,
    pub(crate) place: Place,
    pub(crate) due: Due,
    /// How far it has been served, by the clock of its session's turns.
    pub(crate) served: u64,
    /// Whether it waits for its turn.
    pub(crate) is_queued: bool,
}

/// What a subscription is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Baseline,
    Entries,
}

impl Subscription {
    /// From here on the flag is marked whenever the thread's tail advances.
    pub(crate) fn new(live: LiveThread, ready: &Arc<ReadyList>, slot: u32) -> Self {
        let flag = ReadyFlag::new(Arc::clone(ready), slot);
        live.add_subscriber(&flag);
        let place = live.place();
        Self {
            live,
            flag,
            place,
            due: Due::Entries,
            served: 0,
            is_queued: false,
        }
    }

    /// Sets where it begins. Of a thread without a log there is no baseline: its first entries are all there is.
    pub(crate) fn begin(&mut self, cursor: Seq, due: Due) {
        self.due = if self.place.told.is_none() {
            Due::Entries
        } else {
            due
        };
        self.place.cursor = cursor;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.live.remove_subscriber(&self.flag);
    }
}

/// The subscriptions of a session by slot; at most one a thread.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    slots: Vec<Option<Box<Subscription>>>,
    count: usize,
}

impl Subscriptions {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Subscription> {
        self.slots.get_mut(slot as usize)?.as_deref_mut()
    }

    /// Looks through all of them: asked once a request, and a session has 1,000 at most.
    pub(crate) fn slot_of(&self, thread: &ThreadId) -> Option<u32> {
        let at = self.slots.iter().position(|slot| {
            slot.as_ref()
                .is_some_and(|held| held.live.thread() == thread)
        })?;
        u32::try_from(at).ok()
    }

    /// The slot that the next new subscription gets.
    pub(crate) fn free_slot(&self) -> u32 {
        let at = self
            .slots
            .iter()
            .position(Option::is_none)
            .unwrap_or(self.slots.len());
        u32::try_from(at).expect("subscriptions are limited")
    }

    /// Puts a subscription into its slot; one that was there ends.
    pub(crate) fn put(&mut self, slot: u32, subscription: Subscription) {
        let at = slot as usize;
        if at == self.slots.len() {
            self.slots.push(None);
        }
        if self.slots[at].replace(Box::new(subscription)).is_none() {
            self.count += 1;
        }
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        if self
            .slots
            .get_mut(slot as usize)
            .and_then(Option::take)
            .is_some()
        {
            self.count -= 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.count = 0;
    }
}
