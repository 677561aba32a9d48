//! Keeps the index of work right: a thread is in it before it has something to look after, and
//! leaves it afterwards.
//!
//! Invariant: whenever a lease is held, and until the first deadline of what is asked, the index
//! names the thread; at worst it names one that needs nothing.

use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::LeaseChange;

use super::Live;
use crate::view::now;

impl Live {
    /// To be called before an append that changes the lease like this.
    pub(super) async fn expect_work(&self, change: &LeaseChange) -> Result<(), EngineError> {
        match change {
            LeaseChange::Seize { .. } | LeaseChange::Take { .. } => self.set_work(now()).await,
            LeaseChange::Free | LeaseChange::Keep | LeaseChange::Renew => Ok(()),
        }
    }

    /// What this handle last put into the index; to be asked before an append.
    pub(super) fn work_seen(&self) -> Option<Millis> {
        *self.work_seen.lock()
    }

    /// To be called after the append happened; `seen` is from before it. By now others may have
    /// the lease, and what they put into the index stays.
    pub(super) async fn settle_work(&self, change: &LeaseChange, seen: Option<Millis>) {
        let settled = match change {
            // Whoever freed the lease before may have put the thread's next deadline there in the
            // meantime.
            LeaseChange::Seize { .. } | LeaseChange::Take { .. } => self.set_work(now()).await,
            LeaseChange::Free => {
                self.threads.ended().note(&self.thread);
                self.clear_work(seen).await
            }
            LeaseChange::Keep | LeaseChange::Renew => Ok(()),
        };
        if let Err(error) = settled {
            tracing::warn!(thread = %self.thread, error = %error, "the index of work was not brought up to date");
        }
    }

    async fn set_work(&self, due: Millis) -> Result<(), EngineError> {
        self.engine().set_work(&self.thread, due).await?;
        *self.work_seen.lock() = Some(due);
        Ok(())
    }

    async fn clear_work(&self, seen: Option<Millis>) -> Result<(), EngineError> {
        let due = next_look(self.folded.lock().fold());
        match (due, seen) {
            (Some(due), seen) if seen == self.work_seen() => self.set_work(due).await,
            (Some(_), _) => Ok(()),
            (None, Some(seen)) => self.engine().clear_work(&self.thread, seen).await,
            // Put there by another node: whoever looks clears it.
            (None, None) => Ok(()),
        }
    }
}

/// When someone must look at the thread next, by its fold alone.
fn next_look(fold: &Fold) -> Option<Millis> {
    let registry = fold.registry();
    if registry.active().is_some() {
        return Some(now());
    }
    registry
        .interrupts()
        .open()
        .filter_map(|raised| raised.deadline)
        .min()
}
