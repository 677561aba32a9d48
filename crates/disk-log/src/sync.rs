//! Bringing what was written to the disk: one waiting list a database, syncs shared and apart.
//!
//! A sync works on a descriptor of its own. The database's own sync would hold the lock that every
//! append to it takes.
//!
//! Invariant: a ticket is given after its write, and a sync covers the tickets given before it
//! began.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use crate::disk::Disk;
use crate::error::DiskError;
use crate::health::Health;
use crate::journal::ActiveJournal;

/// Least time from the beginning of one sync to the next.
const APART: Duration = Duration::from_millis(10);

/// Longest that something stays unsynced, when nobody waits for it.
const UNSYNCED_MAX: Duration = Duration::from_millis(200);

/// Names a write; what was written before has a lower one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket(u64);

/// What decides when to sync.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// When the oldest of what is unsynced was written.
    oldest: Option<Instant>,
    is_awaited: bool,
    last_began: Option<Instant>,
}

/// When the next sync is due, maybe in the past; `None` while nothing is unsynced.
fn due(pending: &Pending) -> Option<Instant> {
    let oldest = pending.oldest?;
    let wanted = if pending.is_awaited {
        oldest
    } else {
        oldest + UNSYNCED_MAX
    };
    let earliest = pending.last_began.map(|began| began + APART);
    Some(earliest.map_or(wanted, |earliest| earliest.max(wanted)))
}

#[derive(Default)]
struct State {
    written: Ticket,
    /// Of the last who waits.
    awaited: Ticket,
    synced: Ticket,
    oldest: Option<Instant>,
    last_began: Option<Instant>,
    is_closing: bool,
}

impl State {
    fn pending(&self) -> Pending {
        Pending {
            oldest: self.oldest,
            is_awaited: self.awaited > self.synced || self.is_closing,
            last_began: self.last_began,
        }
    }
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    synced: watch::Sender<Ticket>,
}

/// The waiting list of one database, and the thread that works it off.
pub(crate) struct Syncer {
    shared: Arc<Shared>,
    health: Arc<Health>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Syncer {
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(
        database: usize,
        journal: ActiveJournal,
        disk: Arc<dyn Disk>,
        health: Arc<Health>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            synced: watch::Sender::new(Ticket::default()),
        });
        let worker = Worker {
            shared: Arc::clone(&shared),
            database,
            journal,
            disk,
            health: Arc::clone(&health),
        };
        let thread = std::thread::Builder::new()
            .name(format!("log-sync-{database}"))
            .spawn(move || worker.run())?;
        Ok(Self {
            shared,
            health,
            thread: Some(thread),
        })
    }

    /// Says that something was written.
    pub(crate) fn written(&self) {
        let mut state = self.shared.state.lock();
        state.written.0 += 1;
        if state.oldest.is_none() {
            state.oldest = Some(Instant::now());
            self.shared.changed.notify_one();
        }
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// The engine failed before.
    pub(crate) async fn wait_for_all(&self) -> Result<(), DiskError> {
        let ticket = {
            let mut state = self.shared.state.lock();
            let ticket = state.written;
            if state.synced >= ticket {
                return Ok(());
            }
            if state.awaited < ticket {
                state.awaited = ticket;
                self.shared.changed.notify_one();
            }
            ticket
        };
        let mut synced = self.shared.synced.subscribe();
        let mut failures = self.health.failures();
        tokio::select! {
            biased;
            through = synced.wait_for(|through| *through >= ticket) => {
                through.map(drop).map_err(|_| DiskError::Closed)
            }
            _ = failures.wait_for(Option::is_some) => {
                self.health.may_go_on().and(Err(DiskError::Closed))
            }
        }
    }
}

impl Drop for Syncer {
    /// Syncs what is left.
    fn drop(&mut self) {
        self.shared.state.lock().is_closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic was told by the thread itself.
            drop(thread.join());
        }
    }
}

struct Worker {
    shared: Arc<Shared>,
    database: usize,
    journal: ActiveJournal,
    disk: Arc<dyn Disk>,
    health: Arc<Health>,
}

impl Worker {
    fn run(mut self) {
        while let Some(through) = self.next() {
            if let Err(error) = self.journal.sync(&*self.disk) {
                self.health.fail("sync", self.database, error);
                return;
            }
            self.shared.state.lock().synced = through;
            self.shared.synced.send_replace(through);
        }
    }

    /// Waits until a sync is due; `None` when the engine closes and nothing is left.
    fn next(&self) -> Option<Ticket> {
        let mut state = self.shared.state.lock();
        loop {
            let now = Instant::now();
            match due(&state.pending()) {
                Some(due) if due <= now => {
                    state.oldest = None;
                    state.last_began = Some(now);
                    return Some(state.written);
                }
                Some(due) => {
                    self.shared.changed.wait_until(&mut state, due);
                }
                None if state.is_closing => return None,
                None => self.shared.changed.wait(&mut state),
            }
        }
    }
}

#[cfg(test)]
mod tests;
