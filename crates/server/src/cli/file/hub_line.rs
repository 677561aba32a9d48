//! Lines of a hub: frames (docs/protocol.md §4), or the same without `op` and `threadId`.

use serde::Deserialize;
use serde_json::value::RawValue;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::{HubFrame, Mode};

use super::error::Problem;
use super::item::{EntryBody, Piece};

/// Reads the lines of one thread.
#[derive(Debug, Default)]
pub(super) struct HubLines {
    thread: Option<ThreadId>,
    /// Pieces of a frame that is not whole yet, and how many.
    parts: (u64, String),
}

impl HubLines {
    /// The thread that frames named so far.
    pub(super) fn thread(&self) -> Option<&ThreadId> {
        self.thread.as_ref()
    }

    /// What the line says; `None` while it is a piece of a longer frame.
    ///
    /// # Errors
    /// The line is neither a frame nor an entry, or of another thread.
    pub(super) fn read(&mut self, text: &str) -> Result<Option<Piece>, Problem> {
        if let Ok(numbered) = serde_json::from_str::<Numbered<'_>>(text)
            && numbered.op.is_none()
        {
            return numbered.read(text).map(Some);
        }
        self.frame(text)
    }

    fn frame(&mut self, text: &str) -> Result<Option<Piece>, Problem> {
        let frame = HubFrame::read(text).map_err(no_frame)?;
        if let Some(thread) = thread_of(&frame) {
            let expected = self.thread.get_or_insert_with(|| thread.clone());
            if thread != expected {
                return Err(Problem::OtherThread {
                    expected: expected.clone(),
                    found: thread.clone(),
                });
            }
        }
        Ok(Some(match frame {
            HubFrame::Event { seq, event, .. } => Piece::Entry {
                seq,
                body: EntryBody::Event(event),
                text: text.into(),
            },
            HubFrame::Fact { seq, fact, .. } => Piece::Entry {
                seq,
                body: EntryBody::Fact(fact),
                text: text.into(),
            },
            HubFrame::Events {
                from,
                seq,
                events,
                view,
                ..
            } => Piece::Range {
                from,
                seq,
                events,
                state: view.and_then(|view| view.state),
                text: text.into(),
            },
            HubFrame::Part {
                n,
                last,
                text: piece,
                ..
            } => {
                return self.part(n, last, &piece);
            }
            HubFrame::Subscribed(subscribed) if subscribed.mode == Mode::Resumed => {
                Piece::Aside { text: text.into() }
            }
            HubFrame::Subscribed(_) | HubFrame::Reset { .. } => {
                self.parts = Default::default();
                Piece::Anew { text: text.into() }
            }
            _ => Piece::Aside { text: text.into() },
        }))
    }

    fn part(&mut self, n: u64, is_last: bool, piece: &str) -> Result<Option<Piece>, Problem> {
        if n == 1 {
            self.parts = Default::default();
        }
        let (held, joined) = &mut self.parts;
        if n != *held + 1 {
            return Err(Problem::LostPart);
        }
        *held = n;
        joined.push_str(piece);
        if !is_last {
            return Ok(None);
        }
        let (_, whole) = std::mem::take(&mut self.parts);
        self.frame(&whole)
    }
}

fn thread_of(frame: &HubFrame) -> Option<&ThreadId> {
    match frame {
        HubFrame::Event { thread, .. }
        | HubFrame::Fact { thread, .. }
        | HubFrame::Events { thread, .. }
        | HubFrame::Part { thread, .. }
        | HubFrame::Epoch { thread, .. }
        | HubFrame::Reset { thread, .. }
        | HubFrame::Unsubscribed { thread, .. } => Some(thread),
        HubFrame::Subscribed(subscribed) => Some(&subscribed.thread),
        HubFrame::Welcome(_)
        | HubFrame::Ok { .. }
        | HubFrame::Error { .. }
        | HubFrame::Draining { .. }
        | HubFrame::Unknown { .. } => None,
    }
}

fn no_frame(error: impl std::error::Error) -> Problem {
    let text = error.to_string();
    let cause = error.source().map(ToString::to_string);
    // Some errors tell their cause themselves.
    let cause = cause.filter(|cause| !text.contains(cause.as_str()));
    let cause = cause.map(|cause| format!(": {cause}"));
    Problem::NoFrame(format!("{text}{}", cause.unwrap_or_default()).into())
}

/// An entry, or several that events stand for, without a frame around it.
#[derive(Deserialize)]
struct Numbered<'a> {
    #[serde(borrow)]
    op: Option<&'a RawValue>,
    from: Option<u64>,
    seq: u64,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    fact: Option<&'a RawValue>,
    #[serde(borrow)]
    events: Option<Vec<&'a RawValue>>,
}

impl Numbered<'_> {
    fn read(self, text: &str) -> Result<Piece, Problem> {
        let raw = |value: &RawValue| RawJson::parse_built(value.get()).map_err(no_frame);
        let number = |seq| {
            Seq::new(seq).ok_or_else(|| Problem::NoFrame(format!("`{seq}` is no seq").into()))
        };
        let (seq, text) = (number(self.seq)?, text.into());
        let body = match (self.event, self.fact, self.events) {
            (Some(event), None, None) => EntryBody::Event(raw(event)?),
            (None, Some(fact), None) => EntryBody::Fact(raw(fact)?),
            (None, None, Some(events)) => {
                let events = events.into_iter().map(raw).collect::<Result<_, _>>()?;
                return Ok(Piece::Range {
                    from: number(self.from.unwrap_or(self.seq))?,
                    seq,
                    events,
                    state: None,
                    text,
                });
            }
            _ => {
                let expected = "expected one of `event`, `fact` and `events` beside `seq`";
                return Err(Problem::NoFrame(expected.into()));
            }
        };
        Ok(Piece::Entry { seq, body, text })
    }
}
