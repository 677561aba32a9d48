//! What the log amounts to, with what is needed to judge positions on it.

use std::sync::Arc;

use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::engine::{Engine, Head};
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Epoch, Position, PositionVerdict, Seq, verdict};
use threadcast_wire::hub_frame::ThreadTag;

use super::advance::LogInMotion;
use super::saving::Since;
use crate::baseline::{Baseline, BaselineBounds, estimate};
use crate::checkpoints::{base, fold_on};
use crate::defaults::READS_MAX;
use crate::history::epoch_at;

/// Invariant: `epochs` is what the engine said of the log that `fold` folds, the last one being the
/// fold's.
pub(super) struct Folded {
    fold: Fold,
    epochs: Vec<(Epoch, Seq)>,
    first: Seq,
    baseline: Option<Arc<Baseline>>,
    pub(super) since: Since,
}

impl Folded {
    pub(super) fn new(thread: ThreadId) -> Self {
        Self {
            fold: Fold::new(thread),
            epochs: Vec::new(),
            first: Seq::ZERO.next(),
            baseline: None,
            since: Since::default(),
        }
    }

    /// Folds the log up to its present head, from the latest checkpoint on.
    pub(super) async fn load(engine: &dyn Engine, thread: &ThreadId) -> Result<Self, EngineError> {
        for _ in 0..READS_MAX {
            let head = engine.head(thread).await?;
            let base = base(engine, thread, head.first, head.seq).await?;
            let mut folded = Self {
                since: Since {
                    seq: base.fold.head(),
                    checkpoint_bytes: base.bytes,
                    bytes: 0,
                },
                fold: base.fold,
                ..Self::new(thread.clone())
            };
            folded.enter(&head);
            let since = &mut folded.since.bytes;
            if fold_on(engine, &mut folded.fold, head.seq, |bytes| *since += bytes).await? {
                return Ok(folded);
            }
        }
        Err(LogInMotion::error())
    }

    pub(super) fn fold(&self) -> &Fold {
        &self.fold
    }

    pub(super) fn epochs(&self) -> &[(Epoch, Seq)] {
        &self.epochs
    }

    pub(super) fn first(&self) -> Seq {
        self.first
    }

    pub(super) fn epoch_at(&self, seq: Seq) -> Epoch {
        epoch_at(&self.epochs, seq)
    }

    pub(super) fn verdict(&self, position: &Position) -> PositionVerdict {
        verdict(&self.epochs, self.first, self.fold.head(), position)
    }

    /// The fold, when nobody looks at it any more.
    pub(super) fn take_fold(&mut self) -> Fold {
        let empty = Fold::new(self.fold.thread().clone());
        std::mem::replace(&mut self.fold, empty)
    }

    /// The entries before `first` were dropped.
    pub(super) fn trimmed(&mut self, first: Seq) {
        self.first = self.first.max(first);
    }

    /// Takes over what the engine says of the log that this fold is a prefix of.
    pub(super) fn enter(&mut self, head: &Head) {
        self.first = self.first.max(head.first);
        if self.epochs != head.epochs {
            self.epochs.clone_from(&head.epochs);
            self.fold.enter_epoch(
                head.epochs
                    .last()
                    .map(|(epoch, _)| epoch.clone())
                    .unwrap_or_default(),
            );
        }
    }

    /// The log's first entries came with this epoch.
    pub(super) fn begin(&mut self, epoch: Epoch) {
        debug_assert!(self.epochs.is_empty() && self.fold.head() == Seq::ZERO);
        self.epochs.push((epoch.clone(), Seq::ZERO.next()));
        self.fold.enter_epoch(epoch);
    }

    /// Folds the entries right after the head.
    pub(super) fn apply(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.fold.apply(entry);
            self.since.bytes += entry.record.size_bytes();
        }
        let head = self.fold.head();
        self.baseline.take_if(|baseline| !baseline.serves(head));
    }

    /// The latest snapshot if it still serves.
    fn made_baseline(&self) -> Option<&Arc<Baseline>> {
        let head = self.fold.head();
        self.baseline
            .as_ref()
            .filter(|baseline| baseline.serves(head))
    }

    /// About how long the baseline is that a viewer would get now, and up to where it reaches.
    pub(super) fn baseline_length(&self) -> (usize, Seq) {
        match self.made_baseline() {
            Some(baseline) => (baseline.bytes(), baseline.seq),
            None => (estimate(&self.fold), self.fold.head()),
        }
    }

    /// About how long the baseline is that would have to be made now; 0 if there is one.
    pub(super) fn baseline_to_make(&self) -> usize {
        match self.made_baseline() {
            Some(_) => 0,
            None => estimate(&self.fold),
        }
    }

    /// The latest snapshot if it still serves, else a new one; `None` without a log.
    pub(super) fn baseline(
        &mut self,
        tag: &ThreadTag,
        bounds: BaselineBounds,
    ) -> Option<Arc<Baseline>> {
        if self.fold.head() == Seq::ZERO {
            return None;
        }
        if let Some(baseline) = self.made_baseline() {
            return Some(Arc::clone(baseline));
        }
        let baseline = Arc::new(Baseline::of(&self.fold, tag, bounds));
        self.baseline = Some(Arc::clone(&baseline));
        Some(baseline)
    }
}
