//! The one task that follows a live thread's log.
//!
//! It holds no handle while it waits, so that the thread leaves memory with its last one. What fails is tried again, for
//! nobody else tells the viewers what other nodes append.

use std::sync::Weak;

use futures::StreamExt;
use futures::stream::BoxStream;
use threadcast_thread_log::engine::Watched;
use tokio::time::sleep;

use super::Live;
use super::advance::Extended;
use crate::backoff::Backoff;

/// Follows the log until the last handle is gone.
pub(super) async fn follow(live: Weak<Live>, mut watched: BoxStream<'static, Watched>) {
    loop {
        while let Some(watched) = watched.next().await {
            let extended = {
                let Some(live) = live.upgrade() else { return };
                let extended = match &watched {
                    Watched::Entries { epoch, entries } => live.extend(epoch, entries),
                    Watched::Gap | Watched::Gone => Extended::Apart,
                };
                live.keep_if_due();
                extended
            };
            if extended == Extended::Apart && catch_up(&live).await.is_none() {
                return;
            }
        }
        tracing::warn!("the watch of the log ended");
        watched = match watch_anew(&live).await {
            Some(watched) => watched,
            None => return,
        };
        // What was appended between the two watches.
        if catch_up(&live).await.is_none() {
            return;
        }
    }
}

/// Takes in what the engine holds, as soon as it can be read; `None` when the last handle is gone.
async fn catch_up(live: &Weak<Live>) -> Option<()> {
    let mut backoff = Backoff::default();
    loop {
        {
            let live = live.upgrade()?;
            match live.catch_up().await {
                Ok(()) => return Some(()),
                Err(error) => {
                    tracing::warn!(%error, cause = ?std::error::Error::source(&error), "following the log failed");
                }
            }
        }
        sleep(backoff.next()).await;
    }
}

/// Another watch, not at once, for this one may end as well; `None` when the last handle is gone.
async fn watch_anew(live: &Weak<Live>) -> Option<BoxStream<'static, Watched>> {
    let mut backoff = Backoff::default();
    loop {
        sleep(backoff.next()).await;
        let live = live.upgrade()?;
        match live.engine().watch(&live.thread).await {
            Ok(watched) => return Some(watched),
            Err(error) => tracing::warn!(%error, "watching the log failed"),
        }
    }
}
