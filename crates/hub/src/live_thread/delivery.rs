//! What sessions read of a live thread: its tail, and where its epochs begin.

use bytes::Bytes;
use threadcast_thread_log::position::{Epoch, Seq};

use super::{Budget, Taken};
use crate::defaults::{FAR_BYTES, FAR_ENTRIES, NEAR_ENTRIES, TAIL_BYTES};
use crate::frame::Encoded;
use crate::tail::{Tail, TooOld};

/// Where a subscription stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The last entry its socket took.
    pub(crate) cursor: Seq,
    /// The last epoch it was told.
    pub(crate) told: Epoch,
    /// Which of the logs that this live thread has held it stands in.
    pub(crate) generation: u32,
}

/// How a subscription is served (docs/protocol.md §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serve {
    /// Every entry by itself, however far behind.
    Entries,
    /// Compacted if it is far behind.
    Near,
    /// Compacted as long as it is more than a few entries behind.
    CatchingUp,
    /// Compacted if that can save anything: its socket is slow.
    Slow,
}

/// What comes next for a subscription.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    CaughtUp,
    /// Whole ready frames up to `last`; `is_all` when nothing follows them now.
    Frames {
        last: Seq,
        bytes: usize,
        is_all: bool,
    },
    /// The next entry's frame has to be sent in parts.
    Long {
        seq: Seq,
        text: Bytes,
    },
    /// The entries after the cursor belong to this epoch, which is to be told first.
    Epoch(Epoch),
    /// Not from the tail: entries up to `until` are to be sent from the engine, compacted or one by one.
    Behind {
        until: Seq,
        is_compacted: bool,
        /// Whether nothing follows `until` now.
        is_all: bool,
    },
    /// The log was replaced by another one.
    Replaced,
}

/// Invariant: `epochs` are those of the log whose end the tail holds.
#[derive(Debug)]
pub(super) struct Delivery {
    tail: Tail,
    epochs: Vec<(Epoch, Seq)>,
    generation: u32,
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            tail: Tail::new(Seq::ZERO, TAIL_BYTES),
            epochs: Vec::new(),
            generation: 0,
        }
    }
}

impl Delivery {
    pub(super) fn generation(&self) -> u32 {
        self.generation
    }

    /// The place of a viewer that has all there is.
    pub(super) fn place(&self) -> Place {
        let told = self
            .epochs
            .last()
            .map(|(epoch, _)| epoch.clone())
            .unwrap_or_default();
        Place {
            cursor: self.tail.head(),
            told,
            generation: self.generation,
        }
    }

    pub(super) fn set_epochs(&mut self, epochs: &[(Epoch, Seq)]) {
        if self.epochs != epochs {
            self.epochs = epochs.to_vec();
        }
    }

    /// Takes the frames of the entries after the tail's head.
    pub(super) fn push(&mut self, encoded: Vec<Encoded>) {
        self.tail.push(encoded);
    }

    /// Nobody reads: the tail holds nothing and stands at `head`.
    pub(super) fn skip_to(&mut self, head: Seq) {
        self.tail.clear(head);
    }

    pub(super) fn forget_frames(&mut self) {
        self.tail.clear(self.tail.head());
    }

    /// Another log took the place of the one before.
    pub(super) fn replace(&mut self, epochs: &[(Epoch, Seq)], head: Seq) {
        self.set_epochs(epochs);
        self.tail.clear(head);
        self.generation += 1;
    }

    pub(super) fn step(
        &self,
        place: &Place,
        serve: Serve,
        bytes: usize,
        slices: usize,
        out: &mut Vec<Bytes>,
    ) -> Step {
        if place.generation != self.generation {
            return Step::Replaced;
        }
        let until = match self.next_epoch(&place.told) {
            Some((epoch, first)) if *first <= place.cursor.next() => {
                return Step::Epoch(epoch.clone());
            }
            Some((_, first)) => Seq::new(first.get() - 1).unwrap_or(Seq::MAX),
            None => Seq::MAX,
        };
        let head = self.tail.head();
        let behind = |is_compacted| {
            // A long frame that the tail holds serves all: a block with it in would be a copy of each viewer's own.
            let long = self.tail.long_after(place.cursor);
            let before_long = long.and_then(|long| Seq::new(long.get() - 1));
            // The engine may hold more than was folded, of an epoch that is not known here yet.
            let until = until.min(before_long.unwrap_or(Seq::MAX)).min(head);
            Step::Behind {
                until,
                is_compacted,
                is_all: until >= head,
            }
        };
        let is_long_next = || self.tail.long_after(place.cursor) == Some(place.cursor.next());
        if self.is_to_compact(place.cursor, serve) && !is_long_next() {
            return behind(true);
        }
        match self.tail.slices_after(
            place.cursor,
            Budget {
                until,
                bytes,
                slices,
            },
            out,
        ) {
            Ok(Taken::CaughtUp) => Step::CaughtUp,
            Ok(Taken::Frames { last, bytes }) => Step::Frames {
                last,
                bytes,
                is_all: last >= head,
            },
            Ok(Taken::Long { seq, text }) => Step::Long { seq, text },
            Err(TooOld) => behind(match serve {
                Serve::Entries => false,
                Serve::Near => self.behind(place.cursor) > NEAR_ENTRIES,
                // The same for all who come here.
                Serve::CatchingUp | Serve::Slow => true,
            }),
        }
    }

    fn behind(&self, cursor: Seq) -> u64 {
        self.tail.head().get().saturating_sub(cursor.get())
    }

    fn is_to_compact(&self, cursor: Seq, serve: Serve) -> bool {
        let behind = self.behind(cursor);
        match serve {
            Serve::Entries => false,
            Serve::Near => {
                behind > FAR_ENTRIES
                    || behind > NEAR_ENTRIES && self.tail.holds_more_after(cursor, FAR_BYTES)
            }
            Serve::CatchingUp => behind > NEAR_ENTRIES,
            Serve::Slow => behind > 1,
        }
    }

    /// The epoch that follows the one a viewer was told, if it has begun.
    fn next_epoch(&self, told: &Epoch) -> Option<&(Epoch, Seq)> {
        match self.epochs.last() {
            Some((current, _)) if current != told => {
                let at = self.epochs.iter().rposition(|(epoch, _)| epoch == told);
                self.epochs.get(at.map_or(0, |at| at + 1))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
