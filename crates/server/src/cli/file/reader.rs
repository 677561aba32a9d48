//! From bytes to items, format by format.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;

use serde::de::IgnoredAny;
use threadcast_agui::ids::ThreadId;

use super::array;
use super::error::{FileError, Problem};
use super::format::Format;
use super::hub_line::HubLines;
use super::item::{Item, Piece};
use super::lines::{LINE_BYTES_MAX, Lines};
use crate::upstream::sse::{SseError, SseItem, SseReader};

/// A push reader: push bytes, then take items until there are none.
#[derive(Debug)]
pub(super) struct Reader {
    name: String,
    format: Option<Format>,
    lines: Lines,
    sse: SseReader,
    /// Where the block under way begins to have data.
    block: Option<u64>,
    hub: HubLines,
    /// An array, up to now.
    array: String,
    is_done: bool,
    cut_off: Option<u64>,
    items: VecDeque<Item>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';
/// What is shown of a line that is no text.
const BEGINNING_BYTES: usize = 80;
const ONE_A_LINE: &str = "; one event a line is expected, as `jq -c .` writes them";

impl Reader {
    pub(super) fn new(name: String, format: Option<Format>) -> Self {
        Self {
            name,
            format,
            lines: Lines::default(),
            // The size of an event is the judge's business.
            sse: SseReader::new(LINE_BYTES_MAX),
            block: None,
            hub: HubLines::default(),
            array: String::new(),
            is_done: false,
            cut_off: None,
            items: VecDeque::new(),
        }
    }

    pub(super) fn next_item(&mut self) -> Option<Item> {
        self.items.pop_front()
    }

    pub(super) fn format(&self) -> Option<Format> {
        self.format
    }

    pub(super) fn thread(&self) -> Option<&ThreadId> {
        self.hub.thread()
    }

    pub(super) fn has_carriage_returns(&self) -> bool {
        self.format == Some(Format::Sse) && self.lines.has_cr()
    }

    /// Whether the sender said that nothing follows.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    pub(super) fn cut_off(&self) -> Option<u64> {
        self.cut_off
    }

    pub(super) fn io_error(&self, error: &io::Error) -> FileError {
        FileError::of_file(self.name.clone(), Problem::Io(error.to_string().into()))
    }

