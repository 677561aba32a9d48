//! Why an input cannot be read as a stream of events, with the place.

use std::fmt;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::position::Seq;

/// What is wrong with an input, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct FileError {
    name: String,
    /// From 1; absent for the whole input.
    line: Option<u64>,
    problem: Problem,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum Problem {
    #[error("there is no such file")]
    Absent,
    #[error("it cannot be read: {0}")]
    Io(Box<str>),
    #[error("it is empty")]
    Empty,
    #[error("it holds no event")]
    NoEvent,
    #[error("no text in UTF-8; compressed and binary input is not read")]
    NoText,
    #[error("no text in UTF-8 but in UTF-16; save it as UTF-8")]
    Utf16,
    #[error("the line is longer than {max} bytes")]
    LongLine { max: usize },
    #[error(
        "neither an event a line, nor an event stream (`data: …`), nor frames of a hub, nor an \
         array of events: `{beginning}`"
    )]
    Unknown { beginning: Box<str> },
    #[error("the head of an HTTP response; only its body is read (`curl` without `-i`)")]
    HttpHead,
    #[error("no JSON at column {column}: {reason}{hint}")]
    NoJson {
        column: usize,
        reason: Box<str>,
        hint: &'static str,
    },
    #[error("no array of events: {0}")]
    NoArray(Box<str>),
    #[error("no line of a hub: {0}")]
    NoFrame(Box<str>),
    #[error("a piece of a frame comes without the pieces before it")]
    LostPart,
    #[error("a frame of thread `{found}` among those of `{expected}`; give the lines of one")]
    OtherThread { expected: ThreadId, found: ThreadId },
    #[error("entry {found} comes where {expected} belongs")]
    Gap { expected: Seq, found: Seq },
    #[error(
        "it begins in the middle of a thread, at entry {found}; what it stands on is needed: \
         everything from entry 1, or a baseline"
    )]
    MidThread { found: Seq },
    #[error("it ends at {last}, so nothing stands at {asked}")]
    PastTheEnd { last: u64, asked: u64 },
    #[error("entries {from} to {seq} come as one step, so nothing stands at {asked}")]
    InsideStep { from: Seq, seq: Seq, asked: u64 },
}

impl Problem {
    /// A line that is no JSON; its own line number says nothing, so it is left out.
    pub(super) fn no_json(error: &serde_json::Error, hint: &'static str) -> Self {
        let (column, text) = (error.column(), error.to_string());
        let position = format!(" at line {} column {column}", error.line());
        Self::NoJson {
            column,
            reason: text.strip_suffix(&position).unwrap_or(&text).into(),
            hint,
        }
    }
}

impl FileError {
    pub(in crate::cli) fn of_file(name: String, problem: Problem) -> Self {
        Self {
            name,
            line: None,
            problem,
        }
    }

    pub(in crate::cli) fn of_line(name: String, line: u64, problem: Problem) -> Self {
        Self {
            name,
            line: Some(line),
            problem,
        }
    }

    #[cfg(test)]
    pub(super) fn problem(&self) -> (Option<u64>, &Problem) {
        (self.line, &self.problem)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.name, self.problem),
            None => write!(f, "{}: {}", self.name, self.problem),
        }
    }
}

impl std::error::Error for FileError {}
