//! What sessions read of a live thread: its tail, and where its epochs begin.

use bytes::Bytes;
use threadcast_thread_log::position::{Epoch, Seq};

use super::{Budget, Taken};
use crate::defaults::TAIL_BYTES;
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
    /// The tail has lost what follows the cursor; entries up to `until` may be sent from the engine.
    Behind {
        until: Seq,
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
                is_all: last >= self.tail.head(),
            },
            Ok(Taken::Long { seq, text }) => Step::Long { seq, text },
            // The engine may hold more than was folded, of an epoch that is not known here yet.
            Err(TooOld) => Step::Behind {
                until: until.min(self.tail.head()),
            },
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
mod tests {
    use super::*;

    fn seq(seq: u64) -> Seq {
        Seq::new(seq).unwrap()
    }

    #[test]
    fn what_the_engine_holds_beyond_the_fold_is_not_sent() {
        let mut delivery = Delivery::default();
        let mut place = delivery.place();
        delivery.skip_to(seq(10));
        place.cursor = seq(3);
        let step = delivery.step(&place, 1000, 10, &mut Vec::new());
        assert_eq!(step, Step::Behind { until: seq(10) });
    }
}
