//! What can go wrong with a directory of logs.

use std::path::PathBuf;
use std::sync::Arc;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;

use crate::database_error::DatabaseError;
use crate::stored::Damage;

/// Why an engine did not do what it was asked; the source of an [`EngineError`].
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    #[error("the data directory was closed")]
    Closed,
    #[error(
        "{free} bytes are free on the disk of the data directory, and the last {reserve} are not \
         written to"
    )]
    NoSpace { free: u64, reserve: u64 },
    /// Nothing is written until the program starts again.
    #[error(transparent)]
    Failed(Arc<Failure>),
    #[error("database {database} cannot be read")]
    Read {
        database: usize,
        #[source]
        source: DatabaseError,
    },
    #[error("a line of database {database} cannot be read")]
    Line {
        database: usize,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("what is stored of thread `{thread}` cannot be read")]
    Damaged {
        thread: ThreadId,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the runtime shut down before the work was done")]
    Shutdown,
}

/// A write or sync that failed: what it was to keep may be there or not, so nothing more is
/// written.
#[derive(Debug, thiserror::Error)]
#[error("a {what} of database {database} failed, nothing is written any more")]
pub struct Failure {
    /// `write` or `sync`.
    pub what: &'static str,
    pub database: usize,
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Why a directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "data directory `{directory}` is in use by {}",
        .process.map_or_else(|| "another process".into(), |pid| format!("process {pid}"))
    )]
    InUse {
        directory: PathBuf,
        process: Option<u32>,
    },
    /// Nothing was written into it.
    #[error("`{directory}` is neither empty nor a data directory: it holds `{found}`")]
    NotOurs { directory: PathBuf, found: PathBuf },
    #[error("data directory `{directory}` has format {found}, this program knows {known}")]
    Format {
        directory: PathBuf,
        found: String,
        known: String,
    },
    #[error("database {database} of data directory `{directory}` is missing")]
    Missing { directory: PathBuf, database: usize },
    /// Not a torn tail, which is cut: something behind it was synced.
    #[error("journal `{journal}` is damaged at byte {at}, in the middle of what was synced")]
    Damaged { journal: PathBuf, at: u64 },
    /// Of the last journal; what stands behind the second number may be torn, and is cut.
    #[error(
        "journal `{journal}` is whole up to byte {at} only, but was synced up to byte {synced}: \
         what was kept there is lost"
    )]
    Lost {
        journal: PathBuf,
        at: u64,
        synced: u64,
    },
    #[error("database {database} of data directory `{directory}` cannot be opened")]
    Database {
        directory: PathBuf,
        database: usize,
        #[source]
        source: DatabaseError,
    },
    #[error("what was dropped before could not be removed")]
    Removal(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("data directory `{directory}` cannot be used")]
    Io {
        directory: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl From<DiskError> for EngineError {
    fn from(error: DiskError) -> Self {
        match &error {
            // Asking again does not help. No entry is meant, but what stands before all.
            DiskError::Damaged { thread, .. } => Self::Corrupt {
                thread: thread.to_string(),
                seq: 0,
                source: Box::new(error),
            },
            _ => Self::Unavailable(Box::new(error)),
        }
    }
}

impl DiskError {
    pub(crate) fn damaged(
        thread: &ThreadId,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Damaged {
            thread: thread.clone(),
            source: source.into(),
        }
    }
}

/// An entry that cannot be read, or is missing among those that are kept.
pub(crate) fn corrupt(thread: &ThreadId, seq: Seq, damage: Damage) -> EngineError {
    EngineError::Corrupt {
        thread: thread.to_string(),
        seq: seq.get(),
        source: Box::new(damage),
    }
}
