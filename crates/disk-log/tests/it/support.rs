//! Directories, disks that fail on request, and what a thread is found to be.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use threadcast_agui::ids::ThreadId;
use threadcast_disk_log::{
    Disk, DiskEngine, DiskError, DiskOptions, LocalDisk, WritePoint, WriteStage,
};
use threadcast_thread_log::conformance::model::Model;
use threadcast_thread_log::conformance::requests::{request, texts};
use threadcast_thread_log::engine::{Append, Durability, Engine, Head, Outcome, ReadLimit};
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Epoch, Seq};

pub(crate) const ALL: ReadLimit = ReadLimit {
    entries: usize::MAX,
    bytes: usize::MAX,
};

pub(crate) fn thread(id: &str) -> ThreadId {
    ThreadId::new(id).unwrap()
}

pub(crate) fn seq(seq: u64) -> Seq {
    Seq::new(seq).unwrap()
}

/// The disk as it is, until it is told to be another.
#[derive(Debug, Default)]
pub(crate) struct FailingDisk {
    /// Stages of writes gone by.
    pub(crate) stages: AtomicU64,
    /// The stage that fails, counted from 1; 0 for none.
    pub(crate) fails_at: AtomicU64,
    pub(crate) failed_in: Mutex<Option<(WritePoint, WriteStage)>>,
    pub(crate) syncs: AtomicU64,
    pub(crate) syncs_fail: AtomicBool,
    /// What is told to be free; 0 for what is.
    pub(crate) free: AtomicU64,
}

impl Disk for FailingDisk {
    fn write(&self, point: WritePoint, reached: WriteStage) -> io::Result<()> {
        let stage = self.stages.fetch_add(1, Ordering::SeqCst) + 1;
        if stage == self.fails_at.load(Ordering::SeqCst) {
            *self.failed_in.lock().unwrap() = Some((point, reached));
            return Err(io::Error::other("the program is killed here"));
        }
        Ok(())
    }

    fn sync(&self, journal: &std::fs::File) -> io::Result<()> {
        if self.syncs_fail.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk is broken"));
        }
        LocalDisk.sync(journal)?;
        self.syncs.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn free_bytes(&self, directory: &Path) -> io::Result<u64> {
        match self.free.load(Ordering::SeqCst) {
            0 => LocalDisk.free_bytes(directory),
            free => Ok(free),
        }
    }
}

/// Opens with one database: the tests here are about what happens within it.
pub(crate) fn open(directory: &Path, disk: &Arc<FailingDisk>) -> DiskEngine {
    let options = DiskOptions {
        databases: 1,
        disk: Arc::clone(disk) as Arc<dyn Disk>,
        ..DiskOptions::default()
    };
    DiskEngine::open(directory, &options).unwrap()
}

pub(crate) fn open_plain(directory: &Path) -> DiskEngine {
    open(directory, &Arc::default())
}

/// An append of so many entries that may begin the log.
pub(crate) fn some(thread: &ThreadId, count: u64, durability: Durability) -> Append {
    Append {
        may_create: true,
        entries: texts(count),
        durability,
        ..request(thread)
    }
}

pub(crate) async fn append(engine: &DiskEngine, append: Append) -> Result<Outcome, EngineError> {
    Engine::append(engine, append).await
}

/// Why the engine is not available.
///
/// # Panics
/// It is, or for another reason.
pub(crate) fn why<T: std::fmt::Debug>(result: Result<T, EngineError>) -> DiskError {
    match result {
        Err(EngineError::Unavailable(source)) => *source.downcast().unwrap(),
        other => panic!("{other:?}"),
    }
}

/// All that can be asked of a thread, with epochs named by their place.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    head: Head,
    entries: Vec<Entry>,
    checkpoints: Vec<Seq>,
}

pub(crate) async fn found(engine: &DiskEngine, thread: &ThreadId) -> Found {
    let mut checkpoints = Vec::new();
    let mut through = Some(Seq::MAX);
    while let Some(at) = through
        && let Some(checkpoint) = engine.load_checkpoint(thread, at).await.unwrap()
    {
        through = checkpoint.seq.get().checked_sub(1).map(seq);
        checkpoints.push(checkpoint.seq);
    }
    Found {
        head: with_places(engine.head(thread).await.unwrap()),
        entries: engine.read(thread, Seq::ZERO, ALL).await.unwrap(),
        checkpoints,
    }
}

pub(crate) fn expected(model: &Model) -> Found {
    Found {
        head: with_places(model.head()),
        entries: model.read(Seq::ZERO),
        checkpoints: model.checkpoints.keys().rev().copied().collect(),
    }
}

fn with_places(mut head: Head) -> Head {
    for (place, (epoch, _)) in head.epochs.iter_mut().enumerate() {
        *epoch = Epoch::new(place.to_string());
    }
    head
}

/// A copy of a directory, as a kill would leave it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        let target = to.join(file.file_name());
        if file.file_type().unwrap().is_dir() {
            copy(&file.path(), &target);
        } else {
            std::fs::copy(file.path(), target).unwrap();
        }
    }
}

/// A directory with one empty database, to be copied: making one waits for the disk many times.
pub(crate) fn template() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    // The first opening makes the journal long beforehand, the second cuts it.
    open_plain(directory.path()).close();
    open_plain(directory.path()).close();
    directory
}

/// The last journal of the only database.
pub(crate) fn journal(directory: &Path) -> PathBuf {
    let files = std::fs::read_dir(directory.join("0")).unwrap();
    files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jnl"))
        .max_by_key(|path| {
            path.file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .parse::<u64>()
                .unwrap()
        })
        .unwrap()
}

/// What is recorded of the syncs of the only database.
pub(crate) fn record(directory: &Path) -> PathBuf {
    directory.join("0.synced")
}
