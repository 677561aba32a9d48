//! Stored folds: the one to begin with when a thread is folded, and keeping one.
//!
//! Nothing here decides when a fold is kept (that is `live_thread/saving.rs`) or what a
//! checkpoint's bytes mean (that is `threadcast-run-registry`). Invariant: what cannot be read is
//! never taken for the fold; who folds goes further back, to the log's first entry if need be.

use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::checkpoint::CheckpointError;
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::engine::{Checkpoint, Engine};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Position, Seq};
use tokio::task::spawn_blocking;

use crate::defaults::{CHECKPOINT_INLINE_BYTES, LOAD_LIMIT};

/// What folding begins with.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) fold: Fold,
    /// Bytes of the checkpoint that it is read from; 0 for an empty fold.
    pub(crate) bytes: usize,
}

/// The log keeps only its end, and no checkpoint that can be read stands for the rest.
#[derive(Debug, thiserror::Error)]
#[error(
    "the log is kept from entry {first} on, and what went before cannot be read from a checkpoint"
)]
struct NoBase {
    first: Seq,
    #[source]
    source: Option<CheckpointError>,
}

/// The latest stored fold at or before `through`, or an empty one if the log is kept from its first
/// entry on; `first` is the first entry that is kept.
///
/// A checkpoint that cannot be read is told in the log, and an earlier one tried.
///
/// # Errors
/// The engine failed. The log is trimmed and no checkpoint can be read: `Unavailable` with both
/// versions if one is of a later program, else `Corrupt`.
pub(crate) async fn base(
    engine: &dyn Engine,
    thread: &ThreadId,
    first: Seq,
    through: Seq,
) -> Result<Base, EngineError> {
    let (mut until, mut failed) = (Some(through), None);
    let begins = first == Seq::ZERO.next();
    while let Some(through) = until {
        let checkpoint = match engine.load_checkpoint(thread, through).await {
            Ok(Some(checkpoint)) if checkpoint.seq.next() >= first => checkpoint,
            Ok(_) => break,
            // The log is whole without it; if the engine is away, it cannot be read either.
            Err(error) if begins => {
                tracing::warn!(%thread, %error, "checkpoint passed over");
                break;
            }
            Err(error) => return Err(error),
        };
        let seq = checkpoint.seq;
        match read(thread, checkpoint).await {
            Ok(base) => return Ok(base),
            Err(error) => {
                tracing::warn!(%thread, %seq, %error, "checkpoint passed over");
                let is_newer = matches!(failed, Some(CheckpointError::Newer { .. }));
                failed = if is_newer { failed } else { Some(error) };
            }
        }
        until = seq.get().checked_sub(1).and_then(Seq::new);
    }
    if begins {
        let fold = Fold::new(thread.clone());
        return Ok(Base { fold, bytes: 0 });
    }
    let is_newer = matches!(failed, Some(CheckpointError::Newer { .. }));
    let error = NoBase {
        first,
        source: failed,
    };
    Err(if is_newer {
        EngineError::Unavailable(error.into())
    } else {
        EngineError::Corrupt {
            thread: thread.to_string(),
            seq: first.get() - 1,
            source: error.into(),
        }
    })
}

async fn read(thread: &ThreadId, checkpoint: Checkpoint) -> Result<Base, CheckpointError> {
    let Checkpoint { seq, epoch, bytes } = checkpoint;
    let (thread, length) = (thread.clone(), bytes.len());
    let read = move || Fold::from_checkpoint(thread, epoch, &bytes);
    let fold = if length <= CHECKPOINT_INLINE_BYTES {
        read()?
    } else {
        let failed = |error: tokio::task::JoinError| unreadable(error.to_string());
        spawn_blocking(read).await.map_err(failed)??
    };
    if fold.head() != seq {
        let head = fold.head();
        return Err(unreadable(format!(
            "it is of entry {head} and was kept for entry {seq}"
        )));
    }
    Ok(Base {
        fold,
        bytes: length,
    })
}

fn unreadable(reason: String) -> CheckpointError {
    CheckpointError::Unreadable {
        reason: reason.into(),
    }
}

/// Folds on up to `until`; `false` if the engine does not hold what comes next, because the log was
/// trimmed or replaced.
///
/// # Errors
/// The engine failed.
pub(crate) async fn fold_on(
    engine: &dyn Engine,
    fold: &mut Fold,
    until: Seq,
    mut taken: impl FnMut(usize),
) -> Result<bool, EngineError> {
    let thread = fold.thread().clone();
    while fold.head() < until {
        let entries = engine.read(&thread, fold.head(), LOAD_LIMIT).await?;
        if entries.first().map(|entry| entry.seq) != Some(fold.head().next()) {
            return Ok(false);
        }
        for entry in entries.iter().take_while(|entry| entry.seq <= until) {
            fold.apply(entry);
            taken(entry.record.size_bytes());
        }
        // An engine in memory never waits, and others of this worker have to.
        tokio::task::yield_now().await;
    }
    Ok(true)
}

/// Keeps a fold beside the log it is of; gives the bytes it takes.
///
/// # Errors
/// The engine failed.
pub(crate) async fn keep(engine: &dyn Engine, fold: Fold) -> Result<usize, EngineError> {
    let thread = fold.thread().clone();
    let Position { epoch, seq } = fold.position().clone();
    let written = spawn_blocking(move || fold.to_checkpoint());
    let failed = |error: tokio::task::JoinError| EngineError::Unavailable(error.into());
    let bytes = written.await.map_err(failed)?;
    let length = bytes.len();
    let checkpoint = Checkpoint { seq, epoch, bytes };
    engine.save_checkpoint(&thread, checkpoint).await?;
    Ok(length)
}
