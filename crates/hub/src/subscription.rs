//! One viewer's place in one thread, and the places of one session.
//!
//! A subscription holds no frames: a cursor, the epoch that was told, and what is due.

use std::sync::Arc;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::position::Seq;

use crate::block::Block;
use crate::defaults::{NEAR_ENTRIES, RESET_BYTES_MIN};
use crate::live_thread::{LiveThread, Place, Serve, Step};
use crate::ready::{ReadyFlag, ReadyList};

use sample::Sample;

mod sample;

#[derive(Debug)]
pub(crate) struct Subscription {
    pub(crate) live: LiveThread,
    pub(crate) flag: Arc<ReadyFlag>,
    pub(crate) place: Place,
    pub(crate) due: Due,
    pub(crate) detail: Detail,
    /// Whether what it was last sent was compacted, because it is catching up or its socket is slow: it is sent what entries
    /// amount to until it is near the head.
    is_compacting: bool,
    /// What came of the entries since it last had all there was.
    sample: Sample,
    /// How far it has been served, by the clock of its session's turns.
    pub(crate) served: u64,
    /// Whether it waits for its turn, or for its read of the engine.
    pub(crate) is_queued: bool,
}

/// What a subscription is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Baseline,
    /// A baseline of what was trimmed, and every entry that is still kept after it.
    Edge,
    Entries,
}

/// What a viewer asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Every entry by itself.
    Entries,
    /// To hold what the log amounts to.
    Fold,
    /// What comes; of the rest it holds nothing.
    Tail,
}

impl Subscription {
    /// From here on the flag is marked whenever the thread's tail advances.
    pub(crate) fn new(live: LiveThread, ready: &Arc<ReadyList>, slot: u32) -> Self {
        let flag = ReadyFlag::new(Arc::clone(ready), slot);
        live.add_subscriber(&flag);
        let place = live.place();
        Self {
            live,
            flag,
            place,
            due: Due::Entries,
            detail: Detail::Fold,
            is_compacting: false,
            sample: Sample::default(),
            served: 0,
            is_queued: false,
        }
    }

    /// Sets where it begins. Of a thread without a log there is no baseline: its first entries are all there is.
    pub(crate) fn begin(&mut self, cursor: Seq, due: Due, detail: Detail) {
        self.detail = detail;
        let behind = self.place.cursor.get().saturating_sub(cursor.get());
        self.is_compacting = due == Due::Entries && behind > NEAR_ENTRIES;
        self.due = if self.place.told.is_none() {
            Due::Entries
        } else {
            due
        };
        self.place.cursor = cursor;
    }

    /// How it is served now.
    pub(crate) fn serve(&self, is_slow: bool) -> Serve {
        match self.detail {
            Detail::Entries => Serve::Entries,
            Detail::Fold | Detail::Tail if is_slow => Serve::Slow,
            Detail::Fold | Detail::Tail if self.is_compacting => Serve::CatchingUp,
            Detail::Fold | Detail::Tail => Serve::Near,
        }
    }

    /// Takes note of what it is sent next.
    pub(crate) fn note(&mut self, step: &Step) {
        match step {
            Step::Behind { is_compacted, .. } => self.is_compacting = *is_compacted,
            Step::CaughtUp | Step::Frames { .. } => {
                self.is_compacting = false;
                self.has_caught_up();
            }
            // It stands between others, which go on as they did.
            Step::Long { .. } | Step::Epoch(_) | Step::Replaced => {}
        }
    }

    /// It was sent all there was: what comes from here on says nothing of it, nor it of that.
    pub(crate) fn has_caught_up(&mut self) {
        self.sample = Sample::default();
    }

    /// Whether a baseline and what follows it are shorter than this block and what follows that, by what came so far. A
    /// baseline that may be is made, for how long it is, and whether it may be sent at all, shows only then.
    pub(crate) fn is_better_off_anew(&mut self, block: &Block) -> bool {
        self.sample = self.sample.and(block);
        self.is_baseline_shorter(block)
            && self.live.baseline().is_some()
            && self.is_baseline_shorter(block)
    }

    fn is_baseline_shorter(&self, block: &Block) -> bool {
        let head = self.live.place().cursor.get();
        let left = head.saturating_sub(block.last().get());
        if self.detail != Detail::Fold || !self.sample.tells(left) {
            return false;
        }
        let on = self.sample.estimate(left) + block.bytes() as u64;
        if on <= RESET_BYTES_MIN {
            return false;
        }
        let (baseline, seq) = self.live.baseline_length();
        let since = self.sample.estimate(head.saturating_sub(seq.get()));
        on > since.saturating_add(baseline as u64)
    }

    /// Marks it as ready if something came after its cursor.
    pub(crate) fn mark_if_behind(&self) {
        if self.place.cursor < self.live.place().cursor {
            self.flag.mark();
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.live.remove_subscriber(&self.flag);
    }
}

/// The subscriptions of a session by slot; at most one a thread.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    slots: Vec<Option<Box<Subscription>>>,
    count: usize,
}

impl Subscriptions {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Subscription> {
        self.slots.get_mut(slot as usize)?.as_deref_mut()
    }

    /// Looks through all of them: asked once a request, and a session has 1,000 at most.
    pub(crate) fn slot_of(&self, thread: &ThreadId) -> Option<u32> {
        let at = self.slots.iter().position(|slot| {
            slot.as_ref()
                .is_some_and(|held| held.live.thread() == thread)
        })?;
        u32::try_from(at).ok()
    }

    /// The slot that the next new subscription gets.
    pub(crate) fn free_slot(&self) -> u32 {
        let at = self
            .slots
            .iter()
            .position(Option::is_none)
            .unwrap_or(self.slots.len());
        u32::try_from(at).expect("subscriptions are limited")
    }

    /// Puts a subscription into its slot; one that was there ends.
    pub(crate) fn put(&mut self, slot: u32, subscription: Subscription) {
        let at = slot as usize;
        if at == self.slots.len() {
            self.slots.push(None);
        }
        if self.slots[at].replace(Box::new(subscription)).is_none() {
            self.count += 1;
        }
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        if self
            .slots
            .get_mut(slot as usize)
            .and_then(Option::take)
            .is_some()
        {
            self.count -= 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.count = 0;
    }
}
