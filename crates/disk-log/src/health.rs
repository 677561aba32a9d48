//! Whether the engine may write: it stops for good at the first failure, and while there is little
//! space.
//!
//! What is left is what was free at the last look without what is still to be written: the tables
//! in memory, and what was let through since, in the journal and as a table. So a fast writer does
//! not overrun the reserve between two looks, nor do many small things one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::watch;

use crate::error::{DiskError, Failure};

#[derive(Debug)]
pub(crate) struct Health {
    has_failed: AtomicBool,
    failure: watch::Sender<Option<Arc<Failure>>>,
    free: AtomicU64,
    /// Bytes of it that are spoken for.
    promised: AtomicU64,
    /// At the last look.
    was_full: AtomicBool,
    reserve: u64,
}

/// How often a byte is written before the next look: into the journal, and into a table.
const WRITTEN: u64 = 2;

/// What is kept below the reserve takes at most this part of what is left, so that whatever waits
/// to be kept does not fill the disk.
const KEPT_SHARE: u64 = 16;

/// What is free at least when anything is written.
const LAST: u64 = 1 << 20;

/// Below this not even the marks of what is removed are written.
const REMOVAL_LEFT: u64 = 2 << 20;

impl Health {
    pub(crate) fn new(reserve: u64) -> Self {
        Self {
            has_failed: AtomicBool::new(false),
            failure: watch::Sender::new(None),
            free: AtomicU64::new(u64::MAX),
            promised: AtomicU64::new(0),
            was_full: AtomicBool::new(false),
            reserve,
        }
    }

    /// Whether so many bytes may be appended.
    ///
    /// # Errors
    /// The engine failed, or the disk is nearly full.
    pub(crate) fn may_write(&self, bytes: u64) -> Result<(), DiskError> {
        self.may_go_on()?;
        let left = self.left();
        if left < self.reserve {
            return Err(DiskError::NoSpace {
                free: left,
                reserve: self.reserve,
            });
        }
        self.promise(bytes);
        Ok(())
    }

    /// Whether so many bytes may be kept without which nothing can be trimmed.
    ///
    /// # Errors
    /// The engine failed, or they are too many for what is left.
    pub(crate) fn may_keep(&self, bytes: u64) -> Result<(), DiskError> {
        self.may_go_on()?;
        if bytes.saturating_mul(KEPT_SHARE) < self.left() {
            self.promise(bytes);
            return Ok(());
        }
        self.may_write(bytes)
    }

    /// Whether so many bytes of marks may be written over what is removed; else it is put off.
    pub(crate) fn has_space_for_marks(&self, bytes: u64) -> bool {
        let has_space = self.left() >= REMOVAL_LEFT.saturating_add(bytes.saturating_mul(WRITTEN));
        if has_space {
            self.promise(bytes);
        }
        has_space
    }

