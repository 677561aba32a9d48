//! A run of ready frames of consecutive entries, or the payload of one that is too long for one piece.

use bytes::Bytes;
use threadcast_thread_log::position::Seq;

#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) first: Seq,
    pub(super) last: Seq,
    pub(super) bytes: Bytes,
    /// Where each frame ends; `None` for the payload of one frame that is too long for one piece.
    pub(super) ends: Option<Box<[u32]>>,
}

pub(super) struct Range {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) last: Seq,
}

impl Chunk {
    /// `bytes`, or more if the first frame after `cursor` is longer.
    pub(super) fn fitting(&self, cursor: Seq, bytes: usize) -> usize {
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
    pub(super) fn range_after(&self, cursor: Seq, until: Seq, bytes: usize) -> Option<Range> {
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
