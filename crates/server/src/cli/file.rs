//! AG-UI that stands in a file or comes through a pipe.
//!
//! Bytes in, items with their line out, as soon as a line is complete: a stream of a living agent is
//! judged while it comes. It judges no event; what it refuses cannot be read as a stream at all.
//!
//! Invariant: how the bytes were cut never changes the items, and what stands before a line that
//! cannot be read is given out first.

mod array;
mod error;
mod format;
mod history;
mod hub_line;
mod item;
mod lines;
mod reader;
mod unapplied;

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;

pub(super) use error::FileError;
use error::Problem;
pub(super) use format::Format;
pub(super) use history::{History, Place, Stop, Taken, Violation};
pub(super) use item::{EntryBody, Item, Piece};
use reader::Reader;
use threadcast_agui::ids::ThreadId;

/// Which input, and how it is written.
#[derive(Debug, Args)]
pub(super) struct FileArgs {
    /// The file; `-` reads standard input as it comes
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// How the file is written; by default it is told by looking
    #[arg(long, value_enum)]
    format: Option<Format>,
}

const CHUNK_BYTES: usize = 64 << 10;

/// An input that is being read.
pub(super) struct Input {
    bytes: Box<dyn Read>,
    reader: Reader,
    chunk: Vec<u8>,
    has_ended: bool,
    failed: Option<FileError>,
}

impl FileArgs {
    /// How messages name the input.
    pub(super) fn name(&self) -> String {
        if self.is_stdin() {
            "<stdin>".to_owned()
        } else {
            self.path.display().to_string()
        }
    }

    fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Opens the input.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read.
    pub(super) fn open(&self) -> Result<Input, FileError> {
        let bytes: Box<dyn Read> = if self.is_stdin() {
            Box::new(io::stdin().lock())
        } else {
            Box::new(File::open(&self.path).map_err(|error| self.unreadable(&error))?)
        };
        Ok(Input {
            bytes,
            reader: Reader::new(self.name(), self.format),
            chunk: vec![0; CHUNK_BYTES],
            has_ended: false,
            failed: None,
        })
    }

    /// The input holds nothing to judge or fold.
    pub(super) fn without_event(&self) -> FileError {
        FileError::of_file(self.name(), Problem::NoEvent)
    }

    /// The input ends at `last`, before what is asked for.
    pub(super) fn past_the_end(&self, last: u64, asked: u64) -> FileError {
        FileError::of_file(self.name(), Problem::PastTheEnd { last, asked })
    }

    /// Whether the item can be followed as far as `at`: it does not lead past it in one step.
    ///
    /// # Errors
    /// It does.
    pub(super) fn must_part_at(&self, item: &Item, at: u64) -> Result<(), FileError> {
        match item.piece {
            Piece::Range { from, seq, .. } if seq.get() > at => {
                let asked = at;
                let problem = Problem::InsideStep { from, seq, asked };
                Err(FileError::of_line(self.name(), item.line, problem))
            }
            _ => Ok(()),
        }
    }

    fn unreadable(&self, error: &io::Error) -> FileError {
        let problem = match error.kind() {
            io::ErrorKind::NotFound => Problem::Absent,
            _ => Problem::Io(error.to_string().into()),
        };
        FileError::of_file(self.name(), problem)
    }
}

impl Input {
    /// The next item; `None` at the end. Waits while a pipe is silent.
    ///
    /// # Errors
    /// The input cannot be read on; asked again it says the same.
    pub(super) fn next(&mut self) -> Result<Option<Item>, FileError> {
        loop {
            if let Some(item) = self.reader.next_item() {
                return Ok(Some(item));
            }
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            if self.has_ended {
                return Ok(None);
            }
            if let Err(error) = self.read_on() {
                self.failed = Some(error);
            }
        }
    }

    fn read_on(&mut self) -> Result<(), FileError> {
        let length = match self.bytes.read(&mut self.chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            read => read.map_err(|error| self.reader.io_error(&error))?,
        };
        if length == 0 {
            self.has_ended = true;
            return self.reader.end();
        }
        self.reader.push(&self.chunk[..length])?;
        self.has_ended |= self.reader.is_done();
        Ok(())
    }

    /// How the input is written; known from its first line on.
    pub(super) fn format(&self) -> Option<Format> {
        self.reader.format()
    }

    /// The thread whose frames these are; none where lines name none.
    pub(super) fn thread(&self) -> Option<&ThreadId> {
        self.reader.thread()
    }

    /// Whether lines of an event stream end in a carriage return, which the published client does
    /// not read.
    pub(super) fn has_carriage_returns(&self) -> bool {
        self.reader.has_carriage_returns()
    }

    /// The line whose event was never completed, if the input broke off inside one.
    pub(super) fn cut_off(&self) -> Option<u64> {
        self.reader.cut_off()
    }
}

/// Follows lines of this program's own making.
///
/// # Errors
/// As reading and following a file.
pub(super) fn follow_lines(
    history: &mut History,
    format: Format,
    lines: &[String],
) -> Result<(), Stop> {
    let mut reader = Reader::new("compacted".to_owned(), Some(format));
    for line in lines {
        reader.push(line.as_bytes())?;
        reader.push(b"\n")?;
        while let Some(item) = reader.next_item() {
            history.take(&item, |_| {})?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
