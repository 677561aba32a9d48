//! The entries of a live thread one after the other, for those who need entries and not frames.

use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;
use tokio::sync::watch;

use super::LiveThread;
use crate::defaults::CATCH_UP_LIMIT;

/// A reader of a live thread; keeps the thread in memory.
#[derive(Debug)]
pub struct Follow {
    live: LiveThread,
    after: Seq,
    generation: u32,
    head: watch::Receiver<Seq>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Followed {
    /// At least one, consecutive.
    Entries(Vec<Entry>),
    /// The log was replaced, or lost what comes next: the reader has to begin anew.
    Replaced,
}

impl Follow {
    pub(super) fn new(live: LiveThread, after: Seq) -> Self {
        let head = live.head_changed();
        let generation = live.0.delivery.lock().generation();
        Self {
            live,
            after,
            generation,
            head,
        }
    }

    /// The seq of the last entry given.
    pub fn after(&self) -> Seq {
        self.after
    }

    /// The next entries; waits for them.
    ///
    /// Cancel safe: entries are given once, when the future is ready.
    ///
    /// # Errors
    /// The engine failed.
    pub async fn next(&mut self) -> Result<Followed, EngineError> {
        loop {
            let head = *self.head.borrow_and_update();
            if self.live.0.delivery.lock().generation() != self.generation {
                return Ok(Followed::Replaced);
            }
            if self.after < head {
                let entries = self.live.read(self.after, CATCH_UP_LIMIT).await?;
                return Ok(match entries.as_slice() {
                    [first, .., last] if first.seq == self.after.next() => {
                        self.after = last.seq;
                        Followed::Entries(entries)
                    }
                    [only] if only.seq == self.after.next() => {
                        self.after = only.seq;
                        Followed::Entries(entries)
                    }
                    _ => Followed::Replaced,
                });
            }
            // The sender lives as long as the handle that this holds.
            if self.head.changed().await.is_err() {
                return Ok(Followed::Replaced);
            }
        }
    }
}
