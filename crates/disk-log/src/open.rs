//! Opening a directory: what a kill or a power cut left is put in order before anyone reads.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use threadcast_thread_log::names::Names;

use crate::directory::Directory;
use crate::disk::{Disk, LocalDisk};
use crate::error::OpenError;
use crate::health::Health;
use crate::journal::{JournalError, cut_torn_tail};
use crate::shard::Shard;
use crate::slots::Slots;
use crate::store::Store;
use crate::{keeper, reclaim};

/// How a directory is opened.
#[derive(Clone, Debug)]
pub struct DiskOptions {
    /// Databases of a new directory, each with a journal of its own; an existing one keeps its
    /// number.
    pub databases: usize,
    /// Of the caches of all databases together.
    pub cache_bytes: u64,
    /// Appends are refused while fewer bytes than these are free.
    pub reserve_bytes: u64,
    /// What the syncs and the space are asked of.
    pub disk: Arc<dyn Disk>,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self {
            databases: 4,
            cache_bytes: 64 << 20,
            reserve_bytes: 64 << 20,
            disk: Arc::new(LocalDisk),
        }
    }
}

pub(crate) fn open(path: &Path, options: &DiskOptions) -> Result<Store, OpenError> {
    let directory = Directory::take(path, options.databases)?;
    let health = Arc::new(Health::new(options.reserve_bytes));
    let options = DiskOptions {
        databases: directory.databases,
        ..options.clone()
    };
    // A system that does not tell is not held to be full.
    if let Ok(free) = options.disk.free_bytes(path) {
        health.set_free(free, 0);
    }
    // Each of them waits for the disk most of the time.
    let shards = std::thread::scope(|scope| {
        let opening: Vec<_> = (0..directory.databases)
            .map(|number| {
                let (directory, options, health) = (&directory, &options, &health);
                scope.spawn(move || open_database(directory, number, options, health))
            })
            .collect();
        opening
            .into_iter()
            .map(|opened| match opened.join() {
                Ok(opened) => opened.map(Arc::new),
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect::<Result<Vec<_>, _>>()
    })?;
    let failed = |source| OpenError::Io {
        directory: path.to_owned(),
        source,
    };
    if directory.is_new {
        directory.finish().map_err(failed)?;
    }
    let disk = Arc::clone(&options.disk);
    let background = [
        keeper::start(path.to_owned(), disk, Arc::clone(&health), shards.clone())
            .map_err(failed)?,
        reclaim::start(shards.clone()).map_err(failed)?,
    ];
    Ok(Store {
        _background: background,
        shards,
        slots: Slots::new(),
        health,
        names: Names::random(),
        beats: Mutex::default(),
        work_locks: std::array::from_fn(|_| Mutex::new(())),
        _lock: directory.lock,
    })
}

fn open_database(
    directory: &Directory,
    number: usize,
    options: &DiskOptions,
    health: &Arc<Health>,
) -> Result<Shard, OpenError> {
    let path = directory.database(number);
    let unusable = |source: fjall::Error| OpenError::Database {
        directory: directory.path.clone(),
        database: number,
        source: source.into(),
    };
    if path.is_dir() {
        match cut_torn_tail(&path) {
            Ok(None) => {}
            Ok(Some(tear)) => tracing::warn!(
                journal = %tear.journal.display(),
                at = tear.at,
                bytes = tear.lost,
                "the end of a journal was torn and is cut off: a power cut tears what was not durable yet"
            ),
            Err(JournalError::Damaged { journal, at }) => {
                return Err(OpenError::Damaged { journal, at });
            }
            Err(JournalError::Lost {
                journal,
                at,
                synced,
            }) => {
                return Err(OpenError::Lost {
                    journal,
                    at,
                    synced,
                });
            }
            Err(JournalError::Io(error)) => return Err(unusable(error.into())),
        }
    }
    let shard = Shard::open(number, &path, options, health).map_err(unusable)?;
    shard
        .remove_all_dropped()
        .map_err(|error| OpenError::Removal(Box::new(error)))?;
    Ok(shard)
}
