//! The record of what was synced of a database: the number of a journal and a length, one line in a
//! file beside the database, under a hash of its own.
//!
//! Invariant: it is written after the sync that makes it true, and a line that is not whole says
//! nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

/// How far which journal was synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Synced {
    pub(crate) journal: u64,
    /// Bytes of whole batches.
    pub(crate) length: u64,
}

impl Synced {
    /// Always as long: it is written over the last one.
    fn line(self) -> String {
        let text = format!("journal {:020} synced {:020}", self.journal, self.length);
        let hash = xxh3_64(text.as_bytes());
        format!("{text} {hash:016x}\n")
    }

    fn parse(line: &str) -> Option<Self> {
        let (journal, rest) = line.strip_prefix("journal ")?.split_once(" synced ")?;
        let (length, _) = rest.split_once(' ')?;
        let found = Self {
            journal: journal.parse().ok()?,
            length: length.parse().ok()?,
        };
        (found.line() == line).then_some(found)
    }
}

/// The record's place, beside the directory of the database.
pub(crate) fn record_path(database: &Path) -> PathBuf {
    database.with_extension("synced")
}

/// Written as well as it can be: without it a tear is held to be one wherever it is.
pub(super) struct Record {
    path: PathBuf,
    /// Opened for the first line; `None` again after a failure.
    file: Option<File>,
    last: Option<Synced>,
    has_failed: bool,
}

impl Record {
    pub(super) fn of(database: &Path) -> Self {
        Self {
            path: record_path(database),
            file: None,
            last: None,
            has_failed: false,
        }
    }

    /// What it says, if it is whole.
    pub(super) fn read(database: &Path) -> Option<Synced> {
        Synced::parse(&fs::read_to_string(record_path(database)).ok()?)
    }

    pub(super) fn write(&mut self, synced: Synced) {
        if self.last == Some(synced) {
            return;
        }
        match self.try_write(synced) {
            Ok(()) => {
                self.last = Some(synced);
                self.has_failed = false;
            }
            Err(error) => {
                self.file = None;
                if !self.has_failed {
                    tracing::warn!(record = %self.path.display(), %error, "how far a journal is synced was not recorded");
                }
                self.has_failed = true;
            }
        }
    }

    fn try_write(&mut self, synced: Synced) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(
                OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(&self.path)?,
            ),
        };
        let line = synced.line();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(line.as_bytes())?;
        // A line of something else may have been longer.
        if self.last.is_none() {
            file.set_len(line.len() as u64)?;
        }
        Ok(())
    }
}
