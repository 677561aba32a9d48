//! What is asked of the disk beside the databases: syncs and free space.
//!
//! Tests stand in for it: every write of an engine tells where it is, and may be made to fail
//! there.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::Path;

/// The disk under a data directory.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Called around every write of the engine: an atomic batch of one database.
    ///
    /// # Errors
    /// The write fails: before it was done, or, after it, without anyone being told that it was.
    fn write(&self, point: WritePoint, stage: WriteStage) -> io::Result<()> {
        let _ = (point, stage);
        Ok(())
    }

    /// Brings what was written to this journal to the disk.
    ///
    /// # Errors
    /// It did not get there.
    fn sync(&self, journal: &File) -> io::Result<()> {
        journal.sync_data()
    }

    /// Bytes that may still be written under the directory.
    ///
    /// # Errors
    /// The system does not tell.
    fn free_bytes(&self, directory: &Path) -> io::Result<u64> {
        fs4::available_space(directory)
    }
}

/// The disk as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalDisk;

impl Disk for LocalDisk {}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WritePoint {
    /// Entries of an append and the meta that goes with them.
    Append,
    /// A few parts of a checkpoint, not yet to be found.
    CheckpointPart,
    /// The rest of a checkpoint, which makes it be found.
    Checkpoint,
    /// The first seq that is kept; what lies before it is dropped.
    Trim,
    /// The tombstone.
    Delete,
    /// The removal of a slice of what was dropped.
    Removal,
    /// A line of the index of work.
    Work,
    /// Bytes that were given back to the disk.
    Reclaim,
}

/// Before or after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteStage {
    Before,
    After,
}
