//! Frames for a range of entries that is not taken from a tail: read from the engine, perhaps compacted.
//!
//! Made once and shared by all who need the same range. Invariant: the frames stand for the entries after `after`, each
//! for those up to its own seq in `lasts`, without gap and overlap.

use bytes::Bytes;
use threadcast_run_registry::compaction::{Compacted, compact};
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::{ThreadTag, write_events};

use crate::defaults::QUANTUM_BYTES;
use crate::frame::{Encoded, Encoder, encode, write_entry};

#[derive(Debug)]
pub(crate) struct Block {
    after: Seq,
    /// The last entry of each frame.
    lasts: Vec<Seq>,
    runs: Vec<Run>,
    bytes: usize,
}

/// Frames that lie in one piece of memory.
#[derive(Debug)]
struct Run {
    /// Which of the block's frames is its first.
    at: usize,
    bytes: Bytes,
    /// Where each frame ends; `None` for the payload of one that has to be sent in parts.
    ends: Option<Box<[u32]>>,
}

impl Block {
    /// Each of the entries after `after` in a frame of its own.
    pub(crate) fn of_entries(
        tag: &ThreadTag,
        after: Seq,
        entries: &[Entry],
        long_over: usize,
    ) -> Self {
        let lasts = entries.iter().map(|entry| entry.seq).collect();
        let encoded = encode(tag, entries, QUANTUM_BYTES, long_over);
        Self::new(after, lasts, encoded)
    }

    /// What the entries after `after` amount to.
    pub(crate) fn compacted(
        tag: &ThreadTag,
        after: Seq,
        entries: &[Entry],
        long_over: usize,
    ) -> Self {
        let mut lasts = Vec::new();
        let mut encoder = Encoder::new(QUANTUM_BYTES, long_over);
        for piece in compact(entries) {
            match piece {
                Compacted::Events {
                    first,
                    last,
                    events,
                } => {
                    encoder.push(|out| write_events(out, tag, first, last, &events, None));
                    lasts.push(last);
                }
                Compacted::Fact(entry) => {
                    encoder.push(|out| write_entry(out, tag, &entry));
                    lasts.push(entry.seq);
                }
            }
        }
        Self::new(after, lasts, encoder.finish())
    }

    /// One frame for all entries up to `last`.
    pub(crate) fn of_frame(last: Seq, long_over: usize, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut encoder = Encoder::new(QUANTUM_BYTES, long_over);
        encoder.push(write);
        Self::new(Seq::ZERO, vec![last], encoder.finish())
    }

    fn new(after: Seq, lasts: Vec<Seq>, encoded: Vec<Encoded>) -> Self {
        let mut at = 0;
        let mut runs = Vec::with_capacity(encoded.len());
        for encoded in encoded {
            let run = match encoded {
                Encoded::Frames { bytes, ends } => Run {
                    at,
                    bytes: bytes.into(),
                    ends: Some(ends.into()),
                },
                Encoded::Long(text) => Run {
                    at,
                    bytes: text,
                    ends: None,
                },
            };
            at += run.ends.as_ref().map_or(1, |ends| ends.len());
            runs.push(run);
        }
        debug_assert_eq!(at, lasts.len());
        debug_assert!(lasts.is_sorted());
        let bytes = runs.iter().map(|run| run.bytes.len()).sum();
        Self {
            after,
            lasts,
            runs,
            bytes,
        }
    }

    /// The last entry it stands for.
    pub(crate) fn last(&self) -> Seq {
        self.lasts.last().copied().unwrap_or(self.after)
    }

    /// What its entries follow.
    pub(crate) fn after(&self) -> Seq {
        self.after
    }

    /// Bytes of its frames.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The frames before the first one that has to be sent in parts; if that is the first of all, it alone. So whoever
    /// sends it in parts keeps nothing else with it.
    pub(crate) fn cut(mut self) -> Self {
        let long = self.runs.iter().position(|run| run.ends.is_none());
        let keep = long.map_or(self.runs.len(), |long| long.max(1));
        if let Some(next) = self.runs.get(keep) {
            self.lasts.truncate(next.at);
            self.runs.truncate(keep);
            self.bytes = self.runs.iter().map(|run| run.bytes.len()).sum();
        }
        self
    }

    /// The payload of its frame, if that has to be sent in parts. Of a block that was [cut](Self::cut).
    pub(crate) fn long(&self) -> Option<Bytes> {
        let first = self.runs.first().filter(|run| run.ends.is_none());
        first.map(|run| run.bytes.clone())
    }

    /// Its whole ready frames.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Bytes> {
        let ready = self.runs.iter().filter(|run| run.ends.is_some());
        ready.map(|run| run.bytes.clone())
    }

    /// Where a viewer stands that took `frames` frames after `cursor`.
    pub(crate) fn cursor_after(&self, cursor: Seq, frames: usize) -> Seq {
        match frames.checked_sub(1) {
            Some(more) => self.lasts[self.frame_after(cursor) + more],
            None => cursor,
        }
    }

    fn frame_after(&self, cursor: Seq) -> usize {
        debug_assert!(
            cursor == self.after || self.lasts.binary_search(&cursor).is_ok(),
            "a cursor stands between two frames"
        );
        self.lasts.partition_point(|last| *last <= cursor)
    }
}

#[cfg(test)]
mod tests;
