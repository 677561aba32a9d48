//! How an input is written, told by its first line.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::Problem;
use crate::cli::render::clean_line;

/// How an input is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(in crate::cli) enum Format {
    /// One AG-UI event a line
    Ndjson,
    /// An event stream (`data: …`) as agents answer with it
    Sse,
    /// Frames of a hub, one a line, as `threadcast watch --json` prints them; or lines with `seq`
    /// and `event`
    Hub,
    /// One JSON array of events; read to its end before anything is said
    Array,
}

impl Format {
    /// What the first line that is not blank looks like.
    ///
    /// # Errors
    /// It looks like nothing that is read here.
    pub(super) fn of_line(line: &str) -> Result<Self, Problem> {
        let line = line.trim_start();
        match line.as_bytes() {
            [b'[', ..] => Ok(Self::Array),
            [b'{', ..] if is_of_hub(line) => Ok(Self::Hub),
            [b'{', ..] => Ok(Self::Ndjson),
            _ if is_field(line) => Ok(Self::Sse),
            _ if line.starts_with("HTTP/") => Err(Problem::HttpHead),
            _ => Err(Problem::Unknown {
                beginning: beginning(line).into(),
            }),
        }
    }
}

/// Whether it is a line of an event stream: a comment or a known field.
fn is_field(line: &str) -> bool {
    let name = line.split_once(':').map_or(line, |(name, _)| name);
    matches!(name, "" | "data" | "event" | "id" | "retry")
}

/// Whether an object is a frame, or an entry with its seq; an event has a `type`.
fn is_of_hub(line: &str) -> bool {
    #[derive(Deserialize)]
    struct Marks<'a> {
        #[serde(borrow)]
        op: Option<&'a RawValue>,
        #[serde(borrow)]
        r#type: Option<&'a RawValue>,
        #[serde(borrow)]
        seq: Option<&'a RawValue>,
    }
    serde_json::from_str::<Marks<'_>>(line)
        .is_ok_and(|marks| marks.r#type.is_none() && (marks.op.is_some() || marks.seq.is_some()))
}

const BEGINNING_CHARS: usize = 60;

fn beginning(line: &str) -> String {
    match line.char_indices().nth(BEGINNING_CHARS) {
        Some((end, _)) => format!("{}…", clean_line(&line[..end])),
        None => clean_line(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_the_format() {
        for (line, format) in [
            (r#"{"type":"RUN_STARTED","op":"x","seq":1}"#, Format::Ndjson),
            (r#" {"detail":"Not found"}"#, Format::Ndjson),
            (
                r#"{"op":"event","threadId":"t","seq":1,"event":{}}"#,
                Format::Hub,
            ),
            (r#"{"seq":1,"event":{"type":"RUN_STARTED"}}"#, Format::Hub),
            ("data: {}", Format::Sse),
            ("data:{}", Format::Sse),
            (": hello", Format::Sse),
            ("id: 7", Format::Sse),
            ("retry:3", Format::Sse),
            ("[", Format::Array),
            ("  [{}]", Format::Array),
        ] {
            assert_eq!(Format::of_line(line), Ok(format), "{line}");
        }
        assert_eq!(Format::of_line("HTTP/1.1 200 OK"), Err(Problem::HttpHead));
        for line in ["hello", "<html>", "7", "name: value"] {
            assert!(
                matches!(Format::of_line(line), Err(Problem::Unknown { .. })),
                "{line}"
            );
        }
    }
}
