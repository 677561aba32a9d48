//! What keeps the logs, opened as the configuration says and closed when the server ends.

use std::fmt;
use std::path::{self, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use threadcast_disk_log::{DiskEngine, DiskOptions, Failure, OpenError};
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::memory::MemoryEngine;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::config::{Config, EngineKind};

/// An engine, and what only its kind has.
#[derive(Debug)]
pub(crate) struct Store {
    engine: Arc<dyn Engine>,
    disk: Option<Disk>,
}

#[derive(Debug)]
struct Disk {
    engine: DiskEngine,
    directory: PathBuf,
}

/// Why logs were not closed in order.
#[derive(Debug)]
pub(crate) enum CloseError {
    Failed(Arc<Failure>),
    Late { within: Duration },
}

/// Where logs are kept, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPlace {
    Directory(PathBuf),
    Memory,
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "Logs are kept in {}", path.display()),
            Self::Memory => f.write_str("Logs are kept in memory and end with the program"),
        }
    }
}

impl Store {
    /// Opens the engine; a directory is made if it is missing.
    ///
    /// # Errors
    /// The directory cannot be used, or another process uses it.
    pub(crate) async fn open(config: &Config) -> Result<Self, OpenError> {
        match config.engine {
            EngineKind::Disk => Self::on_disk(config, DiskOptions::default()).await,
            EngineKind::Memory => Ok(Self {
                engine: Arc::new(MemoryEngine::new()),
                disk: None,
            }),
        }
    }

    /// # Errors
    /// As of [`Self::open`].
    pub(crate) async fn on_disk(config: &Config, options: DiskOptions) -> Result<Self, OpenError> {
        let directory = path::absolute(&config.data).unwrap_or_else(|_| config.data.clone());
        let opened = directory.clone();
        let opening = spawn_blocking(move || DiskEngine::open(&opened, &options));
        let engine = opening.await.expect("opening does not panic")?;
        Ok(Self {
            engine: Arc::new(engine.clone()),
            disk: Some(Disk { engine, directory }),
        })
    }

    pub(crate) fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    pub(crate) fn place(&self) -> LogPlace {
        match &self.disk {
            Some(disk) => LogPlace::Directory(disk.directory.clone()),
            None => LogPlace::Memory,
        }
    }

    /// Resolves when nothing can be written any more.
    pub(crate) async fn failed(&self) -> Arc<Failure> {
        match &self.disk {
            Some(disk) => disk.engine.poisoned().await,
            None => std::future::pending().await,
        }
    }

    /// Writes out what is still to be written. Nothing is read or appended after it.
    ///
    /// # Errors
    /// Something could not be written, now or before, or it takes longer than `within`.
    pub(crate) async fn close(self, within: Duration) -> Result<(), CloseError> {
        let Some(disk) = self.disk else {
            return Ok(());
        };
        let failed = disk.engine.poisoned();
        let (closed, closing) = oneshot::channel();
        // A thread of its own: the program ends without it if it hangs.
        thread::spawn(move || {
            disk.engine.close();
            // Nobody waits any more if it took too long.
            let _ = closed.send(());
        });
        let in_time = timeout(within, closing).await;
        if let Some(failure) = failed.now_or_never() {
            return Err(CloseError::Failed(failure));
        }
        match in_time {
            Ok(closed) => {
                closed.expect("closing does not panic");
                Ok(())
            }
            Err(_) => Err(CloseError::Late { within }),
        }
    }
}
