//! Which journal a sync reaches, what is recorded of it, and what the record is worth.

use std::sync::Mutex;

use super::*;

/// A whole batch with one line.
fn batch(number: u64) -> Vec<u8> {
    let mut line = vec![2, 0, 0];
    line.extend_from_slice(&7_u64.to_le_bytes());
    line.extend_from_slice(&3_u16.to_le_bytes());
    line.extend_from_slice(&5_u32.to_le_bytes());
    line.extend_from_slice(&5_u32.to_le_bytes());
    line.extend_from_slice(b"keyvalue");
    let mut bytes = vec![1];
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&line);
    bytes.push(3);
    bytes.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(&line).to_le_bytes());
    bytes.extend_from_slice(b"FJL\x03");
    bytes
}

fn batches(count: u64) -> Vec<u8> {
    (1..=count).flat_map(batch).collect()
}

fn length(count: u64) -> u64 {
    batches(count).len() as u64
}

/// A database's directory with one journal.
struct Scene {
    _directory: tempfile::TempDir,
    database: PathBuf,
}

impl Scene {
    fn new(journal: u64, bytes: &[u8]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("0");
        fs::create_dir(&database).unwrap();
        let scene = Self {
            _directory: directory,
            database,
        };
        scene.write(journal, bytes);
        scene
    }

    fn write(&self, journal: u64, bytes: &[u8]) {
        let mut long = bytes.to_vec();
        // It is made longer beforehand.
        long.resize(bytes.len() + 500, 0);
        fs::write(path(&self.database, journal), long).unwrap();
    }

    fn synced(&self) -> Option<Synced> {
        Record::read(&self.database)
    }
}

type Doing = Box<dyn FnOnce() + Send>;

/// Does something during the next sync.
struct Busy(Mutex<Option<Doing>>);

impl std::fmt::Debug for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Busy")
    }
}

impl Busy {
    fn with(doing: impl FnOnce() + Send + 'static) -> Self {
        Self(Mutex::new(Some(Box::new(doing))))
    }
}

impl Disk for Busy {
    fn sync(&self, journal: &File) -> io::Result<()> {
        if let Some(doing) = self.0.lock().unwrap().take() {
            doing();
        }
        journal.sync_data()
    }
}

#[test]
fn record_says_what_stood_there_before_the_sync() {
    let scene = Scene::new(4, &batches(3));
    let mut journal = ActiveJournal::open(&scene.database).unwrap();
    assert_eq!(scene.synced(), None);
    let before = Synced {
        journal: 4,
        length: length(3),
    };
    let during = {
        let (file, bytes) = (path(&scene.database, 4), batches(5));
        Busy::with(move || fs::write(file, bytes).unwrap())
    };
    journal.sync(&during).unwrap();
    assert_eq!(
        scene.synced(),
        Some(before),
        "what came during it may be lost"
    );
    journal.sync(&crate::disk::LocalDisk).unwrap();
    let after = Synced {
        length: length(5),
        ..before
    };
    assert_eq!(scene.synced(), Some(after));
}

#[test]
fn half_a_batch_is_not_recorded() {
    let mut bytes = batches(2);
    bytes.extend_from_slice(&batch(3)[..20]);
    let scene = Scene::new(4, &bytes);
    let mut journal = ActiveJournal::open(&scene.database).unwrap();
    journal.sync(&crate::disk::LocalDisk).unwrap();
    assert_eq!(scene.synced().unwrap().length, length(2));
}

#[test]
fn journal_that_was_changed_twice_during_a_sync_is_found() {
    let scene = Scene::new(4, &batches(3));
    let mut journal = ActiveJournal::open(&scene.database).unwrap();
    let database = scene.database.clone();
    let twice = Busy::with(move || {
        // The next one is gone again: nothing tells of the last but the directory.
        fs::write(path(&database, 6), batches(2)).unwrap();
        fs::remove_file(path(&database, 4)).unwrap();
    });
    journal.sync(&twice).unwrap();
    let last = Synced {
        journal: 6,
        length: length(2),
    };
    assert_eq!(scene.synced(), Some(last));
    assert_eq!(journal.number, 6, "what is written from now on is synced");
}

#[test]
fn journal_that_failed_to_sync_is_not_recorded() {
    #[derive(Debug)]
    struct Broken;
    impl Disk for Broken {
        fn sync(&self, _: &File) -> io::Result<()> {
            Err(io::Error::other("broken"))
        }
    }
    let scene = Scene::new(4, &batches(3));
    let mut journal = ActiveJournal::open(&scene.database).unwrap();
    journal.sync(&Broken).unwrap_err();
    assert_eq!(scene.synced(), None);
}

/// What an opening makes of a journal of five batches that is damaged in its `damaged`th, after
/// `record` was written.
fn opened(damaged: u64, record: &str) -> Result<Option<Tear>, JournalError> {
    let mut bytes = batches(5);
    let at = usize::try_from(length(damaged - 1)).unwrap() + 15;
    bytes[at] ^= 1;
    let scene = Scene::new(4, &bytes);
    fs::write(record_path(&scene.database), record).unwrap();
    cut_torn_tail(&scene.database)
}

/// The record of so many batches.
fn line(journal: u64, count: u64) -> String {
    let scene = Scene::new(journal, &[]);
    let synced = Synced {
        journal,
        length: length(count),
    };
    Record::of(&scene.database).write(synced);
    fs::read_to_string(record_path(&scene.database)).unwrap()
}

#[test]
fn damage_before_what_was_synced_is_refused_with_both_numbers() {
    for damaged in 1..=3 {
        let refused = opened(damaged, &line(4, 3));
        let Err(JournalError::Lost { at, synced, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((at, synced), (length(damaged - 1), length(3)));
    }
}

#[test]
fn damage_behind_what_was_synced_is_cut() {
    for damaged in 4..=5 {
        let tear = opened(damaged, &line(4, 3)).unwrap().unwrap();
        assert_eq!(tear.at, length(damaged - 1));
    }
}

#[test]
fn record_that_is_garbled_or_of_another_journal_says_nothing() {
    let garbled = line(4, 3).replacen('4', "5", 1);
    let half = line(4, 3)[..30].to_owned();
    for record in [garbled, half, String::new(), line(3, 3)] {
        let tear = opened(2, &record).unwrap().unwrap();
        assert_eq!(tear.at, length(1), "{record:?}");
    }
}

#[test]
fn journal_that_was_synced_and_is_gone_is_missed() {
    let refused = opened(1, &line(5, 3));
    let Err(JournalError::Lost {
        journal,
        at: 0,
        synced,
    }) = refused
    else {
        panic!("{refused:?}");
    };
    assert!(journal.ends_with("5.jnl"), "{}", journal.display());
    assert_eq!(synced, length(3));
}

#[test]
fn journal_that_ends_before_what_was_synced_is_refused() {
    let scene = Scene::new(4, &batches(2));
    fs::write(record_path(&scene.database), line(4, 3)).unwrap();
    let refused = cut_torn_tail(&scene.database);
    assert!(
        matches!(&refused, Err(JournalError::Lost { at, .. }) if *at == length(2)),
        "{refused:?}"
    );
}
