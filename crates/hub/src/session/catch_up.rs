//! A cursor that its thread's tail does not serve: entries are read from the engine, as they are or compacted.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::ResetReason;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::sleep;

use super::Session;
use super::outbox::{Share, Turn, What};
use super::parts::LongFrame;
use crate::backoff::Backoff;
use crate::block::Block;
use crate::decisions::engine_error_body;
use crate::live_thread::LiveThread;
use crate::subscription::Due;

/// What a subscription that is behind needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// The last entry that may be sent.
    pub(super) until: Seq,
    pub(super) wanted: Wanted,
    /// Whether nothing followed `until` when this was found.
    pub(super) is_all: bool,
}

/// What of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// What the entries amount to.
    Compacted,
    /// What was trimmed, as a baseline.
    Edge,
    /// Each entry by itself.
    Entries,
}

impl Need {
    /// The baseline of a trimmed log's first entry that is kept.
    pub(super) const EDGE: Self = Self {
        until: Seq::MAX,
        wanted: Wanted::Edge,
        is_all: false,
    };
}

/// A read of the engine for one subscription.
pub(super) struct Reading {
    pub(super) slot: u32,
    need: Need,
    block: BoxFuture<'static, Result<Option<Arc<Block>>, EngineError>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Begins to read the engine, unless it is being read for another subscription.
    pub(super) fn begin_reading(
        &mut self,
        cx: &mut Context<'_>,
        slot: u32,
        need: Need,
        turn: &mut Turn,
    ) {
        if self.outbox.reading.is_some() {
            return self.outbox.for_reading.push(slot);
        }
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let live = subscription.live.clone();
        let (after, generation) = (subscription.place.cursor, subscription.place.generation);
        let block = read(live, generation, after, need).boxed();
        // Until it is read nothing else of its thread can be sent.
        subscription.is_queued = true;
        self.outbox.reading = Some(Box::new(Reading { slot, need, block }));
        self.poll_reading(cx, Some(turn));
    }

    /// Takes in what the engine gave. Without a turn, for a socket that is blocked, it is let go: others may wait for the
    /// same block, so it has to be read to its end.
    pub(super) fn poll_reading(&mut self, cx: &mut Context<'_>, turn: Option<&mut Turn>) {
        let Some(reading) = &mut self.outbox.reading else {
            return;
        };
        let Poll::Ready(block) = reading.block.poll_unpin(cx) else {
            return;
        };
        let Reading { slot, need, .. } = **reading;
        self.outbox.reading = None;
        if let Some(subscription) = self.subscriptions.get_mut(slot) {
            subscription.is_queued = false;
            // What was marked meanwhile is found when this is sent.
            subscription.flag.clear();
        }
        match (block, turn) {
            (Ok(block), Some(turn)) => self.take_block(slot, need, block, turn),
            (Ok(_), None) => self.queue(slot),
            (Err(error), _) => self.end_subscription(slot, &engine_error_body(&error)),
        }
    }

    fn take_block(&mut self, slot: u32, need: Need, block: Option<Arc<Block>>, turn: &mut Turn) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        if subscription.live.generation() != subscription.place.generation {
            // It may be of another log than its viewer was told.
            return self.judge_anew(slot);
        }
        let Some(block) = block else {
            if need.wanted == Wanted::Edge {
                // Nothing is trimmed after all.
                subscription.due = Due::Baseline;
                return self.queue(slot);
            }
            return self.begin_anew(slot, ResetReason::Trimmed);
        };
        if need.wanted == Wanted::Edge && block.bytes() > self.hub.limits().baseline_bytes {
            return self.end_too_large(slot);
        }
        if need.wanted == Wanted::Compacted && subscription.is_better_off_anew(&block) {
            return self.begin_anew(slot, ResetReason::Behind);
        }
        if let Some(text) = block.long() {
            return self.begin_long(LongFrame::of_block(slot, &block, text), turn);
        }
        let before = turn.slices.len();
        turn.slices.extend(block.frames());
        turn.push_share(Share {
            slot,
            slices: turn.slices.len() - before,
            bytes: block.bytes(),
            what: What::Block {
                is_all: need.is_all && block.last() >= need.until,
                block,
            },
        });
    }

    /// The socket took all of a block.
    pub(super) fn advance_block(&mut self, slot: u32, block: &Block, is_all: bool) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        subscription.place.cursor = block.last();
        subscription.due = Due::Entries;
        if is_all {
            // What came since belongs to the next round.
            subscription.has_caught_up();
            subscription.mark_if_behind();
        } else {
            self.queue(slot);
        }
    }
}

/// Entries after a cursor. While the log store is away the cursor waits for it: nothing is lost by that.
async fn read(
    live: LiveThread,
    generation: u32,
    after: Seq,
    need: Need,
) -> Result<Option<Arc<Block>>, EngineError> {
    let mut backoff = Backoff::default();
    loop {
        let read = match need.wanted {
            Wanted::Compacted => live.compacted(generation, after, need.until).await,
            Wanted::Edge => live.edge().await,
            Wanted::Entries => live.as_they_are(after, need.until).await,
        };
        match read {
            Err(EngineError::Unavailable(error)) => {
                tracing::warn!(thread = %live.thread(), %error, "the log store is away; it is asked again");
            }
            read => return read,
        }
        sleep(backoff.next()).await;
    }
}
