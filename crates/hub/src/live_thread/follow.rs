//! The entries of a live thread one after the other, for those who need entries and not frames.

use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Position, PositionVerdict, Seq};
use tokio::sync::watch;

use super::LiveThread;
use crate::defaults::CATCH_UP_LIMIT;

/// A reader of a live thread; keeps the thread in memory.
#[derive(Debug)]
pub struct Follow {
    live: LiveThread,
    after: Seq,
    /// The log that it reads; `None` if that was gone from the start.
    generation: Option<u32>,
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
    pub(super) fn new(live: LiveThread, after: &Position) -> Self {
        let head = live.head_changed();
        let generation = {
            // No log takes another one's place between the two looks.
            let folded = live.0.folded.lock();
            let generation = live.0.delivery.lock().generation();
            (folded.verdict(after) == PositionVerdict::Valid).then_some(generation)
        };
        Self {
            live,
            after: after.seq,
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
            if Some(self.live.generation()) != self.generation {
                return Ok(Followed::Replaced);
            }
            if self.after < head {
                let entries = self.live.read(self.after, CATCH_UP_LIMIT).await?;
                // What was read may be of the log that came after.
                let is_same = Some(self.live.generation()) == self.generation;
                return Ok(match (entries.first(), entries.last()) {
                    (Some(first), Some(last)) if is_same && first.seq == self.after.next() => {
                        self.after = last.seq;
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
