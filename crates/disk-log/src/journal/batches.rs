//! The batches of a journal, one after another, each held against its checksum.
//!
//! The format is that of `fjall` 3; its version is checked by the database.

use std::io::{self, ErrorKind, Read};

use xxhash_rust::xxh3::Xxh3;

/// Ends the closing of every batch.
const TRAILER: [u8; 4] = [b'F', b'J', b'L', 3];

/// Bytes with which a batch begins: a tag, how many lines, its number.
const HEAD_BYTES: u64 = 13;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;

/// Behind a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) at: u64,
    /// Of the batch before; they rise.
    number: u64,
}

/// The end of the whole batches that follow each other from that place on, where `reader` stands.
///
/// # Errors
/// The journal cannot be read.
pub(super) fn whole_end(reader: impl Read, from: Place) -> io::Result<Place> {
    let mut batches = Batches {
        reader,
        at: from.at,
        number: from.number,
    };
    let mut end = from;
    while batches.batch()? {
        end = Place {
            at: batches.at,
            number: batches.number,
        };
    }
    Ok(end)
}

struct Batches<R> {
    reader: R,
    at: u64,
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
