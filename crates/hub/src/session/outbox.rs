//! What a session has to send, and what one write of it is made of.
//!
//! Invariant: of frames that are sent in parts and of reads of the engine a session has one each. What a read gave is
//! offered to the socket at once, or let go.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use threadcast_thread_log::position::{Epoch, Seq};

use super::catch_up::Reading;
use super::parts::LongFrame;
use super::turns::Turns;
use crate::block::Block;
use crate::defaults::{QUANTUM_BYTES, SLICES_MAX};

/// What waits to be sent.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) turns: Turns,
    /// The frame that is being sent in parts.
    pub(super) long: Option<Box<LongFrame>>,
    /// Who waits to send one.
    pub(super) for_long: Parked,
    /// The read of the engine for a cursor that its tail does not serve.
    pub(super) reading: Option<Box<Reading>>,
    /// Who waits to read.
    pub(super) for_reading: Parked,
}

/// Slots of subscriptions that wait for what only one of a session may have at a time, first come first served.
#[derive(Debug, Default)]
pub(super) struct Parked {
    by_order: BTreeMap<u64, u32>,
    orders: HashMap<u32, u64>,
    last_order: u64,
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
    /// All frames of the block.
    Block {
        block: Arc<Block>,
        /// Whether nothing followed them when they were asked for.
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
        self.long.as_ref().map_or(0, |long| long.text.len())
    }

    /// Whether somebody's turn can come.
    pub(super) fn has_turns(&self) -> bool {
        !self.turns.is_empty()
            || self.long.is_none() && !self.for_long.is_empty()
            || self.reading.is_none() && !self.for_reading.is_empty()
    }

    /// Of those who waited for what is free now the first ones, who are not parked any more.
    pub(super) fn unpark(&mut self) -> impl Iterator<Item = u32> + use<> {
        let long = self.long.is_none().then(|| self.for_long.pop());
        let reading = self.reading.is_none().then(|| self.for_reading.pop());
        [long, reading].into_iter().flatten().flatten()
    }

    /// The subscription in this slot has its turn.
    pub(super) fn leave(&mut self, slot: u32) {
        self.for_long.remove(slot);
        self.for_reading.remove(slot);
    }

    pub(super) fn is_sending_long(&self, slot: u32) -> bool {
        self.long.as_ref().is_some_and(|long| long.slot == slot)
    }

    /// The subscription in this slot ends or begins anew: nothing of it is left.
    pub(super) fn forget(&mut self, slot: u32) {
        self.turns.forget(slot);
        self.leave(slot);
        self.long.take_if(|long| long.slot == slot);
        self.reading.take_if(|reading| reading.slot == slot);
    }
}

impl Parked {
    fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    pub(super) fn push(&mut self, slot: u32) {
        self.remove(slot);
        self.last_order += 1;
        self.by_order.insert(self.last_order, slot);
        self.orders.insert(slot, self.last_order);
    }

    fn pop(&mut self) -> Option<u32> {
        let (_, slot) = self.by_order.pop_first()?;
        self.orders.remove(&slot);
        Some(slot)
    }

    fn remove(&mut self, slot: u32) {
        // Asked once a turn, and hardly ever is there anybody.
        if !self.is_empty()
            && let Some(order) = self.orders.remove(&slot)
        {
            self.by_order.remove(&order);
        }
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
