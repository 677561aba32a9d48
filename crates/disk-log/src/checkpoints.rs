//! Checkpoints: a line that says where the parts are, and the parts.
//!
//! A fold may be many megabytes long, and a batch stops every append to its database while it is
//! written: so the parts are written a few at a time, and the line with the last of them. What a
//! kill leaves of a checkpoint without its line is removed with the next trim or deletion.
//!
//! Invariant: a line's parts are all there.

use fjall::{OwnedWriteBatch, Readable, Snapshot};
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::Checkpoint;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Position, PositionVerdict, Seq};

use crate::disk::WritePoint;
use crate::error::DiskError;
use crate::keys::{self, Life};
use crate::shard::Shard;
use crate::slots::Slot;
use crate::store::Store;
use crate::stored::{self, CheckpointHead, Damage, Stored};

/// Bytes that a line may make room for before its parts are read: it may be damaged.
const LENGTH_BELIEVED: usize = 64 << 20;

/// Bytes of one part; also of what is written at a time.
const PART_BYTES: usize = 128 << 10;

impl Store {
    pub(crate) fn save_checkpoint(
        &self,
        slot: &Slot,
        checkpoint: &Checkpoint,
    ) -> Result<(), EngineError> {
        let shard = self.shard(&slot.thread);
        let life = {
            let mut state = slot.state.lock();
            let stored = self.load(shard, slot, &mut state)?;
            if !is_of(stored, checkpoint) {
                return Ok(());
            }
            stored.life
        };
        let save = random();
        let mut parts = (0..).zip(checkpoint.bytes.chunks(PART_BYTES)).peekable();
        let mut batch = shard.batch();
        while let Some((number, bytes)) = parts.next() {
            let key = keys::part(&slot.thread, life, checkpoint.seq, save, number);
            batch.insert(&shard.checkpoints.keyspace, key, bytes);
            if parts.peek().is_some() {
                shard.commit(batch, WritePoint::CheckpointPart)?;
                batch = shard.batch();
            }
        }
        let head = CheckpointHead {
            epoch: checkpoint.epoch.clone(),
            save,
            length: checkpoint.bytes.len() as u64,
        };
        let mut state = slot.state.lock();
        let stored = self.load(shard, slot, &mut state)?;
        if stored.life != life || !is_of(stored, checkpoint) {
            // It was trimmed or deleted meanwhile: the parts go.
            drop(state);
            return shard.remove_parts(&slot.thread, life, checkpoint.seq, save);
        }
        self.finish_checkpoint(slot, life, checkpoint.seq, &head, batch)
    }

    /// Writes the line, in place of one at the same seq and of its parts.
    fn finish_checkpoint(
        &self,
        slot: &Slot,
        life: Life,
        seq: Seq,
        head: &CheckpointHead,
        mut batch: OwnedWriteBatch,
    ) -> Result<(), EngineError> {
        let shard = self.shard(&slot.thread);
        let key = keys::checkpoint(&slot.thread, life, seq);
        let snapshot = shard.snapshot();
        if let Some(earlier) = shard.get(&snapshot, &shard.checkpoints.keyspace, &key)? {
            let earlier = stored::read_checkpoint_head(&earlier)
                .map_err(|damage| DiskError::damaged(&slot.thread, damage))?;
            for part in shard.part_keys(&snapshot, &slot.thread, life, seq, earlier.save)? {
                batch.remove(&shard.checkpoints.keyspace, part);
            }
        }
        batch.insert(
            &shard.checkpoints.keyspace,
            key,
            stored::checkpoint_head(head),
        );
        shard.commit(batch, WritePoint::Checkpoint)?;
        Ok(())
    }

    pub(crate) fn load_checkpoint(
        &self,
        thread: &ThreadId,
        through: Seq,
    ) -> Result<Option<Checkpoint>, EngineError> {
        let shard = self.shard(thread);
        let snapshot = shard.snapshot();
        let stored = shard.stored(&snapshot, thread, self.names.incarnation())?;
        let Some((seq, head)) = shard.checkpoint_head(&snapshot, thread, &stored, through)? else {
            return Ok(None);
        };
        let mut bytes = Vec::with_capacity(
            usize::try_from(head.length)
                .unwrap_or(0)
                .min(LENGTH_BELIEVED),
        );
        let parts = keys::parts(thread, stored.life, seq, head.save);
        for part in snapshot.range(&shard.checkpoints.keyspace, parts) {
            let part = part.value().map_err(|error| shard.unreadable(error))?;
            bytes.extend_from_slice(&part);
        }
        let found = bytes.len() as u64;
        if found != head.length {
            let expected = head.length;
            return Err(DiskError::damaged(thread, Damage::Length { found, expected }).into());
        }
        Ok(Some(Checkpoint {
            seq,
            epoch: head.epoch,
            bytes,
        }))
    }
}

impl Shard {
    /// The line of the latest checkpoint at or before `through`.
    pub(crate) fn checkpoint_head(
        &self,
        snapshot: &Snapshot,
        thread: &ThreadId,
        stored: &Stored,
        through: Seq,
    ) -> Result<Option<(Seq, CheckpointHead)>, DiskError> {
        if !stored.meta.has_log() {
            return Ok(None);
        }
        let range = keys::checkpoints(thread, stored.life, through);
        let Some(line) = snapshot
            .range(&self.checkpoints.keyspace, range)
            .next_back()
        else {
            return Ok(None);
        };
        let (key, value) = line.into_inner().map_err(|error| self.unreadable(error))?;
        let seq = keys::seq_of(&key).ok_or_else(|| DiskError::damaged(thread, Damage::Key))?;
        let head = stored::read_checkpoint_head(&value)
            .map_err(|damage| DiskError::damaged(thread, damage))?;
        Ok(Some((seq, head)))
    }

    fn part_keys(
        &self,
        snapshot: &Snapshot,
        thread: &ThreadId,
        life: Life,
        seq: Seq,
        save: u64,
    ) -> Result<Vec<fjall::UserKey>, DiskError> {
        snapshot
            .range(
                &self.checkpoints.keyspace,
                keys::parts(thread, life, seq, save),
            )
            .map(|part| part.key().map_err(|error| self.unreadable(error)))
            .collect()
    }

    fn remove_parts(
        &self,
        thread: &ThreadId,
        life: Life,
        seq: Seq,
        save: u64,
    ) -> Result<(), EngineError> {
        let mut batch = self.batch();
        for part in self.part_keys(&self.snapshot(), thread, life, seq, save)? {
            batch.remove(&self.checkpoints.keyspace, part);
        }
        self.commit(batch, WritePoint::Removal)?;
        Ok(())
    }
}

/// Whether nothing after the checkpoint's seq is missing from the log it was made of.
fn is_of(stored: &Stored, checkpoint: &Checkpoint) -> bool {
    let position = Position {
        epoch: checkpoint.epoch.clone(),
        seq: checkpoint.seq,
    };
    stored.meta.has_log() && stored.meta.verdict(&position) == PositionVerdict::Valid
}

fn random() -> u64 {
    getrandom::u64().expect("the system has random numbers")
}
