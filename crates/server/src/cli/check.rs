//! `threadcast check`: judges the stream of an agent as the hub would, and points at what is wrong.

use std::process::ExitCode;

use clap::Args;

use super::file::{FileArgs, FileError, Input, Piece, Stop};
use super::tell_failure;
use super::terminal::{ColourArgs, Output, OutputError, tell};

mod page;
mod survey;
mod verdict;
mod warnings;

use survey::Survey;
use verdict::{Outcome, Verdict};

/// Judge an AG-UI stream as the hub judges an agent's.
///
/// Tells the first event that breaks a rule, with its line and the rule, or what a legal stream
/// amounts to. With `-` it judges while the stream comes: `curl -N … | threadcast check -`. Exit
/// codes: 0 for a legal stream, 1 for one that breaks a rule or breaks off, 2 when the input cannot
/// be read or the verdict cannot be written.
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Print the verdict as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    colour: ColourArgs,
}

/// The input cannot be read, or what it amounts to cannot be written: no verdict.
pub(super) const NO_VERDICT: u8 = 2;

pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let verdict = match examine(args) {
        Ok(verdict) => verdict,
        Err(error) => return Ok(unreadable(&error)),
    };
    let output = Output::new(&args.colour);
    let written = if args.json {
        output.json_line(&serde_json::to_string(&verdict)?)
    } else {
        output.write(&page::lines(&verdict, output.width()))
    };
    // The exit code is the verdict, whoever reads the rest.
    match written {
        Ok(()) | Err(OutputError::Closed) => Ok(verdict.exit_code()),
        Err(error) => Ok(unwritten(&error.into())),
    }
}

/// Says why an output could not be written.
pub(super) fn unwritten(error: &anyhow::Error) -> ExitCode {
    tell_failure(error);
    ExitCode::from(NO_VERDICT)
}

/// Says why an input cannot be read.
pub(super) fn unreadable(error: &FileError) -> ExitCode {
    tell(&format!("threadcast: {error}"));
    ExitCode::from(NO_VERDICT)
}

fn examine(args: &CheckArgs) -> Result<Verdict, FileError> {
    let mut input = args.file.open()?;
    let mut survey = Survey::new(args.file.name());
    let outcome = loop {
        let Some(item) = input.next()? else {
            break survey.outcome();
        };
        match survey.take(&item) {
            Ok(()) => {}
            Err(Stop::Unreadable(error)) => return Err(error),
            Err(Stop::Violation(violation)) => break Outcome::Broken(*violation),
        }
        if item.piece == Piece::Done {
            survey.warnings.note(
                item.line,
                "`[DONE]` is no event, and AG-UI's published client fails on it",
            );
        }
    };
    if survey.is_empty() && !matches!(outcome, Outcome::Broken(_)) {
        return Err(args.file.without_event());
    }
    note_input(&input, &mut survey);
    Ok(survey.into_verdict(input.format(), outcome))
}

/// What the input itself gives to say.
fn note_input(input: &Input, survey: &mut Survey) {
    if input.has_carriage_returns() {
        let text = "lines end in CR LF or CR, and AG-UI's published client reads LF alone";
        survey.warnings.note(1, text);
    }
    if let Some(line) = input.cut_off() {
        let text = "the input breaks off inside this event, which therefore was never said";
        survey.warnings.note(line, text);
    }
}
