//! One database: its keyspaces, and the one place where something is written to it.
//!
//! An append is a batch in the database's journal: one write into the file system's cache, and a
//! few insertions into tables in memory. It is done where it is asked for, as that is quicker than
//! handing it to another thread, unless the database is behind with its tables: then it would halt
//! the thread until it caught up.
//!
//! Invariant: after a write that failed no other is begun, in any database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use fjall::{
    AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch,
    Readable, Snapshot,
};
use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::meta::Incarnation;

use crate::database_error::DatabaseError;
use crate::disk::{Disk, WritePoint, WriteStage};
use crate::error::DiskError;
use crate::health::Health;
use crate::journal::ActiveJournal;
use crate::keys;
use crate::open::DiskOptions;
use crate::stored::{self, Damage, Stored};
use crate::sync::Syncer;

/// Bytes of entries in memory before they become a table.
const ENTRIES_IN_MEMORY: u64 = 16 << 20;

/// The same for what is written nearly as often, and for what is not.
const HEADS_IN_MEMORY: u64 = 8 << 20;
const OTHERS_IN_MEMORY: u64 = 4 << 20;

/// Bytes of finished journals at which the tables in memory that they stand for are written; one
/// is finished at 64 MB.
const JOURNALS_BYTES: u64 = 64 << 20;

/// Threads of a database that write and merge tables. The first of them leaves merging to the
/// others and, while those are busy, turns round the queue as fast as it can: with one other it
/// takes a processor for as long as every merge lasts.
const WORKERS: usize = 3;

/// Removals after which is looked how much of a keyspace is of no use; a part of a checkpoint may
/// have 128 KiB.
const ENTRIES_REMOVED: u64 = 1000;
const PARTS_REMOVED: u64 = 64;

/// Writes after which is looked whether the database is behind.
const LOOK_EVERY: u32 = 64;

/// The database halts writers at four tables that wait to be written, and at thirty that wait to
/// be merged.
const TABLES_WAITING: usize = 2;
const TABLES_UNMERGED: usize = 16;

/// A keyspace from which much is removed.
pub(crate) struct Removable {
    pub(crate) keyspace: Keyspace,
    /// Lines removed since that was last looked at, and after how many it is.
    pub(crate) removed: AtomicU64,
    pub(crate) removed_min: u64,
    /// Bytes that must be free before it is written anew; 0 while nothing waits for them.
    pub(crate) needed: AtomicU64,
}

impl Removable {
    /// Looked at once after the opening, too, for what was removed before it.
    fn new(keyspace: Keyspace, removed_min: u64) -> Self {
        Self {
            keyspace,
            removed: AtomicU64::new(removed_min),
            removed_min,
            needed: AtomicU64::new(0),
        }
    }
}

pub(crate) struct Shard {
    pub(crate) number: usize,
    // Before the database: its last sync needs the journal.
    pub(crate) syncer: Syncer,
    pub(crate) heads: Keyspace,
    pub(crate) threads: Keyspace,
    pub(crate) entries: Removable,
    pub(crate) checkpoints: Removable,
    pub(crate) chores: Keyspace,
    pub(crate) database: Database,
    disk: Arc<dyn Disk>,
    pub(crate) health: Arc<Health>,
    writes: AtomicU32,
    is_behind: AtomicBool,
    /// Held where a line of what was dropped is written or removed.
    pub(crate) dropping: Mutex<()>,
    /// Whether something that was dropped is still to be removed, for want of space.
    pub(crate) has_dropped: AtomicBool,
}

impl Shard {
    pub(crate) fn open(
        number: usize,
        directory: &Path,
        options: &DiskOptions,
        health: &Arc<Health>,
    ) -> fjall::Result<Self> {
        let database = Database::builder(directory)
            .cache_size(options.cache_bytes / options.databases as u64)
            .max_journaling_size(JOURNALS_BYTES)
            .worker_threads(WORKERS)
            // It would be done under the lock that all appends take.
            .journal_compression(CompressionType::None)
            .open()?;
        let keyspace = |name, bytes| {
            database.keyspace(name, || {
                KeyspaceCreateOptions::default().max_memtable_size(bytes)
            })
        };
        let syncer = Syncer::start(
            number,
            ActiveJournal::open(directory)?,
            Arc::clone(&options.disk),
            Arc::clone(health),
        )?;
        Ok(Self {
            number,
            syncer,
            heads: keyspace("heads", HEADS_IN_MEMORY)?,
            threads: keyspace("threads", OTHERS_IN_MEMORY)?,
            entries: Removable::new(keyspace("entries", ENTRIES_IN_MEMORY)?, ENTRIES_REMOVED),
            checkpoints: Removable::new(keyspace("checkpoints", HEADS_IN_MEMORY)?, PARTS_REMOVED),
            chores: keyspace("chores", OTHERS_IN_MEMORY)?,
            database,
            disk: Arc::clone(&options.disk),
            health: Arc::clone(health),
            writes: AtomicU32::new(0),
            is_behind: AtomicBool::new(false),
            dropping: Mutex::new(()),
            has_dropped: AtomicBool::new(false),
        })
    }

