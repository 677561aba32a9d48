//! The end of a thread.
//!
//! Invariant: no run is accepted between the look that finds none active and the deletion, for the
//! lease is taken first.

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_thread_log::engine::ThreadRecord;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;
use tokio::time::sleep;

use crate::defaults::{TRIES_MAX, TRY_AGAIN_MAX};
use crate::hub::Hub;
use crate::random;
use crate::sweeper::reserve;

/// Why a thread is not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    #[error("thread `{thread}` has no log")]
    NoThread { thread: ThreadId },
    #[error("run `{run}` of thread `{thread}` is active")]
    Busy { thread: ThreadId, run: RunId },
    /// Others took the lease each time.
    #[error("others were faster {tries} times")]
    Overloaded { tries: u32 },
    #[error("the log store failed")]
    Engine(#[from] EngineError),
}

impl Hub {
    /// Deletes a thread that has no active run; gives the seq of the last entry that it had. `note`
    /// says who and when.
    ///
    /// # Errors
    /// There is no log, or a run is active; the engine failed.
    pub async fn delete(&self, thread: &ThreadId, note: ThreadRecord) -> Result<Seq, DeleteError> {
        let live = self.live(thread).await?;
        // The sweeper leaves it alone meanwhile.
        let _owned = live.own();
        for attempt in 0..TRIES_MAX {
            if attempt > 0 {
                sleep(random::spread(TRY_AGAIN_MAX)).await;
            }
            live.catch_up().await?;
            let (head, active) = live.with_fold(|fold| {
                let active = fold.registry().active().map(|run| run.id.clone());
                (fold.head(), active)
            });
            let thread = || thread.clone();
            if head == Seq::ZERO {
                return Err(DeleteError::NoThread { thread: thread() });
            }
            if let Some(run) = active {
                return Err(DeleteError::Busy {
                    thread: thread(),
                    run,
                });
            }
            if reserve(self, &live).await? {
                self.engine().delete(live.thread(), note).await?;
                tracing::info!(thread = %live.thread(), seq = %head, "thread deleted");
                if let Err(error) = live.catch_up().await {
                    tracing::warn!(thread = %live.thread(), %error, "a deleted thread is still in memory");
                }
                return Ok(head);
            }
        }
        Err(DeleteError::Overloaded { tries: TRIES_MAX })
    }
}