    fn promise(&self, bytes: u64) {
        let bytes = bytes.saturating_mul(WRITTEN);
        self.promised.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What frees space is written into the reserve, but for the very last: a journal that cannot
    /// be written ends the engine.
    ///
    /// # Errors
    /// The engine failed, or there is next to nothing left.
    pub(crate) fn may_change(&self) -> Result<(), DiskError> {
        self.may_go_on()?;
        let free = self.free.load(Ordering::Relaxed);
        if free < LAST {
            let reserve = LAST;
            return Err(DiskError::NoSpace { free, reserve });
        }
        Ok(())
    }

    /// # Errors
    /// The engine failed.
    pub(crate) fn may_go_on(&self) -> Result<(), DiskError> {
        if self.has_failed.load(Ordering::Acquire)
            && let Some(failure) = self.failure()
        {
            return Err(DiskError::Failed(failure));
        }
        Ok(())
    }

    pub(crate) fn failure(&self) -> Option<Arc<Failure>> {
        self.failure.borrow().clone()
    }

    /// Resolves when the engine has failed.
    pub(crate) fn failures(&self) -> watch::Receiver<Option<Arc<Failure>>> {
        self.failure.subscribe()
    }

    /// Stops all writing; returns what stopped it first.
    pub(crate) fn fail(
        &self,
        what: &'static str,
        database: usize,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> DiskError {
        let new = Arc::new(Failure {
            what,
            database,
            source: source.into(),
        });
        let mut first = Arc::clone(&new);
        self.failure.send_if_modified(|failure| {
            if let Some(earlier) = failure {
                first = Arc::clone(earlier);
                return false;
            }
            *failure = Some(Arc::clone(&new));
            // Before anyone is woken: who is asks this first.
            self.has_failed.store(true, Ordering::Release);
            true
        });
        if Arc::ptr_eq(&first, &new) {
            tracing::error!(database, source = %new.source, "a {what} failed: nothing is written any more");
        }
        DiskError::Failed(first)
    }

    /// Takes note of the free bytes, and of those that tables in memory will take; tells whether
    /// the disk was full at the look before.
    pub(crate) fn set_free(&self, free: u64, in_memory: u64) -> bool {
        self.promised.store(in_memory, Ordering::Relaxed);
        self.free.store(free, Ordering::Relaxed);
        self.was_full.swap(self.is_full(), Ordering::Relaxed)
    }

    /// Bytes that are free and not spoken for; all there can be until the first look.
    pub(crate) fn left(&self) -> u64 {
        let free = self.free.load(Ordering::Relaxed);
        free.saturating_sub(self.promised.load(Ordering::Relaxed))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.left() < self.reserve
    }

    /// Whether there is space for so much that will free more.
    pub(crate) fn has_space_for(&self, bytes: u64) -> bool {
        let without_reserve = self.reserve.saturating_add(bytes);
        self.left() > without_reserve || self.fits_into_reserve(bytes)
    }

    /// A quarter of what is left is given to what frees space.
    fn fits_into_reserve(&self, bytes: u64) -> bool {
        bytes.saturating_mul(4) < self.left()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_fast_writer_does_not_overrun_the_reserve_between_two_looks() {
        let health = Health::new(64 * MIB);
        health.set_free(200 * MIB, 36 * MIB);
        let written = (0..).take_while(|_| health.may_write(MIB).is_ok()).count();
        // In the journal and in tables, beside those that are in memory.
        assert_eq!(written, 51);
        let refused = health.may_write(1).unwrap_err();
        let (free, reserve) = (62 * MIB, 64 * MIB);
        assert_eq!(
            refused.to_string(),
            DiskError::NoSpace { free, reserve }.to_string()
        );
        // The next look finds it in the tables.
        health.set_free(98 * MIB, 36 * MIB);
        assert!(health.may_write(1).is_err());
    }

    #[test]
    fn what_is_kept_below_the_reserve_does_not_fill_the_disk() {
        let health = Health::new(64 * MIB);
        health.set_free(40 * MIB, 0);
        let mut kept = 0;
        while health.may_keep(MIB).is_ok() {
            kept += 1;
            if kept % 3 == 0 {
                // A look finds what was written gone.
                health.set_free(health.left(), 0);
            }
        }
        assert!(kept > 5);
        assert!(health.left() >= 14 * MIB, "{} are left", health.left());
    }

    #[test]
    fn nothing_is_written_into_the_very_last() {
        let health = Health::new(64 * MIB);
        health.set_free(MIB, 5 * MIB);
        assert!(health.may_change().is_ok(), "space is freed by changes");
        health.set_free(MIB - 1, 0);
        let refused = health.may_change().unwrap_err();
        let (free, reserve) = (MIB - 1, MIB);
        assert_eq!(
            refused.to_string(),
            DiskError::NoSpace { free, reserve }.to_string()
        );
        assert!(health.may_go_on().is_ok(), "nothing failed");
    }

    #[test]
    fn marks_are_put_off_where_they_would_fill_the_disk() {
        let health = Health::new(64 * MIB);
        health.set_free(3 * MIB, 0);
        assert!(health.has_space_for_marks(MIB / 2));
        assert!(!health.has_space_for_marks(1));
        health.set_free(64 * MIB, 0);
        assert!(health.has_space_for_marks(1));
    }
}
