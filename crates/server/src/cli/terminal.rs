//! The terminal of a command: styled text out, lines in, and what is said when nobody listens any
//! more.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;

use super::render::Segment;

/// Whether output is coloured.
#[derive(Debug, Args)]
pub(crate) struct ColourArgs {
    /// Write without colours; they are used only on a terminal anyway
    #[arg(long, env = "NO_COLOR", hide_env_values = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "1", value_name = "ANY", hide_possible_values = true)]
    no_color: Option<String>,
}

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    has_colour: bool,
}

/// The reader of the output has gone, for example `head`: the command ends, and that is no failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    #[error("nobody reads the output any more")]
    Closed,
    #[error("the output cannot be written")]
    Io(#[source] io::Error),
}

impl From<io::Error> for OutputError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

impl Output {
    pub(crate) fn new(colour: &ColourArgs) -> Self {
        // The convention counts any value but the empty one.
        let is_unwanted = colour
            .no_color
            .as_deref()
            .is_some_and(|value| !value.is_empty());
        Self {
            has_colour: !is_unwanted && io::stdout().is_terminal(),
        }
    }

    /// Writes at once, so that text appears as it grows.
    ///
    /// # Errors
    /// Nobody reads any more, or the write failed.
    pub(crate) fn write(&self, segments: &[Segment]) -> Result<(), OutputError> {
        if segments.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for segment in segments {
            match segment.style.ansi().filter(|_| self.has_colour) {
                Some(begin) => text.extend([begin, &segment.text, "\x1b[0m"]),
                None => text.push_str(&segment.text),
            }
        }
        self.write_text(&text)
    }

    /// # Errors
    /// Nobody reads any more, or the write failed.
    pub(crate) fn line(&self, text: &str) -> Result<(), OutputError> {
        self.write_text(&format!("{text}\n"))
    }

    fn write_text(&self, text: &str) -> Result<(), OutputError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }
}

/// Whether a person can be asked.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal()
}

/// Asks on standard error, so that output stays clean, and reads one line; `None` at the end of the
/// input.
///
/// # Errors
/// The terminal cannot be read or written.
pub(crate) fn ask(question: &str) -> io::Result<Option<String>> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(question.as_bytes())?;
    stderr.flush()?;
    let mut line = String::new();
    let length = io::stdin().lock().read_line(&mut line)?;
    Ok((length > 0).then_some(line))
}
