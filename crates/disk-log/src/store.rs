//! All that stands behind an engine.
//!
//! Invariant: whoever works with the store holds it; it closes, and frees its directory, with the
//! last of them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::lease::NodeId;
use threadcast_thread_log::names::Names;
use threadcast_thread_log::work::{BUCKETS, bucket_of};

use crate::background::Background;
use crate::directory::DirectoryLock;
use crate::health::Health;
use crate::shard::Shard;
use crate::slots::Slots;

pub(crate) struct Store {
    // The order in which they go: the threads look at the databases, the lock comes last.
    pub(crate) _background: [Background; 2],
    pub(crate) shards: Vec<Arc<Shard>>,
    pub(crate) slots: Slots,
    pub(crate) health: Arc<Health>,
    pub(crate) names: Names,
    pub(crate) beats: Mutex<HashMap<NodeId, u64>>,
    /// One for each bucket: a thread's work is two lines that change together.
    pub(crate) work_locks: [Mutex<()>; BUCKETS as usize],
    pub(crate) _lock: DirectoryLock,
}

impl Store {
    /// The database of a thread; its work is there too.
    pub(crate) fn shard(&self, thread: &ThreadId) -> &Arc<Shard> {
        self.shard_of_bucket(bucket_of(thread))
    }

    pub(crate) fn shard_of_bucket(&self, bucket: u8) -> &Arc<Shard> {
        &self.shards[usize::from(bucket) % self.shards.len()]
    }
}
