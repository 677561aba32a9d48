//! When the fold of a live thread is kept: as its log grows, and when the thread comes to rest or
//! leaves memory.
//!
//! Off the delivery path: a clone, which shares messages and state, is made while the fold is
//! looked at; it becomes bytes on another thread. Invariant: of one thread one fold is written at a
//! time, and what all of them take on the store stays in proportion to its log, for each covers at
//! least an eighth as many bytes of it as the one before took.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::position::Seq;
use tokio::runtime::Handle;
use tracing::Instrument;

use super::Live;
use crate::checkpoints::keep;
use crate::defaults::{CHECKPOINT_BYTES, LEAVING_BYTES, LEAVING_ENTRIES, LEAVING_SHARE};
use crate::threads::Threads;

/// What was folded since a checkpoint was last made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Since {
    /// The seq it was made at.
    pub(super) seq: Seq,
    /// Its length; 0 if there is none.
    pub(super) checkpoint_bytes: usize,
    /// JSON of the entries since.
    pub(super) bytes: usize,
}

impl Since {
    /// Whether so much came that another one is worth its bytes.
    fn is_much(self) -> bool {
        self.bytes >= CHECKPOINT_BYTES.max(self.checkpoint_bytes)
    }

    /// Whether reading it again would take noticeable time.
    fn is_worth_keeping(self, head: Seq) -> bool {
        let entries = head.get() - self.seq.get();
        let is_much = entries > LEAVING_ENTRIES || self.bytes > LEAVING_BYTES;
        is_much && self.bytes >= self.checkpoint_bytes / LEAVING_SHARE
    }

    /// From here on is counted what comes, whether or not the checkpoint made now is kept: what
    /// failed is tried again only after as much more.
    fn begin(&mut self, head: Seq) {
        (self.seq, self.bytes) = (head, 0);
    }
}

impl Live {
    /// Begins to keep the fold if enough came since it was last kept.
    pub(super) fn keep_if_due(self: &Arc<Self>) {
        let fold = {
            let mut folded = self.folded.lock();
            let is_due = folded.since.is_much()
                || is_at_rest(folded.fold()) && folded.since.is_worth_keeping(folded.fold().head());
            if !is_due || self.is_saving.swap(true, Ordering::AcqRel) {
                return;
            }
            let fold = folded.fold().clone();
            folded.since.begin(fold.head());
            fold
        };
        let live = Arc::clone(self);
        let span = tracing::info_span!(parent: None, "checkpoint", thread = %self.thread);
        let saving = async move {
            if let Some(bytes) = live.threads.keep(fold).await {
                live.folded.lock().since.checkpoint_bytes = bytes;
            }
            live.is_saving.store(false, Ordering::Release);
        };
        self.threads.savers().spawn(saving.instrument(span));
    }

    /// Keeps the fold of a thread that leaves memory, if its log would take long to read.
    pub(super) fn keep_on_leaving(&mut self) {
        let folded = self.folded.get_mut();
        let is_due = folded.since.is_worth_keeping(folded.fold().head());
        // Without a runtime the program is ending; a log is all that is needed.
        if let (true, Ok(runtime)) = (is_due, Handle::try_current()) {
            let fold = folded.take_fold();
            let threads = Arc::clone(&self.threads);
            let span = tracing::info_span!(parent: None, "checkpoint", thread = %self.thread);
            let saving = async move { threads.keep(fold).await }.instrument(span);
            self.threads.savers().spawn_on(saving, &runtime);
        }
    }
}

/// Whether no run goes on, so that the log does not either for a while.
fn is_at_rest(fold: &Fold) -> bool {
    fold.registry().active().is_none() && fold.conversation().verifier().active_run().is_none()
}

impl Threads {
    /// Keeps a fold, a few at a time; gives the bytes it takes. A failure is told in the log:
    /// nothing is lost by it.
    async fn keep(&self, fold: Fold) -> Option<usize> {
        let _turn = self.saver_turns().acquire().await.ok()?;
        let seq = fold.head();
        match keep(&**self.engine(), fold).await {
            Ok(bytes) => {
                tracing::debug!(%seq, bytes, "checkpoint kept");
                Some(bytes)
            }
            Err(error) => {
                tracing::warn!(%seq, %error, cause = ?std::error::Error::source(&error), "checkpoint not kept");
                None
            }
        }
    }
}
