//! `threadcast compact`: a stream in fewer bytes, for whoever held what stood before it.

use std::process::ExitCode;

use clap::Args;

use super::check::{unreadable, unwritten};
use super::file::{FileArgs, FileError, Format, History, Stop, Violation};
use super::fold::tell_violation;
use super::hub::quietly;
use super::terminal::{Output, tell};

mod events;
mod frames;
mod proof;

use proof::Differs;

/// Print a stream in fewer events that amount to the same, one a line.
///
/// Lines of a hub become `events` frames, with facts in their place; any other stream becomes
/// events, with chunks expanded. What is printed was folded again and compared. Exit codes: 0, 1
/// when the stream breaks a rule, 2 when the input cannot be read.
#[derive(Debug, Args)]
pub struct CompactArgs {
    #[command(flatten)]
    file: FileArgs,
}

/// A stream in fewer bytes.
#[derive(Debug)]
struct Compacted {
    lines: Vec<String>,
    before: Size,
    after: Size,
}

/// Events and facts, and the bytes of their JSON.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    entries: usize,
    bytes: usize,
}

impl Size {
    fn add(&mut self, json: &str) {
        self.entries += 1;
        self.bytes += json.len();
    }
}

/// Why a stream is not compacted.
#[derive(Debug)]
enum Refusal {
    Unreadable(FileError),
    Violation(Box<Violation>),
    Differs(Differs),
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Unreadable(error) => Self::Unreadable(error),
            Stop::Violation(violation) => Self::Violation(violation),
        }
    }
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        Self::Unreadable(error)
    }
}

impl From<Differs> for Refusal {
    fn from(differs: Differs) -> Self {
        Self::Differs(differs)
    }
}

pub fn run(args: &CompactArgs) -> anyhow::Result<ExitCode> {
    match compact(&args.file) {
        Ok(compacted) => Ok(quietly(print(&compacted)).unwrap_or_else(|error| unwritten(&error))),
        Err(Refusal::Unreadable(error)) => Ok(unreadable(&error)),
        Err(Refusal::Violation(violation)) => {
            tell_violation(&args.file.name(), &violation);
            Ok(ExitCode::FAILURE)
        }
        Err(Refusal::Differs(differs)) => Err(differs.into()),
    }
}

fn print(compacted: &Compacted) -> anyhow::Result<ExitCode> {
    let output = Output::plain();
    for line in &compacted.lines {
        output.json_line(line)?;
    }
    let Compacted { before, after, .. } = compacted;
    let percent = after.bytes * 100 / before.bytes.max(1);
    tell(&format!(
        "{} entries in {} bytes became {} in {} bytes ({percent}%)",
        before.entries, before.bytes, after.entries, after.bytes
    ));
    Ok(ExitCode::SUCCESS)
}

fn compact(file: &FileArgs) -> Result<Compacted, Refusal> {
    let mut input = file.open()?;
    let mut history = History::new(file.name());
    // The first item tells the format.
    let Some(first) = input.next()? else {
        return Err(file.without_event().into());
    };
    match input.format() {
        Some(Format::Hub) => frames::compact(first, &mut input, &mut history),
        _ => events::compact(first, &mut input, &mut history),
    }
}
