//! What a thread's log amounted to at an entry of its past: for time travel, forks and the edge of
//! a trimmed log.
//!
//! Made of a checkpoint and the entries after it, never of the live fold, which is at the head.
//! Invariant: a few are made at a time; whoever else asks waits.

use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::engine::Head;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Epoch, Seq};

use crate::checkpoints::{base, fold_on};
use crate::defaults::READS_MAX;
use crate::hub::Hub;
use crate::live_thread::LogInMotion;
use crate::threads::Threads;

/// Why there is no fold of an entry.
#[derive(Debug, thiserror::Error)]
pub enum FoldAtError {
    #[error("thread `{thread}` has no log")]
    NoThread { thread: ThreadId },
    #[error("entry {asked} was asked for, the log of thread `{thread}` ends with {head}")]
    Beyond {
        thread: ThreadId,
        asked: Seq,
        head: Seq,
    },
    /// The entries up to the one asked for are dropped.
    #[error(
        "entry {asked} was asked for, the log of thread `{thread}` can be told from {first} on"
    )]
    Trimmed {
        thread: ThreadId,
        asked: Seq,
        /// The first seq that can be asked for: the one before the first entry that is kept.
        first: Seq,
    },
    #[error("the log store failed")]
    Engine(#[from] EngineError),
}

impl Hub {
    /// The fold of a thread's entries up to and including `seq`; the empty one for 0.
    ///
    /// # Errors
    /// The thread has no log, or none that reaches so far, or not from so far back; the engine
    /// failed.
    pub async fn fold_at(&self, thread: &ThreadId, seq: Seq) -> Result<Fold, FoldAtError> {
        self.threads().fold_at(thread, seq).await
    }
}

impl Threads {
    pub(crate) async fn fold_at(&self, thread: &ThreadId, seq: Seq) -> Result<Fold, FoldAtError> {
        let _turn = self.foldings().acquire().await.expect("it is never closed");
        let engine = &**self.engine();
        for _ in 0..READS_MAX {
            let head = engine.head(thread).await?;
            judge(thread, seq, &head)?;
            let mut fold = match base(engine, thread, head.first, seq).await {
                Ok(base) => base.fold,
                // It was trimmed meanwhile, and the checkpoint dropped.
                Err(_) if engine.head(thread).await?.first != head.first => continue,
                Err(error) => return Err(error.into()),
            };
            if fold_on(engine, &mut fold, seq, |_| ()).await? {
                fold.enter_epoch(epoch_at(&head.epochs, seq));
                return Ok(fold);
            }
        }
        Err(LogInMotion::error().into())
    }
}

fn judge(thread: &ThreadId, asked: Seq, head: &Head) -> Result<(), FoldAtError> {
    let thread = || thread.clone();
    if head.epochs.is_empty() {
        return Err(FoldAtError::NoThread { thread: thread() });
    }
    if asked > head.seq {
        return Err(FoldAtError::Beyond {
            thread: thread(),
            asked,
            head: head.seq,
        });
    }
    let first = Seq::new(head.first.get() - 1).expect("it is one less");
    if asked < first {
        return Err(FoldAtError::Trimmed {
            thread: thread(),
            asked,
            first,
        });
    }
    Ok(())
}

/// The epoch that the entry at `seq` was written in; the earliest one known for an entry that is
/// older.
pub(crate) fn epoch_at(epochs: &[(Epoch, Seq)], seq: Seq) -> Epoch {
    let at = epochs
        .iter()
        .rfind(|(_, first)| *first <= seq)
        .or_else(|| epochs.first());
    at.map(|(epoch, _)| epoch.clone()).unwrap_or_default()
}
