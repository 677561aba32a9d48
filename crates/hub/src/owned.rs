//! The threads whose active run an owner of this node looks after.
//!
//! The sweeper leaves them alone without reading anything. Invariant: a thread is here exactly
//! while a guard of it lives; an owner that ends, however it does, drops its guard.

use std::sync::Arc;

use dashmap::DashMap;
use threadcast_agui::ids::ThreadId;

#[derive(Debug, Default)]
pub(crate) struct OwnedThreads(DashMap<ThreadId, usize>);

/// Says for as long as it lives that an owner of this node looks after its thread; a clone says the
/// same.
#[derive(Clone, Debug)]
pub struct Owned {
    _guard: Arc<Guard>,
}

#[derive(Debug)]
struct Guard {
    threads: Arc<OwnedThreads>,
    thread: ThreadId,
}

impl OwnedThreads {
    pub(crate) fn own(self: &Arc<Self>, thread: &ThreadId) -> Owned {
        *self.0.entry(thread.clone()).or_default() += 1;
        Owned {
            _guard: Arc::new(Guard {
                threads: Arc::clone(self),
                thread: thread.clone(),
            }),
        }
    }

    pub(crate) fn contains(&self, thread: &ThreadId) -> bool {
        self.0.contains_key(thread)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.threads.0.remove_if_mut(&self.thread, |_, owners| {
            *owners -= 1;
            *owners == 0
        });
    }
}
