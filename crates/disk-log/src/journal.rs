//! The journals of a database: the one that is written to, and tails that a power cut tore.
//!
//! A journal is a row of batches, each closed by a checksum, in a file that was made longer
//! beforehand: behind the last batch come zeros. A power cut may leave any part of what was not
//! synced. What stands after the first broken batch of the last journal is cut off and told; it
//! was never answered as durable. The database itself would refuse to open on some tears, and
//! pass others, and damage in older journals, in silence.
//!
//! How far a journal was synced is written down beside its database, after every sync and with none
//! of its own: so the record may be behind, or lost, but what it says was once on the disk. Damage
//! before that is no tear.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::disk::Disk;

use batches::{Place, whole_end};
use synced::Record;
pub(crate) use synced::{Synced, record_path};

mod batches;
mod synced;

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Bytes read at a time of what was just written.
const SMALL_BLOCK: usize = 1 << 14;

/// The journal that a database appends to.
pub(crate) struct ActiveJournal {
    directory: PathBuf,
    number: u64,
    file: File,
    whole: Place,
    record: Record,
}

impl ActiveJournal {
    /// # Errors
    /// There is none, or it cannot be opened.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        let (number, file) = last(directory)?;
        let mut journal = Self {
            directory: directory.to_owned(),
            number,
            file,
            whole: Place::default(),
            record: Record::of(directory),
        };
        journal.read_on();
        Ok(journal)
    }

    /// Syncs the journal, and the last one if the database went on: it syncs a journal before it
    /// begins the next, and removes those that it needs no more.
    ///
    /// # Errors
    /// What was written may not be on the disk.
    pub(crate) fn sync(&mut self, disk: &dyn Disk) -> io::Result<()> {
        loop {
            // What the sync is sure to cover is what stood there before it.
            self.read_on();
            disk.sync(&self.file)?;
            if !path(&self.directory, self.number + 1).exists() && !self.is_removed()? {
                self.record.write(Synced {
                    journal: self.number,
                    length: self.whole.at,
                });
                return Ok(());
            }
            (self.number, self.file) = last(&self.directory)?;
            self.whole = Place::default();
        }
    }

    /// Goes over the batches that were written since. Where they cannot be read, less is recorded.
    fn read_on(&mut self) {
        let mut file = &self.file;
        let read = file
            .seek(SeekFrom::Start(self.whole.at))
            .and_then(|_| whole_end(BufReader::with_capacity(SMALL_BLOCK, file), self.whole));
        match read {
            Ok(whole) => self.whole = whole,
            Err(error) => tracing::warn!(
                directory = %self.directory.display(), %error,
                "a journal cannot be read: how far it is synced is not recorded"
            ),
        }
    }

    /// Whether the database went on and needs this journal no more: then the next one may be gone
    /// as well.
    fn is_removed(&self) -> io::Result<bool> {
        Ok(journals(&self.directory)?
            .last()
            .is_some_and(|(last, _)| *last > self.number))
    }
}

/// What was cut off the end of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tear {
    pub(crate) journal: PathBuf,
    pub(crate) at: u64,
    /// From there to the last byte that was not zero.
    pub(crate) lost: u64,
}

/// Why the journals of a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    /// One that is not the last.
    #[error("journal `{journal}` is damaged at byte {at}")]
    Damaged { journal: PathBuf, at: u64 },
    #[error("journal `{journal}` is whole up to byte {at}, and was synced up to byte {synced}")]
    Lost {
        journal: PathBuf,
        at: u64,
        synced: u64,
    },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Cuts a torn tail off the last journal; the others must be whole, and each as far as it is known
/// to have been synced.
///
/// # Errors
/// Something is damaged that was synced, or none can be read.
pub(crate) fn cut_torn_tail(directory: &Path) -> Result<Option<Tear>, JournalError> {
    let synced = Record::read(directory);
    let mut journals = journals(directory)?;
    let latest = journals.last().map(|(number, _)| *number);
    if let Some(synced) = synced
        && latest.is_none_or(|latest| latest < synced.journal)
    {
        // Only journals before one that is there are ever removed.
        return Err(JournalError::Lost {
            journal: path(directory, synced.journal),
            at: 0,
            synced: synced.length,
        });
    }
    let Some((number, last)) = journals.pop() else {
        return Ok(None);
    };
    for (number, journal) in journals {
        let scan = scan(&journal)?;
        check(number, &journal, &scan, synced)?;
        if scan.lost > 0 {
            let at = scan.whole;
            return Err(JournalError::Damaged { journal, at });
        }
    }
    let scan = scan(&last)?;
    check(number, &last, &scan, synced)?;
    let Scan { whole, lost } = scan;
    if lost == 0 {
        return Ok(None);
    }
    let file = OpenOptions::new().write(true).open(&last)?;
    file.set_len(whole)?;
    file.sync_all()?;
    Ok(Some(Tear {
        journal: last,
        at: whole,
        lost,
    }))
}

/// Whether the journal is whole as far as the record says, if the record is of it.
fn check(
    number: u64,
    journal: &Path,
    scan: &Scan,
    synced: Option<Synced>,
) -> Result<(), JournalError> {
    match synced {
        Some(synced) if synced.journal == number && scan.whole < synced.length => {
            Err(JournalError::Lost {
                journal: journal.to_owned(),
                at: scan.whole,
                synced: synced.length,
            })
        }
        _ => Ok(()),
    }
}

/// Where the whole batches of a journal end, and how much stands behind them.
struct Scan {
    whole: u64,
    lost: u64,
}

fn scan(journal: &Path) -> io::Result<Scan> {
    let reader = BufReader::with_capacity(BLOCK, File::open(journal)?);
    let whole = whole_end(reader, Place::default())?.at;
    let mut rest = File::open(journal)?;
    rest.seek(SeekFrom::Start(whole))?;
    Ok(Scan {
        whole,
        lost: used_bytes(rest)?,
    })
}

/// How far the last byte that is not zero stands.
fn used_bytes(mut from: impl Read) -> io::Result<u64> {
    let mut block = vec![0; BLOCK];
    let zeros = vec![0; BLOCK];
    let (mut at, mut used) = (0, 0);
    loop {
        let read = from.read(&mut block)?;
        if read == 0 {
            return Ok(used);
        }
        // Most of a journal may be zeros: they are compared by the block.
        if block[..read] != zeros[..read]
            && let Some(last) = block[..read].iter().rposition(|byte| *byte != 0)
        {
            used = at + last as u64 + 1;
        }
        at += read as u64;
    }
}

/// The journals of a database, oldest first.
fn journals(directory: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for file in fs::read_dir(directory)? {
        let path = file?.path();
        if path.extension().is_some_and(|ending| ending == "jnl")
            && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
            && let Ok(number) = stem.parse()
        {
            found.push((number, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The journal that is written to.
fn last(directory: &Path) -> io::Result<(u64, File)> {
    let (number, path) = journals(directory)?.pop().ok_or(ErrorKind::NotFound)?;
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    Ok((number, file))
}

fn path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number}.jnl"))
}

#[cfg(test)]
mod tests;