    /// Reads on.
    ///
    /// # Errors
    /// A line cannot be read; nothing may be pushed after.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), FileError> {
        while !self.is_done {
            match self.lines.take(&mut bytes) {
                Ok(Some((number, line))) => self.line(number, &line, true)?,
                Ok(None) => return Ok(()),
                Err(_) => {
                    let max = LINE_BYTES_MAX;
                    return Err(self.at(self.lines.number(), Problem::LongLine { max }));
                }
            }
        }
        Ok(())
    }

    /// The input ended: what has no line end counts all the same, unless it breaks off.
    ///
    /// # Errors
    /// The last line cannot be read, or there was none.
    pub(super) fn end(&mut self) -> Result<(), FileError> {
        if let Some((number, line)) = self.lines.rest() {
            self.line(number, &line, false)?;
        }
        match self.format {
            None => Err(FileError::of_file(self.name.clone(), Problem::Empty)),
            Some(Format::Array) => self.end_array(),
            Some(Format::Sse) => {
                let block = self.block;
                let ended = self.sse.end();
                self.sse_items(ended, self.lines.number())?;
                self.cut_off = block.filter(|_| self.block.is_some());
                Ok(())
            }
            Some(Format::Ndjson | Format::Hub) => Ok(()),
        }
    }

    fn line(&mut self, number: u64, line: &[u8], is_ended: bool) -> Result<(), FileError> {
        let text = match decode(line, number) {
            Ok(text) => Cow::Borrowed(text),
            // A hub looks at no line without data.
            Err(_) if self.format == Some(Format::Sse) && !line.starts_with(b"data") => {
                String::from_utf8_lossy(line)
            }
            // Within a stream it is the sender's fault, and judged as such.
            Err(Problem::NoText) if self.is_in_stream() => {
                self.no_text(number, line);
                return Ok(());
            }
            Err(problem) => return Err(self.at(number, problem)),
        };
        let text = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) if number == 1 => text,
            _ => &*text,
        };
        let format = match self.format {
            Some(format) => format,
            None if text.trim().is_empty() => {
                // Lines before the array are counted, too.
                self.array.push('\n');
                return Ok(());
            }
            None if text.contains('\0') => return Err(self.at(number, Problem::NoText)),
            None => {
                let format = Format::of_line(text).map_err(|problem| self.at(number, problem))?;
                *self.format.insert(format)
            }
        };
        match format {
            Format::Array => {
                self.array.push_str(text);
                self.array.push('\n');
                Ok(())
            }
            Format::Sse => self.sse_line(number, text),
            Format::Ndjson | Format::Hub if text.trim().is_empty() => Ok(()),
            Format::Ndjson | Format::Hub => self.json_line(number, text, is_ended),
        }
    }

    fn json_line(&mut self, number: u64, text: &str, is_ended: bool) -> Result<(), FileError> {
        match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => {}
            Err(error) if error.is_eof() && !is_ended => {
                self.cut_off = Some(number);
                return Ok(());
            }
            Err(error) => {
                let hint = if error.is_eof() { ONE_A_LINE } else { "" };
                return Err(self.at(number, Problem::no_json(&error, hint)));
            }
        }
        let piece = if self.format == Some(Format::Hub) {
            let read = self.hub.read(text);
            read.map_err(|problem| self.at(number, problem))?
        } else {
            Some(Piece::Event { json: text.into() })
        };
        let item = |piece| Item {
            line: number,
            piece,
        };
        self.items.extend(piece.map(item));
        Ok(())
    }

    fn sse_line(&mut self, number: u64, text: &str) -> Result<(), FileError> {
        if text == "data" || text.starts_with("data:") {
            self.block.get_or_insert(number);
        }
        let pushed = self
            .sse
            .push(text.as_bytes())
            .and_then(|()| self.sse.push(b"\n"));
        self.sse_items(pushed, number)?;
        if text.is_empty() {
            self.block = None;
        }
        Ok(())
    }

    fn sse_items(&mut self, read: Result<(), SseError>, number: u64) -> Result<(), FileError> {
        read.map_err(|error| match error {
            SseError::NoText { .. } => self.at(number, Problem::NoText),
            SseError::TooLarge { max, .. } => self.at(number, Problem::LongLine { max }),
        })?;
        while let Some(item) = self.sse.next_item() {
            let line = self.block.take().unwrap_or(number);
            let piece = match item {
                SseItem::Data(json) => Piece::Event { json: json.into() },
                SseItem::Done => Piece::Done,
            };
            self.is_done |= piece == Piece::Done;
            self.items.push_back(Item { line, piece });
        }
        Ok(())
    }

    fn end_array(&mut self) -> Result<(), FileError> {
        let text = std::mem::take(&mut self.array);
        let elements = array::elements(&text)
            .map_err(|problem| FileError::of_file(self.name.clone(), problem))?;
        let items = elements.into_iter().map(|(line, json)| Item {
            line,
            piece: Piece::Event { json },
        });
        self.items.extend(items);
        Ok(())
    }

    /// Whether events come one by one, and the first of them was told from other input.
    fn is_in_stream(&self) -> bool {
        matches!(self.format, Some(Format::Sse | Format::Ndjson))
    }

    /// Nothing behind such a line is read.
    fn no_text(&mut self, number: u64, line: &[u8]) {
        let line_beginning = &line[..line.len().min(BEGINNING_BYTES)];
        let beginning = String::from_utf8_lossy(line_beginning).into();
        self.items.push_back(Item {
            line: self.block.take().unwrap_or(number),
            piece: Piece::NoText { beginning },
        });
        self.is_done = true;
    }

    fn at(&self, line: u64, problem: Problem) -> FileError {
        FileError::of_line(self.name.clone(), line, problem)
    }
}

/// The text of a line; a byte order mark of UTF-16 stands on the first.
fn decode(line: &[u8], number: u64) -> Result<&str, Problem> {
    let text = std::str::from_utf8(line).map_err(|_| match line {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] if number == 1 => Problem::Utf16,
        _ => Problem::NoText,
    })?;
    Ok(text)
}
