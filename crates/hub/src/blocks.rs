//! Compacted blocks of one live thread, so that viewers who are behind share the work (docs/protocol.md §5).
//!
//! Where a viewer stands it goes to the next multiple of 64 entries, from there in whole blocks of 64, 512 and 4,096, and
//! at last to the head; so what a thousand viewers at a thousand cursors need are the same few blocks, and one or two
//! ranges of under 64 entries each. A block that would be long is left to the smaller ones inside it.
//!
//! Invariant: what is kept is at most [`BLOCKS_BYTES`] long, and of one log: a range of another generation is forgotten. A
//! block that is long by itself is kept only by those who send it, and takes nobody's place.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use threadcast_thread_log::position::Seq;
use tokio::sync::OnceCell;

use crate::block::Block;
use crate::defaults::{BLOCK_KEPT_BYTES_MAX, BLOCKS_BYTES};

/// Lengths of blocks in entries, each a multiple of those after it.
const LEVELS: [u64; 3] = [4096, 512, 64];

/// The entries after `after` up to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Range {
    pub(crate) after: Seq,
    pub(crate) last: Seq,
}

/// A place for a block: whoever comes first makes it, whoever comes meanwhile waits.
pub(crate) type Slot = Arc<OnceCell<Made>>;

/// What became of a range.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    Block(Arc<Block>),
    /// It would be long: the smaller blocks inside it serve.
    TooLong,
}

#[derive(Debug, Default)]
pub(crate) struct Blocks {
    generation: u32,
    kept: HashMap<Range, Kept>,
    /// By when they were last asked for.
    ages: BTreeMap<u64, Range>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    place: Place,
    age: u64,
    bytes: usize,
}

#[derive(Debug)]
enum Place {
    Here(Slot),
    /// Too long to be kept here: with those who send it.
    There(Weak<Block>),
}

impl Place {
    /// Where the block is or can be made.
    fn slot(&mut self) -> Slot {
        match self {
            Self::Here(slot) => Arc::clone(slot),
            Self::There(block) => match block.upgrade() {
                Some(block) => Arc::new(OnceCell::new_with(Some(Made::Block(block)))),
                None => {
                    let slot = Slot::default();
                    *self = Self::Here(Arc::clone(&slot));
                    slot
                }
            },
        }
    }

    fn is_too_long(&self) -> bool {
        matches!(self, Self::Here(slot) if matches!(slot.get(), Some(Made::TooLong)))
    }
}

/// What the place of a block costs beside its frames.
const PLACE_BYTES: usize = 256;

impl Range {
    /// Whether it is one of those that everybody shares, and so has smaller ones inside.
    pub(crate) fn has_smaller(self) -> bool {
        self.last.get() - self.after.get() > LEVELS[LEVELS.len() - 1]
    }
}

impl Blocks {
    /// The next range for who stands at `cursor` and may be told entries up to `until`, and the place of its block.
    pub(crate) fn next(&mut self, generation: u32, cursor: Seq, until: Seq) -> (Range, Slot) {
        if generation != self.generation {
            *self = Self {
                generation,
                ..Self::default()
            };
        }
        let candidates = LEVELS
            .iter()
            .filter_map(|level| whole(cursor, until, *level));
        let whole = candidates
            .into_iter()
            .find(|range| !self.is_too_long(*range));
        let range = whole.unwrap_or_else(|| Range {
            after: cursor,
            last: boundary(cursor).min(until),
        });
        (range, self.slot(range))
    }

    fn is_too_long(&self, range: Range) -> bool {
        let kept = self.kept.get(&range);
        range.has_smaller() && kept.is_some_and(|kept| kept.place.is_too_long())
    }

    fn slot(&mut self, range: Range) -> Slot {
        self.clock += 1;
        let age = self.clock;
        let kept = self.kept.entry(range).or_insert_with(|| {
            self.bytes += PLACE_BYTES;
            Kept {
                place: Place::Here(Slot::default()),
                age,
                bytes: PLACE_BYTES,
            }
        });
        self.ages.remove(&kept.age);
        kept.age = age;
        self.ages.insert(age, range);
        let slot = kept.place.slot();
        self.make_room();
        slot
    }

    /// Counts what became of a range, unless its place is gone.
    pub(crate) fn made(&mut self, generation: u32, range: Range, made: &Made) {
        if generation != self.generation {
            return;
        }
        match made {
            Made::Block(block) if block.bytes() > BLOCK_KEPT_BYTES_MAX => {
                if let Some(kept) = self.kept.get_mut(&range) {
                    kept.place = Place::There(Arc::downgrade(block));
                }
            }
            Made::Block(block) => self.count(range, PLACE_BYTES + block.bytes()),
            Made::TooLong => {}
        }
    }

    /// What was to be made in this slot could not be: nothing is kept of it.
    pub(crate) fn failed(&mut self, generation: u32, range: Range, slot: &Slot) {
        let is_its =
            |kept: &Kept| matches!(&kept.place, Place::Here(here) if Arc::ptr_eq(here, slot));
        if generation == self.generation
            && self.kept.get(&range).is_some_and(is_its)
            && let Some(kept) = self.kept.remove(&range)
        {
            self.ages.remove(&kept.age);
            self.bytes -= kept.bytes;
        }
    }

    fn count(&mut self, range: Range, bytes: usize) {
        if let Some(kept) = self.kept.get_mut(&range) {
            self.bytes = self.bytes + bytes - kept.bytes;
            kept.bytes = bytes;
        }
        self.make_room();
    }

    /// The ones not asked for longest go.
    fn make_room(&mut self) {
        while self.bytes > BLOCKS_BYTES
            && let Some((_, oldest)) = self.ages.pop_first()
        {
            if let Some(forgotten) = self.kept.remove(&oldest) {
                self.bytes -= forgotten.bytes;
            }
        }
    }
}

/// The whole block of this level that begins at `cursor`.
fn whole(cursor: Seq, until: Seq, level: u64) -> Option<Range> {
    let last = cursor.plus(level);
    (cursor.get().is_multiple_of(level) && last <= until).then_some(Range {
        after: cursor,
        last,
    })
}

/// Where the smallest block that `cursor` stands in ends.
fn boundary(cursor: Seq) -> Seq {
    let smallest = LEVELS[LEVELS.len() - 1];
    cursor.plus(smallest - cursor.get() % smallest)
}

#[cfg(test)]
mod tests;
