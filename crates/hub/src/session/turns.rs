//! Whose turn is next: whoever has been served the fewest bytes while ready.
//!
//! Each subscription carries how many bytes it has been served, on a clock that stands at the one whose turn is now. Who
//! becomes ready starts at the clock: having been idle earns nothing. So all who are ready share the socket by bytes,
//! however long their frames are and wherever the socket blocks.
//!
//! Invariant: a slot is in it at most once, while its subscription is marked as queued; so is one that reads the engine,
//! which is not in it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::subscription::{Subscription, Subscriptions};

#[derive(Debug, Default)]
pub(super) struct Turns {
    /// By bytes served, then in the order of queueing.
    queued: BinaryHeap<Reverse<(u64, u64, u32)>>,
    clock: u64,
    last_order: u64,
}

impl Turns {
    pub(super) fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }

    /// Queues a subscription that became ready, unless it is queued already.
    pub(super) fn queue_ready(&mut self, slot: u32, subscription: &mut Subscription) {
        if !subscription.is_queued {
            subscription.served = subscription.served.max(self.clock);
            self.queue(slot, subscription);
        }
    }

    /// Queues a subscription that is still not done, unless it is queued already.
    pub(super) fn queue(&mut self, slot: u32, subscription: &mut Subscription) {
        if std::mem::replace(&mut subscription.is_queued, true) {
            return;
        }
        self.last_order += 1;
        self.queued
            .push(Reverse((subscription.served, self.last_order, slot)));
    }

    /// Whose turn is next.
    pub(super) fn peek(&self) -> Option<u32> {
        self.queued.peek().map(|Reverse((_, _, slot))| *slot)
    }

    /// Takes out whose turn it is.
    pub(super) fn next<'a>(
        &mut self,
        subscriptions: &'a mut Subscriptions,
    ) -> Option<(u32, &'a mut Subscription)> {
        let Reverse((served, _, slot)) = self.queued.pop()?;
        self.clock = self.clock.max(served);
        let subscription = subscriptions.get_mut(slot)?;
        subscription.is_queued = false;
        Some((slot, subscription))
    }

    /// The subscription in this slot ends.
    pub(super) fn forget(&mut self, slot: u32) {
        self.queued.retain(|Reverse((_, _, other))| *other != slot);
    }
}
