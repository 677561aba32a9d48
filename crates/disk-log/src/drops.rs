//! Trimming and deleting.
//!
//! What is dropped is out of sight with one small batch, and removed after it a slice at a time,
//! so that no append waits for it. The batch leaves a line that says what is still to be removed;
//! an opening of the directory goes on where a kill stopped it.
//!
//! On a disk with no space even for that, it is put off until there is some.
//!
//! Invariant: a line of what was dropped stands until all of it is removed.

use std::sync::atomic::Ordering;

use fjall::{Keyspace, Readable};
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::{ThreadRecord, Watched};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::meta::Meta;
use threadcast_thread_log::position::Seq;

use crate::disk::WritePoint;
use crate::error::DiskError;
use crate::keys::{self, Life};
use crate::shard::{Removable, Shard};
use crate::slots::Slot;
use crate::store::Store;
use crate::stored::{self, Stored};
use crate::thread::put;

/// Keys removed by one batch.
const SLICE: usize = 1024;

/// What a mark takes besides its key.
const MARK_BYTES: u64 = 64;

impl Store {
    /// # Errors
    /// There is no checkpoint at or after `through`, or the disk failed.
    pub(crate) fn trim(&self, slot: &Slot, through: Seq) -> Result<(), EngineError> {
        let shard = self.shard(&slot.thread);
        let life = {
            let mut state = slot.state.lock();
            let before = self.load(shard, slot, &mut state)?;
            let latest =
                shard.checkpoint_head(&shard.snapshot(), &slot.thread, before, Seq::MAX)?;
            let latest = latest.map(|(seq, _)| seq);
            if latest.is_none_or(|latest| latest < through) {
                return Err(EngineError::NoCheckpoint {
                    thread: slot.thread.to_string(),
                    through: through.get(),
                    found: latest.map(Seq::get),
                });
            }
            if before.meta.first > through {
                return Ok(());
            }
            let after = Stored {
                meta: Meta {
                    first: through.next(),
                    ..before.meta.clone()
                },
                ..*before
            };
            let mut batch = shard.batch();
            put(shard, &mut batch, slot, before, &after);
            let dropped = keys::dropped(&slot.thread, after.life);
            batch.insert(&shard.chores, dropped, stored::number(through.get()));
            let life = after.life;
            let _alone = shard.dropping.lock();
            self.commit(shard, &mut state, batch, WritePoint::Trim, after)?;
            life
        };
        shard.remove_dropped(&slot.thread, life, through)?;
        Ok(())
    }

    /// Whether there was a log to delete.
    pub(crate) fn delete(&self, slot: &Slot, note: ThreadRecord) -> Result<bool, EngineError> {
        let shard = self.shard(&slot.thread);
        let life = {
            let mut state = slot.state.lock();
            let before = self.load(shard, slot, &mut state)?;
            if !before.meta.has_log() {
                return Ok(false);
            }
            let after = Stored {
                life: before.life,
                meta: Meta::tombstone(note),
            };
            let mut batch = shard.batch();
            put(shard, &mut batch, slot, before, &after);
            let dropped = keys::dropped(&slot.thread, after.life);
            batch.insert(&shard.chores, dropped, stored::number(Seq::MAX.get()));
            let life = after.life;
            let _alone = shard.dropping.lock();
            self.commit(shard, &mut state, batch, WritePoint::Delete, after)?;
            state.watchers.publish(|| Watched::Gone);
            life
        };
        shard.remove_dropped(&slot.thread, life, Seq::MAX)?;
        Ok(true)
    }
}

impl Shard {
    /// Removes everything that was dropped before the database was closed.
    pub(crate) fn remove_all_dropped(&self) -> Result<(), DiskError> {
        let mut found = Vec::new();
        let snapshot = self.snapshot();
        for line in snapshot.prefix(&self.chores, keys::all_dropped()) {
            let (key, through) = line.into_inner().map_err(|error| self.unreadable(error))?;
            if let Some((thread, life)) = keys::dropped_of(&key)
                && let Ok(through) = stored::read_number(&through)
            {
                found.push((thread, life, Seq::new(through).unwrap_or(Seq::MAX)));
            }
        }
        drop(snapshot);
        for (thread, life, through) in found {
            self.remove_dropped(&thread, life, through)?;
        }
        Ok(())
    }

    fn remove_dropped(&self, thread: &ThreadId, life: Life, through: Seq) -> Result<(), DiskError> {
        let entries = keys::entries(thread, life, Seq::ZERO, through);
        let mut is_done = self.remove_range(&self.entries, entries)?;
        // The checkpoint at `through` is what the log goes on from; after a deletion none is.
        let last = match through {
            Seq::MAX => through,
            _ => Seq::new(through.get().saturating_sub(1)).unwrap_or_default(),
        };
        let heads = keys::checkpoints(thread, life, last);
        is_done = is_done && self.remove_range(&self.checkpoints, heads)?;
        let parts = keys::parts_through(thread, life, last);
        is_done = is_done && self.remove_range(&self.checkpoints, parts)?;
        let line = keys::dropped(thread, life);
        if !is_done || !self.health.has_space_for_marks(line.len() as u64) {
            self.has_dropped.store(true, Ordering::Release);
            return Ok(());
        }
        let _alone = self.dropping.lock();
        let is_last = self
            .get(&self.snapshot(), &self.chores, &line)?
            .is_some_and(|stands| *stands == stored::number(through.get()));
        if is_last {
            let mut batch = self.batch();
            batch.remove(&self.chores, line);
            self.commit(batch, WritePoint::Removal)?;
        }
        Ok(())
    }

    /// Removes what was put off, as far as there is space for it now.
    ///
    /// # Errors
    /// Something could not be read or written.
    pub(crate) fn remove_put_off(&self) -> Result<(), DiskError> {
        if self.has_dropped.swap(false, Ordering::AcqRel) {
            self.remove_all_dropped()?;
        }
        Ok(())
    }

    /// Whether all of it is removed, or the rest put off.
    fn remove_range(
        &self,
        from: &Removable,
        range: std::ops::RangeInclusive<Vec<u8>>,
    ) -> Result<bool, DiskError> {
        // What is removed while a snapshot is held may not leave the tables.
        let (removed, is_all) = self.remove_lines(&from.keyspace, range)?;
        from.removed.fetch_add(removed, Ordering::Relaxed);
        Ok(is_all)
    }

    /// How many were removed, and whether these are all.
    fn remove_lines(
        &self,
        keyspace: &Keyspace,
        range: std::ops::RangeInclusive<Vec<u8>>,
    ) -> Result<(u64, bool), DiskError> {
        let snapshot = self.snapshot();
        let mut keys = snapshot.range(keyspace, range);
        let mut removed = 0;
        loop {
            let mut batch = self.batch();
            let mut bytes = 0;
            for line in keys.by_ref().take(SLICE) {
                let key = line.key().map_err(|error| self.unreadable(error))?;
                bytes += key.len() as u64 + MARK_BYTES;
                batch.remove(keyspace, key);
            }
            if batch.is_empty() {
                return Ok((removed, true));
            }
            if !self.health.has_space_for_marks(bytes) {
                return Ok((removed, false));
            }
            removed += batch.len() as u64;
            self.commit(batch, WritePoint::Removal)?;
        }
    }
}
