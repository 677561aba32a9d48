//! The engine over a directory.
//!
//! An append is done where it is asked for, whatever may wait for the disk on the runtime's pool
//! for blocking work. Every method but `beat`, `beats` and `watch` must be called within a tokio
//! runtime.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;
use threadcast_thread_log::error::EngineError;

use crate::blocking::blocking;
use crate::error::{DiskError, Failure, OpenError};
use crate::health::Health;
use crate::open::{DiskOptions, open};
use crate::store::Store;

mod methods;
mod writes;

/// A store of logs in a directory; a copy is the same store.
///
/// The directory is closed, with a last sync, when the last copy and the last work under way are
/// gone, or by [`DiskEngine::close`].
#[derive(Clone)]
pub struct DiskEngine {
    store: Arc<RwLock<Option<Arc<Store>>>>,
    health: Arc<Health>,
    directory: Arc<Path>,
}

impl DiskEngine {
    /// Opens a data directory, or makes one where there is none or an empty one. May take a while:
    /// the journals of the databases are read.
    ///
    /// # Errors
    /// Another process has it open, it is no data directory of a version that is known, or it
    /// cannot be read.
    pub fn open(directory: &Path, options: &DiskOptions) -> Result<Self, OpenError> {
        let store = open(directory, options)?;
        let health = Arc::clone(&store.health);
        Ok(Self {
            store: Arc::new(RwLock::new(Some(Arc::new(store)))),
            health,
            directory: directory.into(),
        })
    }

    /// Where the logs are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Closes the directory for all copies: what is under way ends, all is synced, and whoever
    /// asks for anything after it hears [`DiskError::Closed`]. Waits for the disk.
    pub fn close(&self) {
        let Some(mut store) = self.store.write().take() else {
            return;
        };
        // Work on the pool that nobody waits for any more may still hold it.
        loop {
            match Arc::try_unwrap(store) {
                Ok(alone) => return drop(alone),
                Err(shared) => store = shared,
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Resolves when a write or sync has failed: nothing is written any more, and the program
    /// should end so that a restart finds out what there is.
    pub fn poisoned(&self) -> impl Future<Output = Arc<Failure>> + Send + use<> {
        let mut failures = self.health.failures();
        async move {
            loop {
                if let Some(failure) = failures.borrow_and_update().clone() {
                    return failure;
                }
                if failures.changed().await.is_err() {
                    // The engine is gone and did not fail.
                    std::future::pending::<()>().await;
                }
            }
        }
    }

    /// How many threads take memory: those that someone works on or watches, and a few that were
    /// used lately.
    pub fn threads_in_memory(&self) -> usize {
        self.store().map_or(0, |store| store.slots.count())
    }

    fn store(&self) -> Result<Arc<Store>, DiskError> {
        self.store.read().clone().ok_or(DiskError::Closed)
    }

    /// Asks the store for something that may wait for the disk.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let store = self.store()?;
        blocking(move || work(&store)).await
    }
}

impl fmt::Debug for DiskEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskEngine")
            .field("directory", &self.directory)
            .field("is_open", &self.store.read().is_some())
            .field("health", &self.health)
            .finish()
    }
}
