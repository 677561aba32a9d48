//! A thread's log as lines of JSON: to be kept elsewhere, read by other programs, imported again
//! (docs/protocol.md §16).
//!
//! The first line says what follows, then an entry a line, as it stands in the log. Reading is
//! strict: what is missing, doubled or unknown is an error with its line, for a log that was read
//! half is another log. What entries mean is not judged here; see [`import`](crate::import).
//!
//! Invariant: entries come with the seqs that the first line says, without a gap.

mod agui;
mod line;

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::JsonError;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::position::{Epoch, Seq};

pub use agui::AguiExport;
pub use line::entry_line;

/// The version of the form.
pub const EXPORT_VERSION: u32 = 1;

/// Longest line in bytes: a checkpoint of the longest conversation, as text inside a JSON string.
pub const EXPORT_LINE_BYTES_MAX: usize = 128 << 20;

/// The first line of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportHead {
    /// The version of the form, [`EXPORT_VERSION`].
    pub threadcast: u32,
    pub thread_id: ThreadId,
    /// The epochs that the log knows, oldest first, each with its first seq.
    pub epochs: Vec<(Epoch, Seq)>,
    /// The seq of the first entry; `last + 1` if there is none.
    pub first: Seq,
    /// The seq of the last entry.
    pub last: Seq,
    /// Whether facts have their private parts; an export without them is not imported.
    pub private: bool,
    /// The fold before `first`, if entries in front of it are no longer kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
}

impl ExportHead {
    /// The line, without a line break.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("ids, numbers and text are JSON")
    }
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ExportError {
    /// Counted from 1; behind the last one if the file ends too early.
    pub line: u64,
    #[source]
    pub problem: ExportProblem,
}

/// Why a line is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ExportProblem {
    #[error("an entry has neither one event nor one fact")]
    Body,
    #[error("class `{name}` is not known")]
    Class { name: Box<str> },
    #[error("the export ends before entry {expected}, its last is {last}")]
    EndsEarly { expected: Seq, last: Seq },
    #[error("entries begin at {first} and end at {last}")]
    Extent { first: Seq, last: Seq },
    #[error("it is not the JSON object it should be: {0}")]
    Json(#[from] serde_json::Error),
    #[error("entry {seq} comes behind the last one, {last}")]
    More { seq: Seq, last: Seq },
    #[error("the export has no line")]
    NoHead,
    #[error("entry {found} comes where entry {expected} is expected")]
    Seq { expected: Seq, found: Seq },
    #[error("it is {found} bytes long, at most {max} are allowed")]
    TooLong { found: usize, max: usize },
    #[error("its event or fact cannot be kept: {0}")]
    Value(#[from] JsonError),
    #[error("it is of export version {found}, known is {known}")]
    Version { found: u32, known: u32 },
}

/// Reads an export line by line.
#[derive(Debug, Default)]
pub struct ExportReader {
    /// Lines taken.
    lines: u64,
    /// The seqs of the entry that comes next, and of the last; none before the first line.
    extent: Option<(Seq, Seq)>,
}

/// What a line is.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    Entry(Entry),
    Head(ExportHead),
}

#[derive(Deserialize)]
struct AnyHead {
    threadcast: u32,
}

impl ExportReader {
    pub fn new() -> Self {
        Self::default()
    }

    /// Lines taken so far, the refused one included.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Takes the next line, without its line break.
    ///
    /// # Errors
    /// It is none of an export, of a later version, or not the one that comes next.
    pub fn take(&mut self, line: &str) -> Result<Taken, ExportError> {
        self.lines += 1;
        self.read(line).map_err(|problem| self.error(problem))
    }

    fn read(&mut self, line: &str) -> Result<Taken, ExportProblem> {
        let (found, max) = (line.len(), EXPORT_LINE_BYTES_MAX);
        if found > max {
            return Err(ExportProblem::TooLong { found, max });
        }
        match self.extent {
            None => self.read_head(line).map(Taken::Head),
            Some((expected, last)) => {
                let entry = line::read(line)?;
                let found = entry.seq;
                if found != expected {
                    return Err(ExportProblem::Seq { expected, found });
                }
                if found > last {
                    return Err(ExportProblem::More { seq: found, last });
                }
                self.extent = Some((found.next(), last));
                Ok(Taken::Entry(entry))
            }
        }
    }

    fn read_head(&mut self, line: &str) -> Result<ExportHead, ExportProblem> {
        // What else a later version says is not known.
        let AnyHead { threadcast: found } = serde_json::from_str(line)?;
        if found != EXPORT_VERSION {
            let known = EXPORT_VERSION;
            return Err(ExportProblem::Version { found, known });
        }
        let head: ExportHead = serde_json::from_str(line)?;
        let (first, last) = (head.first, head.last);
        let is_extent = Seq::ZERO < first && last < Seq::MAX && first.get() - 1 <= last.get();
        if !is_extent {
            return Err(ExportProblem::Extent { first, last });
        }
        self.extent = Some((first, last));
        Ok(head)
    }

    /// Whether it was all: to be asked when there are no more lines.
    ///
    /// # Errors
    /// Entries are missing.
    pub fn finish(&self) -> Result<(), ExportError> {
        let problem = match self.extent {
            Some((next, last)) if next > last => return Ok(()),
            Some((expected, last)) => ExportProblem::EndsEarly { expected, last },
            None => ExportProblem::NoHead,
        };
        Err(ExportError {
            line: self.lines + 1,
            problem,
        })
    }

    fn error(&self, problem: ExportProblem) -> ExportError {
        ExportError {
            line: self.lines,
            problem,
        }
    }
}
