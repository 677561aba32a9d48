//! Fewer bytes for the same change: what stands for a range of entries to a viewer that is behind.
//!
//! It knows the range and not the fold before it, so any range can be compacted, and compacted
//! ranges can follow each other. It is no summary: whoever holds the fold before a range holds the
//! fold behind it afterwards (`docs/protocol.md` §6.4), and what comes out is legal where the range
//! was.
//!
//! Invariant: an event that nothing was merged into passes byte for byte; facts stay in their
//! place.

mod activity;
mod change;
mod delta;
mod piece;
mod slot;
mod state;
mod written;

use threadcast_agui::event::Event;
use threadcast_agui::json::{RawJson, members};
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_thread_log::position::Seq;

use crate::compaction::piece::{LastPatch, Piece};
use crate::compaction::slot::Slot;
use crate::compaction::state::StrayDeltas;

/// What stands for consecutive entries, for a viewer that holds the fold before them.
#[derive(Clone, Debug, PartialEq)]
pub enum Compacted {
    /// For the entries from `first` to `last`; no events if they amount to nothing.
    Events {
        first: Seq,
        last: Seq,
        events: Vec<RawJson>,
    },
    /// A fact, in its place.
    Fact(Entry),
}

/// Consecutive entries in, the same in fewer bytes out; ranges touch, facts stand alone.
pub fn compact(entries: &[Entry]) -> Vec<Compacted> {
    let mut taken = 0;
    let pieces = entries.chunk_by(|one, next| event(one).is_some() && event(next).is_some());
    let pieces = pieces.flat_map(|piece| {
        taken += piece.len();
        let (first, last) = (piece.first()?, piece.last()?);
        if event(first).is_none() {
            return Some(Compacted::Fact(first.clone()));
        }
        Some(Compacted::Events {
            first: first.seq,
            last: last.seq,
            events: compact_piece(piece, entries.get(taken)),
        })
    });
    pieces.collect()
}

/// The same for bare events, such as a stream in a file.
///
/// No facts say which deltas of state applied, so those before any snapshot stay as they are.
pub fn compact_events(events: Vec<Event>) -> Vec<Event> {
    let slots = {
        let mut piece = Piece::default();
        events.iter().for_each(|event| piece.take(&event.json));
        piece.finish(StrayDeltas::Keep)
    };
    let kept = events.into_iter().zip(slots);
    let kept = kept.filter_map(|(event, slot)| match slot {
        Slot::Kept => Some(event),
        Slot::Gone => None,
        Slot::Made(json) => {
            Some(Event::from_raw(json).expect("it is made of members that were read"))
        }
    });
    kept.collect()
}

/// `behind` is the entry after the piece, if it is in the range.
fn compact_piece(piece: &[Entry], behind: Option<&Entry>) -> Vec<RawJson> {
    let mut compacting = Piece::default();
    let mut events = piece.iter().filter_map(event).peekable();
    while let Some(json) = events.next() {
        if events.peek().is_some() {
            compacting.take(json);
        } else {
            compacting.take_last(json, last_patch(behind));
        }
    }
    let slots = compacting.finish(StrayDeltas::Join);
    let kept = piece.iter().filter_map(event).zip(slots);
    let kept = kept.filter_map(|(json, slot)| match slot {
        Slot::Kept => Some(json.clone()),
        Slot::Gone => None,
        Slot::Made(json) => Some(json),
    });
    kept.collect()
}

fn event(entry: &Entry) -> Option<&RawJson> {
    match &entry.record.body {
        Body::Event { json, .. } => Some(json),
        Body::Fact { .. } => None,
    }
}

/// What is known of a patch in front of `behind`: the fact that it failed comes right after it,
/// perhaps behind the range.
fn last_patch(behind: Option<&Entry>) -> LastPatch {
    match behind.map(|entry| &entry.record.body) {
        None => LastPatch::Unsure,
        Some(Body::Fact { public, .. }) => match member(public, "type") {
            Some("\"activity.diverged\"" | "\"state.diverged\"")
                if member(public, "stricter") == Some("true") =>
            {
                LastPatch::Unsure
            }
            Some("\"state.diverged\"") => LastPatch::StateFailed,
            Some("\"activity.diverged\"") => LastPatch::ActivityFailed,
            _ => LastPatch::Applied,
        },
        Some(Body::Event { .. }) => LastPatch::Applied,
    }
}

/// The member of a fact as it stands.
fn member<'a>(public: &'a RawJson, name: &str) -> Option<&'a str> {
    let mut members = members(public.as_str());
    members.find(|(own, _)| own == name).map(|(_, value)| value)
}
