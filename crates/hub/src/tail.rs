//! The recent frames of a live thread, shared by all its subscriptions.
//!
//! Chunks of contiguous ready frames, oldest first. A new chunk swallows the neighbours that are no larger than it is,
//! as in a binary counter, so that a range is a few slices however the entries came, and every byte is copied
//! O(log n) times in all. What is over the bound leaves at the old end; who still needs it reads the engine.
//!
//! Invariant: the chunks hold exactly the entries after `start` up to `head`, each once.

use std::collections::VecDeque;

use bytes::Bytes;
use threadcast_thread_log::position::Seq;

use crate::defaults::CHUNK_BYTES_MAX;
use crate::frame::Encoded;

#[derive(Debug)]
pub(crate) struct Tail {
    start: Seq,
    head: Seq,
    chunks: VecDeque<Chunk>,
    bytes: usize,
    bytes_max: usize,
}

#[derive(Debug)]
struct Chunk {
    first: Seq,
    last: Seq,
    bytes: Bytes,
    /// Where each frame ends; `None` for the payload of one frame that is too long for one piece.
    ends: Option<Box<[u32]>>,
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
    pub(crate) fn new(head: Seq, bytes_max: usize) -> Self {
        Self {
            start: head,
            head,
            chunks: VecDeque::new(),
            bytes: 0,
            bytes_max,
        }
    }

    pub(crate) fn head(&self) -> Seq {
        self.head
    }

    /// Forgets all frames; the head moves to `head`.
    pub(crate) fn clear(&mut self, head: Seq) {
        *self = Self::new(head, self.bytes_max);
    }

    /// Takes the frames of the entries that follow the head.
    pub(crate) fn push(&mut self, encoded: Vec<Encoded>) {
        for encoded in encoded {
            self.push_one(encoded);
        }
        while self.bytes > self.bytes_max {
            let Some(oldest) = self.chunks.pop_front() else {
                break;
            };
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

struct Range {
    start: usize,
    end: usize,
    last: Seq,
}

impl Chunk {
    /// `bytes`, or more if the first frame after `cursor` is longer.
    fn fitting(&self, cursor: Seq, bytes: usize) -> usize {
        self.frame_after(cursor)
            .map_or(bytes, |(start, end)| bytes.max(end - start))
    }

    fn frame_after(&self, cursor: Seq) -> Option<(usize, usize)> {
        let ends = self.ends.as_deref()?;
        let from = self.index(cursor.next());
        let start = from
            .checked_sub(1)
            .map_or(0, |before| ends[before] as usize);
        Some((start, *ends.get(from)? as usize))
    }

    fn index(&self, seq: Seq) -> usize {
        usize::try_from(seq.get().saturating_sub(self.first.get()))
            .expect("a chunk's frames fit in memory")
    }

    /// The whole frames after `cursor` that fit; `None` if none does, or the chunk is a long frame.
    fn range_after(&self, cursor: Seq, until: Seq, bytes: usize) -> Option<Range> {
        let ends = self.ends.as_deref()?;
        let from = self.index(cursor.next());
        let start = from
            .checked_sub(1)
            .map_or(0, |before| ends[before] as usize);
        let allowed = self.index(self.last.min(until).next());
        let fitting = ends
            .get(from..allowed)?
            .partition_point(|end| *end as usize - start <= bytes);
        let end = *ends.get(from + fitting.checked_sub(1)?)? as usize;
        Some(Range {
            start,
            end,
            last: self.first.plus((from + fitting - 1) as u64),
        })
    }
}

#[cfg(test)]
mod tests;
