//! `threadcast fold`: what a stream amounts to for a client that followed it.

use std::process::ExitCode;

use clap::Args;

use super::check::{unreadable, unwritten};
use super::file::{FileArgs, FileError, History, Stop, Violation};
use super::terminal::{ColourArgs, Output, OutputError, tell};

mod page;
mod value;

/// Show what an AG-UI stream amounts to: messages, state, open questions, pending tool calls.
///
/// What a client holds that began empty and followed the stream. A stream that breaks a rule is
/// folded up to there. Exit codes: 0, 1 when the stream breaks a rule, 2 when the input cannot be
/// read or has nothing at --at.
#[derive(Debug, Args)]
pub struct FoldArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Stop after this event, counted from 1; after this seq where lines have one
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    at: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    colour: ColourArgs,
}

pub fn run(args: &FoldArgs) -> anyhow::Result<ExitCode> {
    let (history, violation) = match follow(args) {
        Ok(followed) => followed,
        Err(error) => return Ok(unreadable(&error)),
    };
    let output = Output::new(&args.colour);
    let written = if args.json {
        output.json_line(&value::of(&history))
    } else {
        output.write(&page::lines(&args.file.name(), &history))
    };
    match written {
        Ok(()) | Err(OutputError::Closed) => {}
        Err(error) => return Ok(unwritten(&error.into())),
    }
    Ok(match violation {
        None => ExitCode::SUCCESS,
        Some(violation) => {
            tell_violation(&args.file.name(), &violation);
            ExitCode::FAILURE
        }
    })
}

/// Says where a stream breaks a rule.
pub(super) fn tell_violation(file: &str, violation: &Violation) {
    let Violation {
        line,
        place,
        rule,
        message,
        ..
    } = violation;
    tell(&format!(
        "threadcast: {file}:{line}: {place} breaks rule `{rule}`: {message}"
    ));
}

/// Folds up to where it is asked, or to the first event that breaks a rule.
fn follow(args: &FoldArgs) -> Result<(History, Option<Violation>), FileError> {
    let mut input = args.file.open()?;
    let mut history = History::new(args.file.name());
    while args.at != Some(history.at()) {
        let Some(item) = input.next()? else {
            break;
        };
        if let Some(at) = args.at {
            args.file.must_part_at(&item, at)?;
        }
        match history.take(&item, |_| {}) {
            Ok(()) => {}
            Err(Stop::Unreadable(error)) => return Err(error),
            Err(Stop::Violation(violation)) => return Ok((history, Some(*violation))),
        }
    }
    match args.at {
        _ if history.at() == 0 => Err(args.file.without_event()),
        Some(asked) if asked != history.at() => Err(args.file.past_the_end(history.at(), asked)),
        _ => Ok((history, None)),
    }
}
