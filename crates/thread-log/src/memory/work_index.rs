//! Which threads someone must look at, by bucket and time.

use std::collections::{BTreeSet, HashMap};

use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;

use crate::engine::Work;
use crate::entry::Millis;
use crate::work::{BUCKETS, bucket_of};

pub(super) struct WorkIndex([Mutex<Bucket>; BUCKETS as usize]);

/// Invariant: `by_time` holds exactly the pairs of `due`.
#[derive(Default)]
struct Bucket {
    due: HashMap<ThreadId, Millis>,
    by_time: BTreeSet<(Millis, ThreadId)>,
}

impl Default for WorkIndex {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl WorkIndex {
    pub(super) fn set(&self, thread: &ThreadId, due: Millis) {
        let mut bucket = self.0[usize::from(bucket_of(thread))].lock();
        if let Some(before) = bucket.due.insert(thread.clone(), due) {
            bucket.by_time.remove(&(before, thread.clone()));
        }
        bucket.by_time.insert((due, thread.clone()));
    }

    /// Unless it is due at another time than was seen.
    pub(super) fn clear(&self, thread: &ThreadId, seen: Millis) {
        let mut bucket = self.0[usize::from(bucket_of(thread))].lock();
        if bucket.by_time.remove(&(seen, thread.clone())) {
            bucket.due.remove(thread);
        }
    }

    pub(super) fn due(&self, bucket: u8, until: Millis, limit: usize) -> Vec<Work> {
        let Some(bucket) = self.0.get(usize::from(bucket)) else {
            return Vec::new();
        };
        let bucket = bucket.lock();
        let due = bucket
            .by_time
            .iter()
            .take_while(|(due, _)| *due <= until)
            .take(limit);
        due.map(|(due, thread)| Work {
            thread: thread.clone(),
            due: *due,
        })
        .collect()
    }
}
