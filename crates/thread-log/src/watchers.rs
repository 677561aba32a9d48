//! Who watches a thread within this process.
//!
//! Nothing is kept for a thread that nobody watches. Invariant: a watcher is told every message
//! that was published after it came, in order, or of a gap.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::engine::Watched;

/// Messages a watcher may be behind before it is told of a gap; 64 slots are some 3 KiB a watched
/// thread.
const MESSAGES: usize = 64;

/// The watchers of one thread; behind its lock, so that none comes while something is published.
#[derive(Debug, Default)]
pub struct Watchers(Option<broadcast::Sender<Watched>>);

impl Watchers {
    /// One more.
    pub fn watch(&mut self) -> Watcher {
        let messages = self
            .0
            .get_or_insert_with(|| broadcast::Sender::new(MESSAGES));
        Watcher(messages.subscribe())
    }

    /// Tells all of them; the message is made only if there are any.
    pub fn publish(&mut self, message: impl FnOnce() -> Watched) {
        self.tidy();
        // Sending fails when the last of them has just gone.
        self.0.take_if(|watchers| watchers.send(message()).is_err());
    }

    /// Lets go of what the last one left.
    pub fn tidy(&mut self) {
        self.0.take_if(|watchers| watchers.receiver_count() == 0);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0
            .as_ref()
            .is_none_or(|watchers| watchers.receiver_count() == 0)
    }
}

/// One of them; counted for as long as it lives.
#[derive(Debug)]
pub struct Watcher(broadcast::Receiver<Watched>);

impl Watcher {
    /// The next message; `None` when the engine is gone.
    pub async fn next(&mut self) -> Option<Watched> {
        match self.0.recv().await {
            Ok(message) => Some(message),
            Err(RecvError::Lagged(_)) => Some(Watched::Gap),
            Err(RecvError::Closed) => None,
        }
    }
}
