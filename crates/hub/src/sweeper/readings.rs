//! How long what was read of a thread has stood still: whether its lease may be seized
//! (docs/protocol.md §15.3).
//!
//! Pure: the time is an argument. Invariant: readings are counted only if nothing else was read,
//! and none failed, between them.

use std::collections::HashMap;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::lease::Lease;
use tokio::time::Instant;

use crate::defaults::{LEASE_FOR, LEASE_READING_EVERY, LEASE_READINGS};

/// What is compared of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) lease: Option<Lease>,
    /// Since when somebody has to look at it.
    pub(super) due: Millis,
}

#[derive(Debug, Default)]
pub(super) struct Readings {
    series: HashMap<ThreadId, Series>,
    /// Until when threads are left alone for which nothing could be done.
    postponed: HashMap<ThreadId, Instant>,
}

/// Equal readings of one thread.
#[derive(Debug)]
struct Series {
    reading: Reading,
    first: Instant,
    /// The last one that counts.
    last: Instant,
    count: u32,
}

impl Readings {
    /// Takes in a reading made `now`; whether the thread has stood still for long enough. If so it
    /// is forgotten: what is done about it is to be judged anew.
    pub(super) fn note(&mut self, thread: &ThreadId, reading: Reading, now: Instant) -> bool {
        let series = self
            .series
            .entry(thread.clone())
            .or_insert_with(|| Series::new(reading.clone(), now));
        if series.reading != reading {
            *series = Series::new(reading, now);
        } else if now.duration_since(series.last) >= LEASE_READING_EVERY {
            series.last = now;
            series.count += 1;
        }
        let is_still =
            series.count >= LEASE_READINGS && now.duration_since(series.first) >= LEASE_FOR;
        if is_still {
            self.series.remove(thread);
        }
        is_still
    }

    /// Nothing could be done for the thread, and nothing is tried before `until`.
    pub(super) fn postpone(&mut self, thread: ThreadId, until: Instant) {
        self.postponed.insert(thread, until);
    }

    pub(super) fn is_postponed(&self, thread: &ThreadId, now: Instant) -> bool {
        self.postponed.get(thread).is_some_and(|until| now < *until)
    }

    /// A reading of the thread failed.
    pub(super) fn failed(&mut self, thread: &ThreadId) {
        self.series.remove(thread);
    }

    /// All readings failed.
    pub(super) fn clear(&mut self) {
        self.series.clear();
    }

    /// Forgets the threads that nobody has to look at.
    pub(super) fn retain(&mut self, is_due: impl Fn(&ThreadId) -> bool) {
        self.series.retain(|thread, _| is_due(thread));
        self.postponed.retain(|thread, _| is_due(thread));
    }
}

impl Series {
    fn new(reading: Reading, now: Instant) -> Self {
        Self {
            reading,
            first: now,
            last: now,
            count: 1,
        }
    }
}

#[cfg(test)]
mod tests;
