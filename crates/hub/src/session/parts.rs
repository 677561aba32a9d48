//! A frame too long for one piece, sent in parts (docs/protocol.md §4.6), one a turn.

use std::sync::Arc;

use bytes::Bytes;
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::write_part;
use threadcast_wire::part::pieces;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::Session;
use super::outbox::{Turn, What};
use crate::block::Block;
use crate::frame::ready;
use crate::subscription::Due;

/// A frame that is sent in parts.
pub(super) struct LongFrame {
    pub(super) slot: u32,
    /// The frame's payload, shared with all who are sent it.
    pub(super) text: Utf8Bytes,
    /// How much of it was sent.
    at: usize,
    /// The number of the next part.
    n: u64,
    /// What the viewer has once the last part was sent.
    seq: Seq,
    /// The block whose only frame it is: as long as it is sent, others who need it share it.
    _block: Option<Arc<Block>>,
}

impl LongFrame {
    pub(super) fn new(slot: u32, seq: Seq, text: Bytes) -> Self {
        Self {
            slot,
            text: Utf8Bytes::try_from(text).expect("frames are text"),
            at: 0,
            n: 1,
            seq,
            _block: None,
        }
    }

    /// The only frame of a block.
    pub(super) fn of_block(slot: u32, block: &Arc<Block>, text: Bytes) -> Self {
        Self {
            _block: Some(Arc::clone(block)),
            ..Self::new(slot, block.last(), text)
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Begins to send a frame in parts, unless another one is being sent.
    pub(super) fn begin_long(&mut self, long: LongFrame, turn: &mut Turn) {
        if self.outbox.long.is_some() {
            return self.outbox.for_long.push(long.slot);
        }
        self.outbox.long = Some(Box::new(long));
        self.push_part(turn);
    }

    pub(super) fn push_part(&mut self, turn: &mut Turn) {
        let Some(long) = &self.outbox.long else {
            return;
        };
        let Some(subscription) = self.subscriptions.get_mut(long.slot) else {
            return;
        };
        let rest = &long.text[long.at..];
        let piece = pieces(rest, self.hub.limits().part_bytes)
            .next()
            .unwrap_or_default();
        let is_last = long.at + piece.len() == long.text.len();
        let frame = ready(|out| write_part(out, subscription.live.tag(), long.n, is_last, piece));
        turn.push(long.slot, frame, What::Part { bytes: piece.len() });
    }

    /// One part more was taken.
    pub(super) fn advance_long(&mut self, bytes: usize) {
        let Some(long) = &mut self.outbox.long else {
            return;
        };
        long.at += bytes;
        long.n += 1;
        if long.at < long.text.len() {
            return;
        }
        if let Some(subscription) = self.subscriptions.get_mut(long.slot) {
            subscription.place.cursor = long.seq;
            subscription.due = Due::Entries;
        }
        self.outbox.long = None;
    }
}
