//! What a session has to send, and what one write of it is made of.
//!
//! Invariant: of frames that are sent in parts, of reads of the engine and of what they gave, a session has one each.

use bytes::Bytes;
use threadcast_thread_log::position::{Epoch, Seq};

use super::catch_up::{Batch, Reading};
use super::parts::LongFrame;
use super::turns::Turns;
use crate::defaults::{QUANTUM_BYTES, SLICES_MAX};

/// What waits to be sent.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) turns: Turns,
    /// Who waits for what only one subscription of a session may have at a time.
    pub(super) parked: Vec<(u32, Wants)>,
    /// The frame that is being sent in parts.
    pub(super) long: Option<Box<LongFrame>>,
    /// The read of the engine for a cursor older than its tail.
    pub(super) reading: Option<Box<Reading>>,
    /// What was read for it.
    pub(super) batch: Option<Box<Batch>>,
    pub(super) is_blocked: bool,
}

/// What a parked subscription waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// To send a frame in parts.
    Long,
    /// To read the engine.
    Reading,
}

/// Slices for one write, and whose they are.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) slices: Vec<Bytes>,
    pub(super) shares: Vec<Share>,
    pub(super) bytes: usize,
}

/// One subscription's part of a write: the next `slices` slices, which hold `bytes` bytes.
pub(super) struct Share {
    pub(super) slot: u32,
    pub(super) slices: usize,
    pub(super) bytes: usize,
    pub(super) what: What,
}

/// What a subscription has been sent once its share was taken.
pub(super) enum What {
    /// All up to this seq.
    Baseline(Seq),
    Epoch(Epoch),
    /// An entry a frame, up to `last`.
    Frames {
        last: Seq,
        is_all: bool,
    },
    /// This many bytes more of the long frame.
    Part {
        bytes: usize,
    },
}

impl Outbox {
    /// Bytes that are kept for this socket outside its stream.
    pub(super) fn held_bytes(&self) -> usize {
        let long = self.long.as_ref().map_or(0, |long| long.text.len());
        let batch = self.batch.as_ref().map_or(0, |batch| batch.frames.len());
        long + batch
    }

    pub(super) fn park(&mut self, slot: u32, wants: Wants) {
        self.parked.retain(|(other, _)| *other != slot);
        self.parked.push((slot, wants));
    }

    /// Whether something is there for the subscription in this slot, or being read, that is not in its tail.
    pub(super) fn has_source(&self, slot: u32) -> bool {
        self.long.as_ref().is_some_and(|long| long.slot == slot)
            || self.batch.as_ref().is_some_and(|batch| batch.slot == slot)
            || self
                .reading
                .as_ref()
                .is_some_and(|reading| reading.slot == slot)
    }

    /// The subscription in this slot ends or begins anew: nothing of it is left.
    pub(super) fn forget(&mut self, slot: u32) {
        self.turns.forget(slot);
        self.parked.retain(|(other, _)| *other != slot);
        self.long.take_if(|long| long.slot == slot);
        self.reading.take_if(|reading| reading.slot == slot);
        self.batch.take_if(|batch| batch.slot == slot);
    }
}

impl Turn {
    pub(super) fn has_room(&self) -> bool {
        self.bytes < QUANTUM_BYTES && self.slices.len() < SLICES_MAX - 1
    }

    pub(super) fn push(&mut self, slot: u32, frame: Bytes, what: What) {
        let bytes = frame.len();
        self.slices.push(frame);
        self.push_share(Share {
            slot,
            slices: 1,
            bytes,
            what,
        });
    }

    pub(super) fn push_share(&mut self, share: Share) {
        self.bytes += share.bytes;
        self.shares.push(share);
    }
}
