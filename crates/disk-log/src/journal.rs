//! The journals of a database: the one that is written to, and tails that a power cut tore.
//!
//! A journal is a row of batches, each closed by a checksum, in a file that was made longer
//! beforehand: behind the last batch come zeros. A power cut may leave any part of what was not
//! synced. What stands after the first broken batch of the last journal is cut off and told; it
//! was never answered as durable. The database itself would refuse to open on some tears, and
//! pass others, and damage in older journals, in silence.
//!
//! The format is that of `fjall` 3; its version is checked by the database.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::disk::Disk;

/// Ends the closing of every batch.
const TRAILER: [u8; 4] = [b'F', b'J', b'L', 3];

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Bytes with which a batch begins: a tag, how many lines, its number.
const HEAD_BYTES: u64 = 13;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;

/// The journal that a database appends to.
pub(crate) struct ActiveJournal {
    directory: PathBuf,
    number: u64,
    file: File,
}

impl ActiveJournal {
    /// # Errors
    /// There is none, or it cannot be opened.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        let (number, path) = journals(directory)?.pop().ok_or(ErrorKind::NotFound)?;
        Ok(Self {
            directory: directory.to_owned(),
            number,
            file: OpenOptions::new().write(true).open(path)?,
        })
    }

    /// Syncs the journal, and the last one if the database went on: it syncs a journal before it
    /// begins the next, and removes those that it needs no more.
    ///
    /// # Errors
    /// What was written may not be on the disk.
    pub(crate) fn sync(&mut self, disk: &dyn Disk) -> io::Result<()> {
        loop {
            disk.sync(&self.file)?;
            if !path(&self.directory, self.number + 1).exists() && !self.is_removed()? {
                return Ok(());
            }
            *self = Self::open(&self.directory)?;
        }
    }
}

impl ActiveJournal {
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
    #[error("journal `{journal}` is damaged at byte {at}")]
    Damaged { journal: PathBuf, at: u64 },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Cuts a torn tail off the last journal; the others must be whole.
///
/// # Errors
/// An older journal is damaged, or none can be read.
pub(crate) fn cut_torn_tail(directory: &Path) -> Result<Option<Tear>, JournalError> {
    let mut journals = journals(directory)?;
    let Some((_, last)) = journals.pop() else {
        return Ok(None);
    };
    for (_, journal) in journals {
        let scan = scan(&journal)?;
        if scan.lost > 0 {
            let at = scan.whole;
            return Err(JournalError::Damaged { journal, at });
        }
    }
    let Scan { whole, lost } = scan(&last)?;
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

/// Where the whole batches of a journal end, and how much stands behind them.
struct Scan {
    whole: u64,
    lost: u64,
}

fn scan(journal: &Path) -> io::Result<Scan> {
    let mut batches = Batches {
        reader: BufReader::with_capacity(BLOCK, File::open(journal)?),
        at: 0,
        number: 0,
    };
    let mut whole = 0;
    while batches.batch()? {
        whole = batches.at;
    }
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

struct Batches<R> {
    reader: R,
    at: u64,
    /// Of the batch before; they rise.
    number: u64,
}

impl<R: Read> Batches<R> {
    /// Whether another whole batch stood there.
    fn batch(&mut self) -> io::Result<bool> {
        match self.try_batch() {
            Ok(()) => Ok(true),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::InvalidData
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn try_batch(&mut self) -> io::Result<()> {
        let [tag] = self.take()?;
        expect(tag == START)?;
        let items = u32::from_le_bytes(self.take()?);
        let number = u64::from_le_bytes(self.take()?);
        expect(self.at == HEAD_BYTES || number > self.number)?;
        let mut hash = Xxh3::new();
        for _ in 0..items {
            self.item(&mut hash)?;
        }
        let [tag] = self.take()?;
        expect(tag == END)?;
        let sum = u64::from_le_bytes(self.take()?);
        let trailer: [u8; 4] = self.take()?;
        expect(sum == hash.digest() && trailer == TRAILER)?;
        self.number = number;
        Ok(())
    }

    fn item(&mut self, hash: &mut Xxh3) -> io::Result<()> {
        let [tag] = self.take()?;
        hash.update(&[tag]);
        if tag == CLEAR {
            let keyspace: [u8; 8] = self.take()?;
            hash.update(&keyspace);
            return Ok(());
        }
        expect(tag == ITEM)?;
        // Kind, compression, keyspace; the key's length; the value's, plain and as it stands here.
        let kind: [u8; 10] = self.take()?;
        let key: [u8; 2] = self.take()?;
        let plain: [u8; 4] = self.take()?;
        let stored: [u8; 4] = self.take()?;
        for bytes in [&kind[..], &key, &plain, &stored] {
            hash.update(bytes);
        }
        let length = u64::from(u16::from_le_bytes(key)) + u64::from(u32::from_le_bytes(stored));
        self.skip(length, hash)
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn skip(&mut self, mut length: u64, hash: &mut Xxh3) -> io::Result<()> {
        let mut block = [0; 1 << 13];
        while length > 0 {
            let part = block
                .len()
                .min(usize::try_from(length).unwrap_or(usize::MAX));
            self.reader.read_exact(&mut block[..part])?;
            hash.update(&block[..part]);
            self.at += part as u64;
            length -= part as u64;
        }
        Ok(())
    }
}

fn expect(is_so: bool) -> io::Result<()> {
    if is_so {
        Ok(())
    } else {
        Err(ErrorKind::InvalidData.into())
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

fn path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number}.jnl"))
}
