//! Lines of a hub: entries in, `events` frames out; what is no entry stays as it is, and nothing is
//! compacted over it.

use std::collections::VecDeque;
use std::sync::Arc;

use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::compaction;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::{ThreadTag, write_events};

use super::proof::{Differs, must_be_of_the_same_entries};
use super::{Compacted, Refusal, Size};
use crate::cli::file::{EntryBody, Format, History, Input, Item, Piece, follow_lines};

/// The rest of the input behind `first`, compacted.
pub(super) fn compact(
    first: Item,
    input: &mut Input,
    history: &mut History,
) -> Result<Compacted, Refusal> {
    let mut writer = Writer::default();
    let mut next = Some(first);
    while let Some(item) = next {
        writer.thread = input.thread().cloned();
        match item.piece {
            Piece::Entry {
                seq,
                ref body,
                ref text,
            } => {
                history.take(&item, |_| {})?;
                writer.hold(seq, body, text);
            }
            ref other => {
                writer.write_held(history)?;
                history.take(&item, |_| {})?;
                writer.pass(other)?;
            }
        }
        next = input.next()?;
    }
    writer.write_held(history)?;
    Ok(writer.compacted)
}

struct Writer {
    thread: Option<ThreadId>,
    held: Vec<Entry>,
    /// The lines of the facts among them.
    facts: VecDeque<Box<str>>,
    /// What follows the lines written so far.
    followed: History,
    compacted: Compacted,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            thread: None,
            held: Vec::new(),
            facts: VecDeque::new(),
            followed: History::new("compacted".to_owned()),
            compacted: Compacted {
                lines: Vec::new(),
                before: Size::default(),
                after: Size::default(),
            },
        }
    }
}

impl Writer {
    fn hold(&mut self, seq: Seq, body: &EntryBody, text: &str) {
        let body = match body {
            EntryBody::Event(json) => Body::Event {
                json: json.clone(),
                from_chunk: false,
            },
            EntryBody::Fact(fact) => {
                self.facts.push_back(text.into());
                Body::Fact {
                    public: fact.clone(),
                    private: None,
                }
            }
        };
        let record = Record {
            at: Millis(0),
            run: None,
            origin: Origin::Hub,
            body,
        };
        self.compacted.before.entries += 1;
        self.compacted.before.bytes += record.size_bytes();
        let (class, record) = (Class::NONE, Arc::new(record));
        self.held.push(Entry { seq, class, record });
    }

    /// Writes what is held in fewer bytes; `history` has followed it.
    fn write_held(&mut self, history: &History) -> Result<(), Refusal> {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for piece in compaction::compact(&held) {
            match piece {
                compaction::Compacted::Fact(entry) => {
                    self.compacted.after.entries += 1;
                    self.compacted.after.bytes += entry.record.size_bytes();
                    let line = self.facts.pop_front();
                    lines.push(line.expect("facts stay, in their order").into());
                }
                compaction::Compacted::Events {
                    first,
                    last,
                    events,
                } => {
                    for event in &events {
                        self.compacted.after.add(event.as_str());
                    }
                    lines.push(self.line(first, last, &events));
                }
            }
        }
        follow_lines(&mut self.followed, Format::Hub, &lines).map_err(Differs::from)?;
        must_be_of_the_same_entries(history, &self.followed)?;
        self.compacted.lines.extend(lines);
        Ok(())
    }

    /// One frame; a line of the same shape as it came where lines name no thread.
    fn line(&self, from: Seq, seq: Seq, events: &[RawJson]) -> String {
        let Some(thread) = &self.thread else {
            let events: Vec<_> = events.iter().map(RawJson::as_str).collect();
            let events = events.join(",");
            return format!("{{\"from\":{from},\"seq\":{seq},\"events\":[{events}]}}");
        };
        let mut out = Vec::new();
        write_events(&mut out, &ThreadTag::new(thread), from, seq, events, None);
        String::from_utf8(out).expect("frames are text")
    }

    fn pass(&mut self, piece: &Piece) -> Result<(), Refusal> {
        let (Piece::Range { text, .. } | Piece::Anew { text } | Piece::Aside { text }) = piece
        else {
            return Ok(());
        };
        let line = [text.to_string()];
        follow_lines(&mut self.followed, Format::Hub, &line).map_err(Differs::from)?;
        if let Piece::Range { events, .. } = piece {
            for event in events {
                self.compacted.before.add(event.as_str());
                self.compacted.after.add(event.as_str());
            }
        }
        self.compacted.lines.extend(line);
        Ok(())
    }
}
