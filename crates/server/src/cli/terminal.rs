//! The terminal of a command: styled text out, lines in, and what is said when nobody listens any
//! more.
//!
//! Invariant: nothing an agent or a hub says reaches a terminal with characters it would obey.

use std::io::{self, IsTerminal as _, Write as _};

use clap::Args;

use super::render::{Segment, clean, clean_line, is_obeyed};

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
    is_terminal: bool,
}

/// The reader of the output has gone, for example `head`: the command ends, and that is no failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    #[error("nobody reads the output any more")]
    Closed,
    #[error("the output cannot be written")]
    Io(#[source] io::Error),
}

/// Columns of what is no terminal.
const COLUMNS: usize = 160;

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
        let is_terminal = io::stdout().is_terminal();
        Self {
            has_colour: !is_unwanted && is_terminal,
            is_terminal,
        }
    }

    /// Output that is data, never coloured.
    pub(crate) fn plain() -> Self {
        Self {
            has_colour: false,
            is_terminal: io::stdout().is_terminal(),
        }
    }

    /// Columns of the terminal; a sensible number where there is none.
    pub(crate) fn width(&self) -> usize {
        let size = self
            .is_terminal
            .then(terminal_size::terminal_size)
            .flatten();
        size.map_or(COLUMNS, |(width, _)| width.0.into())
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
        self.write_text(&format!("{}\n", clean(text)))
    }

    /// A line of JSON: as it is for programs, the same value in safe characters on a terminal.
    ///
    /// # Errors
    /// Nobody reads any more, or the write failed.
    pub(crate) fn json_line(&self, json: &str) -> Result<(), OutputError> {
        if self.is_terminal {
            self.write_text(&format!("{}\n", escaped(json)))
        } else {
            self.write_text(&format!("{json}\n"))
        }
    }

    fn write_text(&self, text: &str) -> Result<(), OutputError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }
}

/// JSON with what a terminal would obey escaped; outside strings nothing of it can stand.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_obeyed(c) {
            text.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            text.push(c);
        }
    }
    text
}

/// Tells a person something beside the output: a line on standard error.
pub(crate) fn tell(text: &str) {
    tell_to(&mut io::stderr().lock(), text);
}

fn tell_to(to: &mut impl io::Write, text: &str) {
    // There is nobody left to be told that nobody can be told.
    let _nobody_listens = writeln!(to, "{}", clean(text));
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
    ask_in(&mut io::stderr().lock(), &mut io::stdin().lock(), question)
}

fn ask_in(
    to: &mut impl io::Write,
    from: &mut impl io::BufRead,
    question: &str,
) -> io::Result<Option<String>> {
    to.write_all(clean_line(question).as_bytes())?;
    to.flush()?;
    let mut line = String::new();
    let length = from.read_line(&mut line)?;
    Ok((length > 0).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_told_or_asked_is_obeyed() {
        let said = "pay\u{1b}[2J\u{1b}]0;owned\u{7} \u{202e}1\u{2066}\nno";
        let harmless = "pay\u{fffd}[2J\u{fffd}]0;owned\u{fffd} \u{fffd}1\u{fffd}";
        let mut told = Vec::new();
        tell_to(&mut told, said);
        assert_eq!(
            String::from_utf8(told).unwrap(),
            format!("{harmless}\nno\n")
        );
        let mut asked = Vec::new();
        ask_in(&mut asked, &mut "y\n".as_bytes(), said).unwrap();
        assert_eq!(
            String::from_utf8(asked).unwrap(),
            format!("{harmless} no"),
            "a question is one line"
        );
    }

    #[test]
    fn json_on_a_terminal_is_the_same_value_in_characters_it_does_not_obey() {
        let json = "{\"a\":\"\u{9b}2J\u{7f}\u{202e}x\u{2066}ü\"}";
        let shown = escaped(json);
        assert_eq!(shown, r#"{"a":"\u009b2J\u007f\u202ex\u2066ü"}"#);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&shown), value(json));
    }
}
