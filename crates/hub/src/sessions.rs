//! The sessions of this node: what is known of each from outside its own task.
//!
//! Invariant: a session is listed exactly while its guard lives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use dashmap::DashMap;
use tokio::sync::Notify;

use crate::defaults::RECONNECT_AFTER_MAX;
use crate::random;
use crate::ready::ReadyList;

/// Counters of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStats {
    /// The name that `welcome` told.
    pub connection: Box<str>,
    /// Bytes in memory that wait for this socket alone: answers, the rest of a started frame, a frame sent in parts.
    pub held_bytes: usize,
    pub subscriptions: usize,
    /// Whether the socket takes no more bytes now.
    pub is_blocked: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: DashMap<u64, Arc<SessionState>>,
    next: AtomicU64,
    is_draining: AtomicBool,
    closed: Notify,
}

/// What a session shares with the rest of the hub.
#[derive(Debug)]
pub(crate) struct SessionState {
    pub(crate) connection: Box<str>,
    pub(crate) ready: Arc<ReadyList>,
    pub(crate) held_bytes: AtomicUsize,
    pub(crate) subscriptions: AtomicUsize,
    pub(crate) is_blocked: AtomicBool,
    is_draining: AtomicBool,
}

/// Lists a session for as long as it lives.
#[derive(Debug)]
pub(crate) struct SessionGuard<'a> {
    sessions: &'a Sessions,
    number: u64,
    pub(crate) state: Arc<SessionState>,
}

impl SessionState {
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
        self.ready.wake();
    }
}

impl Drop for SessionGuard<'_> {
    fn drop(&mut self) {
        self.sessions.open.remove(&self.number);
        self.sessions.closed.notify_waiters();
    }
}

impl Sessions {
    pub(crate) fn open(&self) -> SessionGuard<'_> {
        let state = Arc::new(SessionState {
            connection: random::name().into(),
            ready: Arc::default(),
            held_bytes: AtomicUsize::new(0),
            subscriptions: AtomicUsize::new(0),
            is_blocked: AtomicBool::new(false),
            is_draining: AtomicBool::new(false),
        });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.open.insert(number, Arc::clone(&state));
        if self.is_draining() {
            state.drain();
        }
        SessionGuard {
            sessions: self,
            number,
            state,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn stats(&self) -> Vec<SessionStats> {
        let stats = self.open.iter().map(|session| SessionStats {
            connection: session.connection.clone(),
            held_bytes: session.held_bytes.load(Ordering::Relaxed),
            subscriptions: session.subscriptions.load(Ordering::Relaxed),
            is_blocked: session.is_blocked.load(Ordering::Relaxed),
        });
        stats.collect()
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// Tells every session, and those that come, to end.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::SeqCst);
        self.open.iter().for_each(|session| session.drain());
    }

    /// Waits until there is none.
    pub(crate) async fn closed(&self) {
        loop {
            let closed = self.closed.notified();
            if self.open.is_empty() {
                return;
            }
            closed.await;
        }
    }
}

/// After how many milliseconds one client of a draining node reconnects: each its own, so that they do not come at once.
pub(crate) fn reconnect_after_ms() -> u64 {
    u64::try_from(random::spread(RECONNECT_AFTER_MAX).as_millis()).unwrap_or(u64::MAX)
}
