//! Whether the engine may write: it stops for good at the first failure, and while there is little
//! space.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::watch;

use crate::error::{DiskError, Failure};

#[derive(Debug)]
pub(crate) struct Health {
    has_failed: AtomicBool,
    failure: watch::Sender<Option<Arc<Failure>>>,
    free: AtomicU64,
    reserve: u64,
}

impl Health {
    pub(crate) fn new(reserve: u64) -> Self {
        Self {
            has_failed: AtomicBool::new(false),
            failure: watch::Sender::new(None),
            free: AtomicU64::new(u64::MAX),
            reserve,
        }
    }

    /// # Errors
    /// The engine failed, or the disk is nearly full.
    pub(crate) fn may_write(&self) -> Result<(), DiskError> {
        self.may_remove()?;
        let free = self.free();
        if free < self.reserve {
            return Err(DiskError::NoSpace {
                free,
                reserve: self.reserve,
            });
        }
        Ok(())
    }

    /// Whether so many bytes may be written that will free more.
    ///
    /// # Errors
    /// The engine failed, or they are too many for what is left.
    pub(crate) fn may_keep(&self, bytes: u64) -> Result<(), DiskError> {
        self.may_remove()?;
        if self.fits_into_reserve(bytes) {
            return Ok(());
        }
        self.may_write()
    }

    /// What frees space is written into the reserve.
    ///
    /// # Errors
    /// The engine failed.
    pub(crate) fn may_remove(&self) -> Result<(), DiskError> {
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
            true
        });
        if Arc::ptr_eq(&first, &new) {
            tracing::error!(database, source = %new.source, "a {what} failed: nothing is written any more");
        }
        self.has_failed.store(true, Ordering::Release);
        DiskError::Failed(first)
    }

    /// Takes note of the free bytes; tells whether this changed what may be written.
    pub(crate) fn set_free(&self, free: u64) -> bool {
        let before = self.free.swap(free, Ordering::Relaxed);
        (before < self.reserve) != (free < self.reserve)
    }

    /// Bytes, as of the last look; none was yet if all are.
    pub(crate) fn free(&self) -> u64 {
        self.free.load(Ordering::Relaxed)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.free() < self.reserve
    }

    /// Whether there is space for so much that will free more.
    pub(crate) fn has_space_for(&self, bytes: u64) -> bool {
        let without_reserve = self.reserve.saturating_add(bytes);
        self.free() > without_reserve || self.fits_into_reserve(bytes)
    }

    /// A quarter of what is left is given to what frees space.
    fn fits_into_reserve(&self, bytes: u64) -> bool {
        bytes.saturating_mul(4) < self.free()
    }
}
