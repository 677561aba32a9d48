//! The index of work: by bucket and time for those who look, by thread for those who say.

use fjall::Readable;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::Work;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::work::{BUCKETS, bucket_of};

use crate::disk::WritePoint;
use crate::error::DiskError;
use crate::keys;
use crate::store::Store;
use crate::stored::{self, Damage};

impl Store {
    pub(crate) fn set_work(&self, thread: &ThreadId, due: Millis) -> Result<(), EngineError> {
        self.change_work(thread, |before| (before != Some(due)).then_some(Some(due)))
    }

    pub(crate) fn clear_work(&self, thread: &ThreadId, seen: Millis) -> Result<(), EngineError> {
        self.change_work(thread, |before| (before == Some(seen)).then_some(None))
    }

    /// Writes what `change` says, if it says anything.
    fn change_work(
        &self,
        thread: &ThreadId,
        change: impl FnOnce(Option<Millis>) -> Option<Option<Millis>>,
    ) -> Result<(), EngineError> {
        let bucket = bucket_of(thread);
        let shard = self.shard(thread);
        let _alone = self.work_locks[usize::from(bucket)].lock();
        let by_thread = keys::work_by_thread(thread);
        let before = shard
            .get(&shard.snapshot(), &shard.chores, &by_thread)?
            .map(|due| stored::read_number(&due))
            .transpose()
            .map_err(|damage| DiskError::damaged(thread, damage))?
            .map(Millis);
        let Some(after) = change(before) else {
            return Ok(());
        };
        let mut batch = shard.batch();
        if let Some(before) = before {
            batch.remove(&shard.chores, keys::work_by_time(bucket, before, thread));
        }
        match after {
            Some(due) => {
                batch.insert(&shard.chores, keys::work_by_time(bucket, due, thread), []);
                batch.insert(&shard.chores, by_thread, stored::number(due.0));
            }
            None => batch.remove(&shard.chores, by_thread),
        }
        shard.commit(batch, WritePoint::Work)?;
        Ok(())
    }

    pub(crate) fn work(
        &self,
        bucket: u8,
        until: Millis,
        limit: usize,
    ) -> Result<Vec<Work>, EngineError> {
        if bucket >= BUCKETS {
            return Ok(Vec::new());
        }
        let shard = self.shard_of_bucket(bucket);
        let (first, end) = keys::work_until(bucket, until);
        shard
            .snapshot()
            .range(&shard.chores, first..end)
            .take(limit)
            .map(|line| {
                let key = line.key().map_err(|error| shard.unreadable(error))?;
                let (due, thread) =
                    keys::work_of(&key).ok_or_else(|| shard.damaged(Damage::Key))?;
                Ok(Work { thread, due })
            })
            .collect()
    }
}
