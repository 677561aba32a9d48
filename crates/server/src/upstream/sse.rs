//! Reads an agent's event stream: bytes in, the `data` of each event out.
//!
//! Tolerant of every line end, a byte order mark, comments, foreign fields, split characters and a
//! last event without its blank line (docs/protocol.md §14.1). It knows no AG-UI and no socket, and
//! holds one event at most.
//!
//! Invariant: how the bytes were cut into chunks never changes what comes out.

use std::collections::VecDeque;

use serde::de::IgnoredAny;

/// Why a stream of bytes cannot be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseError {
    #[error("event {event} of the stream, with its framing, is longer than {max} bytes")]
    TooLarge { event: u64, max: usize },
    #[error("event {event} of the stream breaks rule `event-shape`: it is no UTF-8")]
    NoText { event: u64 },
}

/// What is read next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SseItem {
    /// The joined `data` lines of one event.
    Data(String),
    /// `data: [DONE]`: the sender says that nothing follows.
    Done,
}

/// A push parser: [`SseReader::push`] bytes, then take items until there are none.
#[derive(Debug)]
pub(crate) struct SseReader {
    event_bytes_max: usize,
    /// The line under way, without its end.
    line: Vec<u8>,
    /// The data of the event under way; `None` until its first `data` line.
    data: Option<Vec<u8>>,
    place: Place,
    /// Events that were read whole.
    events: u64,
    items: VecDeque<SseItem>,
}

/// Where in the stream the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the first line, which may begin with a byte order mark.
    Start,
    Line,
    /// After a CR: an LF that follows belongs to the same line end.
    AfterCr,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
const DONE: &str = "[DONE]";

impl SseReader {
    /// `event_bytes_max` bounds one event's data, and one line of anything.
    pub(crate) fn new(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            line: Vec::new(),
            data: None,
            place: Place::Start,
            events: 0,
            items: VecDeque::new(),
        }
    }

    /// Reads on.
    ///
    /// # Errors
    /// An event is too long or no UTF-8. Items read before stay; nothing may be pushed after.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<(), SseError> {
        if self.place == Place::AfterCr && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.place = Place::Line;
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend_line(&bytes[..end])?;
            let is_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line()?;
            if is_cr {
                match bytes {
                    [] => self.place = Place::AfterCr,
                    [b'\n', rest @ ..] => bytes = rest,
                    _ => {}
                }
            }
        }
        self.extend_line(bytes)
    }

    /// The stream ended: an event without its blank line counts all the same, unless it breaks off.
    ///
    /// # Errors
    /// As for [`SseReader::push`].
    pub(crate) fn end(&mut self) -> Result<(), SseError> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        if self.data.as_deref().is_some_and(is_cut_off) {
            self.data = None;
        }
        self.end_event()
    }

    pub(crate) fn next_item(&mut self) -> Option<SseItem> {
        self.items.pop_front()
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held + bytes.len() > self.event_bytes_max {
            return Err(SseError::TooLarge {
                event: self.events + 1,
                max: self.event_bytes_max,
            });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), SseError> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::replace(&mut self.place, Place::Line) == Place::Start
            && line.starts_with(BYTE_ORDER_MARK)
        {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            return self.end_event();
        }
        if let Some(value) = data_of(&line) {
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        line.clear();
        self.line = line;
        Ok(())
    }

    fn end_event(&mut self) -> Result<(), SseError> {
        let Some(data) = self.data.take() else {
            return Ok(());
        };
        let event = self.events + 1;
        let data = String::from_utf8(data).map_err(|_| SseError::NoText { event })?;
        if data.is_empty() {
            return Ok(());
        }
        self.events = event;
        self.items.push_back(if data.trim() == DONE {
            SseItem::Done
        } else {
            SseItem::Data(data)
        });
        Ok(())
    }
}

/// The value of a `data` line, without the one space that may stand before it.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// Whether JSON ends before it is complete: the stream broke off inside an event, which then was
/// never said.
fn is_cut_off(data: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(data).is_err_and(|error| error.is_eof())
}

#[cfg(test)]
mod tests;
