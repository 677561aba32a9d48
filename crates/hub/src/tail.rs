//! The recent frames of a live thread, shared by all its subscriptions.
//!
//! Chunks of contiguous ready frames, oldest first. A new chunk swallows the neighbours that are no larger than it is,
//! as in a binary counter, so that a range is a few slices however the entries came, and every byte is copied
//! O(log n) times in all. The oldest chunk leaves when the others fill the tail; who still needs it reads the engine.
//!
//! Invariant: the chunks hold exactly the entries after `start` up to `head`, each once.

use std::collections::VecDeque;

use bytes::Bytes;
use threadcast_thread_log::position::Seq;

use crate::defaults::CHUNK_BYTES_MAX;
use crate::frame::Encoded;

use chunk::Chunk;

#[derive(Debug)]
pub(crate) struct Tail {
    start: Seq,
    head: Seq,
    chunks: VecDeque<Chunk>,
    bytes: usize,
    bytes_kept: usize,
}

/// The cursor is older than what the tail holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooOld;

/// What a tail holds for a cursor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    CaughtUp,
    /// Whole ready frames, pushed to the caller's slices.
    Frames {
        last: Seq,
        bytes: usize,
    },
    /// The next entry's frame has to be sent in parts.
    Long {
        seq: Seq,
        text: Bytes,
    },
}

/// What a caller has room for: frames up to `until`, one and then as many more as make `bytes` in all, in at most
/// `slices`, of which there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) until: Seq,
    pub(crate) bytes: usize,
    pub(crate) slices: usize,
}

impl Tail {
    /// A tail of a thread whose head is `head`, of whose entries it holds none.
    pub(crate) fn new(head: Seq, bytes_kept: usize) -> Self {
        Self {
            start: head,
            head,
            chunks: VecDeque::new(),
            bytes: 0,
            bytes_kept,
        }
    }

    pub(crate) fn head(&self) -> Seq {
        self.head
    }

    /// Whether the frames after `cursor` are more than `bytes` long, give or take a chunk.
    pub(crate) fn holds_more_after(&self, cursor: Seq, bytes: usize) -> bool {
        if self.bytes <= bytes {
            return false;
        }
        let mut after = 0;
        let newest_first = self.chunks.iter().rev();
        newest_first
            .take_while(|chunk| chunk.last > cursor)
            .any(|chunk| {
                after += chunk.bytes.len();
                after > bytes
            })
    }

    /// The first entry after `cursor` that is held as a frame too long for one piece.
    pub(crate) fn long_after(&self, cursor: Seq) -> Option<Seq> {
        let at = self.chunks.partition_point(|chunk| chunk.last <= cursor);
        let long = self.chunks.range(at..).find(|chunk| chunk.ends.is_none())?;
        Some(long.first)
    }

    /// Forgets all frames; the head moves to `head`.
    pub(crate) fn clear(&mut self, head: Seq) {
        *self = Self::new(head, self.bytes_kept);
    }

    /// Takes the frames of the entries that follow the head.
    pub(crate) fn push(&mut self, encoded: Vec<Encoded>) {
        for encoded in encoded {
            self.push_one(encoded);
        }
        // Not by what the tail holds, but by what it would hold: an event longer than all it keeps is kept for those who
        // are about to be sent it.
        while let Some(oldest) = self
            .chunks
            .pop_front_if(|oldest| self.bytes - oldest.bytes.len() >= self.bytes_kept)
        {
            self.bytes -= oldest.bytes.len();
            self.start = oldest.last;
        }
        debug_assert_eq!(
            self.chunks.back().map_or(self.start, |chunk| chunk.last),
            self.head
        );
    }

    fn push_one(&mut self, encoded: Encoded) {
        let first = self.head.next();
        let chunk = match encoded {
            Encoded::Frames { bytes, ends } => {
                self.bytes += bytes.len();
                let last = self.head.plus(ends.len() as u64);
                self.merged(Chunk {
                    first,
                    last,
                    bytes: bytes.into(),
                    ends: Some(ends.into()),
                })
            }
            Encoded::Long(text) => {
                self.bytes += text.len();
                Chunk {
                    first,
                    last: first,
                    bytes: text,
                    ends: None,
                }
            }
        };
        self.head = chunk.last;
        self.chunks.push_back(chunk);
    }

    /// The chunk together with the neighbours that it swallows, which leave the tail.
    fn merged(&mut self, newest: Chunk) -> Chunk {
        let mut total = newest.bytes.len();
        let swallowed = self.chunks.iter().rev().take_while(|chunk| {
            let is_swallowed = chunk.ends.is_some()
                && chunk.bytes.len() <= total
                && chunk.bytes.len() + total <= CHUNK_BYTES_MAX;
            total += chunk.bytes.len();
            is_swallowed
        });
        let keep = self.chunks.len() - swallowed.count();
        if keep == self.chunks.len() {
            return newest;
        }
        let parts = || self.chunks.range(keep..).chain(std::iter::once(&newest));
        let mut bytes = Vec::with_capacity(parts().map(|part| part.bytes.len()).sum());
        let mut ends = Vec::with_capacity(
            parts()
                .filter_map(|part| part.ends.as_ref())
                .map(|ends| ends.len())
                .sum(),
        );
        for part in parts() {
            let before =
                u32::try_from(bytes.len()).expect("a merged chunk is at most CHUNK_BYTES_MAX long");
            ends.extend(part.ends.iter().flatten().map(|end| before + end));
            bytes.extend_from_slice(&part.bytes);
        }
        let first = self.chunks[keep].first;
        let last = newest.last;
        self.chunks.truncate(keep);
        Chunk {
            first,
            last,
            bytes: bytes.into(),
            ends: Some(ends.into()),
        }
    }

    /// Pushes what follows `cursor` to `out`, as far as the budget goes.
    ///
    /// # Errors
    /// The entry after `cursor` has left the tail.
    pub(crate) fn slices_after(
        &self,
        cursor: Seq,
        budget: Budget,
        out: &mut Vec<Bytes>,
    ) -> Result<Taken, TooOld> {
        if cursor < self.start {
            return Err(TooOld);
        }
        if cursor >= self.head.min(budget.until) {
            return Ok(Taken::CaughtUp);
        }
        let at = self.chunks.partition_point(|chunk| chunk.last <= cursor);
        if let Some(Chunk {
            first,
            bytes,
            ends: None,
            ..
        }) = self.chunks.get(at)
        {
            return Ok(Taken::Long {
                seq: *first,
                text: bytes.clone(),
            });
        }
        let (mut last, mut taken) = (cursor, 0);
        for chunk in self.chunks.range(at..).take(budget.slices) {
            let left = if last == cursor {
                chunk.fitting(cursor, budget.bytes)
            } else {
                budget.bytes.saturating_sub(taken)
            };
            let Some(range) = chunk.range_after(last, budget.until, left) else {
                break;
            };
            let is_whole = range.last == chunk.last;
            last = range.last;
            taken += range.end - range.start;
            out.push(chunk.bytes.slice(range.start..range.end));
            if !is_whole {
                break;
            }
        }
        debug_assert!(last > cursor, "a caller has room for one frame");
        Ok(Taken::Frames { last, bytes: taken })
    }
}

mod chunk;
#[cfg(test)]
mod tests;