    pub(crate) fn batch(&self) -> OwnedWriteBatch {
        self.database.batch()
    }

    /// Writes a batch, all or nothing.
    ///
    /// # Errors
    /// Something failed, now or before: whether the batch was written is then unknown. There is
    /// next to nothing left on the disk: it was not.
    pub(crate) fn commit(
        &self,
        batch: OwnedWriteBatch,
        point: WritePoint,
    ) -> Result<(), DiskError> {
        self.health.may_change()?;
        self.stage(point, WriteStage::Before)?;
        batch.commit().map_err(|error| {
            let error = DatabaseError::from(error);
            self.health.fail("write", self.number, error)
        })?;
        self.syncer.written();
        self.stage(point, WriteStage::After)?;
        let writes = self.writes.fetch_add(1, Ordering::Relaxed);
        if writes.is_multiple_of(LOOK_EVERY) {
            self.look();
        }
        Ok(())
    }

    fn stage(&self, point: WritePoint, stage: WriteStage) -> Result<(), DiskError> {
        self.disk
            .write(point, stage)
            .map_err(|error| self.health.fail("write", self.number, error))
    }

    /// Whether a write might have to wait for tables to be written or merged.
    pub(crate) fn is_behind(&self) -> bool {
        if self.is_behind.load(Ordering::Relaxed) {
            self.look();
        }
        self.is_behind.load(Ordering::Relaxed)
    }

    fn look(&self) {
        let is_behind = |keyspace: &Keyspace| {
            keyspace.sealed_memtable_count() >= TABLES_WAITING
                || keyspace.l0_table_count() >= TABLES_UNMERGED
        };
        let is_any_behind = self.keyspaces().into_iter().any(is_behind);
        self.is_behind.store(is_any_behind, Ordering::Relaxed);
    }

    fn keyspaces(&self) -> [&Keyspace; 5] {
        [
            &self.entries.keyspace,
            &self.heads,
            &self.checkpoints.keyspace,
            &self.threads,
            &self.chores,
        ]
    }

    /// Bytes of tables that are still to be written.
    pub(crate) fn bytes_in_memory(&self) -> u64 {
        let keyspaces = self.keyspaces().into_iter();
        keyspaces
            .map(|keyspace| keyspace.tree.version_memtable_size_sum())
            .sum()
    }

    /// Everything as it was at one moment, between batches.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.database.snapshot()
    }

    /// What is stored of the thread, with nobody in the lease if another incarnation wrote last:
    /// whoever held it went with that one.
    pub(crate) fn stored(
        &self,
        snapshot: &Snapshot,
        thread: &ThreadId,
        incarnation: &Incarnation,
    ) -> Result<Stored, DiskError> {
        let key = keys::thread(thread);
        let hot = self.get(snapshot, &self.heads, key)?;
        let cold = self.get(snapshot, &self.threads, key)?;
        let mut stored = match (hot, cold) {
            (None, None) => return Ok(Stored::default()),
            (Some(hot), Some(cold)) => stored::read(&hot, &cold),
            _ => Err(Damage::Half),
        }
        .map_err(|damage| DiskError::damaged(thread, damage))?;
        if stored.meta.incarnation.as_ref() != Some(incarnation) {
            stored.meta.holder = None;
        }
        Ok(stored)
    }

    pub(crate) fn get(
        &self,
        snapshot: &Snapshot,
        keyspace: &Keyspace,
        key: &[u8],
    ) -> Result<Option<fjall::UserValue>, DiskError> {
        snapshot
            .get(keyspace, key)
            .map_err(|error| self.unreadable(error))
    }

    pub(crate) fn unreadable(&self, source: fjall::Error) -> DiskError {
        DiskError::Read {
            database: self.number,
            source: source.into(),
        }
    }

    pub(crate) fn damaged(&self, damage: Damage) -> DiskError {
        DiskError::Line {
            database: self.number,
            source: Box::new(damage),
        }
    }
}
