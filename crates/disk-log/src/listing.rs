//! Threads in the order of their ids, over all databases.

use std::ops::Bound::{Excluded, Unbounded};

use fjall::Readable;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::Listed;
use threadcast_thread_log::error::EngineError;

use crate::error::DiskError;
use crate::keys;
use crate::shard::Shard;
use crate::store::Store;
use crate::stored::Damage;

impl Store {
    pub(crate) fn list(
        &self,
        after: Option<&ThreadId>,
        limit: usize,
    ) -> Result<Vec<Listed>, EngineError> {
        let mut found = Vec::new();
        for shard in &self.shards {
            found.extend(self.list_shard(shard, after, limit)?);
        }
        found.sort_unstable_by(|one: &Listed, other| one.thread.cmp(&other.thread));
        found.truncate(limit);
        Ok(found)
    }

    /// The first of one database: tombstones are passed over.
    fn list_shard(
        &self,
        shard: &Shard,
        after: Option<&ThreadId>,
        limit: usize,
    ) -> Result<Vec<Listed>, EngineError> {
        let snapshot = shard.snapshot();
        let start = after.map_or(Unbounded, |after| Excluded(keys::thread(after)));
        let mut found = Vec::new();
        for line in snapshot.range::<&[u8], _>(&shard.threads, (start, Unbounded)) {
            if found.len() == limit {
                break;
            }
            let key = line.key().map_err(|error| shard.unreadable(error))?;
            let thread = keys::thread_of(&key).ok_or_else(|| shard.damaged(Damage::Key))?;
            let stored = match shard.stored(&snapshot, &thread, self.names.incarnation()) {
                Ok(stored) => stored,
                // One thread does not hide those behind it.
                Err(error @ DiskError::Damaged { .. }) => {
                    tracing::error!(%thread, %error, "a thread is left out of a listing");
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if stored.meta.has_log() {
                found.push(Listed {
                    thread,
                    seq: stored.meta.head,
                    record: stored.meta.record,
                });
            }
        }
        Ok(found)
    }
}
