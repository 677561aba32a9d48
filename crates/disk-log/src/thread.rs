//! What is done to one thread while nothing else can write it.
//!
//! Invariant: what a slot holds of a thread is what its database holds; watchers are told in the
//! order of the writes, after them.

use std::sync::Arc;

use fjall::Snapshot;
use threadcast_thread_log::admit::{Writes, admit};
use threadcast_thread_log::engine::{Append, Outcome, ReadLimit, Refused, RefusedReason, Watched};
use threadcast_thread_log::error::EngineError;

use crate::disk::WritePoint;
use crate::error::DiskError;
use crate::keys::{self, Life};
use crate::shard::Shard;
use crate::slots::{Slot, SlotState};
use crate::store::Store;
use crate::stored::{self, Stored};

/// Bytes of entries that are written where the append was asked for; a longer one would keep
/// others waiting.
const QUICK_BYTES: usize = 128 << 10;

/// An append and the bytes of its entries.
pub(crate) struct Encoded {
    pub(crate) append: Append,
    entries: Vec<Vec<u8>>,
}

impl Encoded {
    pub(crate) fn new(append: Append) -> Self {
        let entries = append.entries.iter().map(stored::entry).collect();
        Self { append, entries }
    }

    fn is_short(&self) -> bool {
        self.entries.iter().map(Vec::len).sum::<usize>() <= QUICK_BYTES
    }
}

/// What came of an append, before a refusal reads what its author missed.
pub(crate) enum Decided {
    Appended(Outcome),
    Refused(Refusal),
}

/// Why, and how the log was at that moment.
pub(crate) struct Refusal {
    reason: RefusedReason,
    stored: Stored,
    snapshot: Snapshot,
}

impl Store {
    /// Appends, if that takes a moment only: the thread is known and free, the database is not
    /// behind.
    pub(crate) fn try_append(
        &self,
        slot: &Slot,
        encoded: &Encoded,
    ) -> Option<Result<Decided, EngineError>> {
        let shard = self.shard(&slot.thread);
        if !encoded.is_short() || shard.is_behind() {
            return None;
        }
        let mut state = slot.state.try_lock()?;
        state
            .stored
            .is_some()
            .then(|| self.append_locked(slot, &mut state, encoded))
    }

    /// Appends; may wait for the disk and for others.
    pub(crate) fn append(&self, slot: &Slot, encoded: &Encoded) -> Result<Decided, EngineError> {
        self.append_locked(slot, &mut slot.state.lock(), encoded)
    }

    fn append_locked(
        &self,
        slot: &Slot,
        state: &mut SlotState,
        encoded: &Encoded,
    ) -> Result<Decided, EngineError> {
        let shard = self.shard(&slot.thread);
        let before = self.load(shard, slot, state)?;
        let append = &encoded.append;
        let admitted = admit(&before.meta, append, self.names.incarnation(), || {
            self.names.new_log()
        });
        let Writes {
            meta,
            begins,
            entries,
            appended,
        } = match admitted {
            Ok(writes) => writes,
            Err(reason) => {
                return Ok(Decided::Refused(Refusal {
                    reason,
                    stored: before.clone(),
                    snapshot: shard.snapshot(),
                }));
            }
        };
        let after = Stored {
            life: Life(before.life.0 + u32::from(begins)),
            meta,
        };
        let mut batch = shard.batch();
        for (entry, bytes) in entries.iter().zip(&encoded.entries) {
            let key = keys::entry(&slot.thread, after.life, entry.seq);
            batch.insert(&shard.entries.keyspace, key, bytes.as_slice());
        }
        put(shard, &mut batch, slot, before, &after);
        self.commit(shard, state, batch, WritePoint::Append, after)?;
        if !entries.is_empty() {
            state.watchers.publish(|| Watched::Entries {
                epoch: appended.epoch.clone(),
                entries: Arc::from(entries),
            });
        }
        Ok(Decided::Appended(Outcome::Appended(appended)))
    }

    /// The refusal, with what the author of the append missed.
    pub(crate) fn refuse(
        &self,
        encoded: &Encoded,
        refusal: Refusal,
    ) -> Result<Outcome, EngineError> {
        let Refusal {
            reason,
            stored,
            snapshot,
        } = refusal;
        let Append { thread, known, .. } = &encoded.append;
        let missed = match stored.meta.missed_after(known) {
            Some(after) => {
                let shard = self.shard(thread);
                shard.entries(&snapshot, thread, &stored, after, ReadLimit::MISSED)?
            }
            None => Vec::new(),
        };
        Ok(Outcome::Refused(Refused {
            reason,
            head: stored.meta.to_head(),
            missed,
        }))
    }

    /// What is stored of the thread, read if it is not known.
    pub(crate) fn load<'a>(
        &self,
        shard: &Shard,
        slot: &Slot,
        state: &'a mut SlotState,
    ) -> Result<&'a Stored, DiskError> {
        if state.stored.is_none() {
            let stored = shard.stored(&shard.snapshot(), &slot.thread, self.names.incarnation())?;
            state.stored = Some(stored);
        }
        Ok(state.stored.get_or_insert_default())
    }

    /// Writes what makes the thread `after`.
    pub(crate) fn commit(
        &self,
        shard: &Shard,
        state: &mut SlotState,
        batch: fjall::OwnedWriteBatch,
        point: WritePoint,
        after: Stored,
    ) -> Result<(), DiskError> {
        // Whatever comes of it, what was known is no longer so.
        state.stored = None;
        shard.commit(batch, point)?;
        state.stored = Some(after);
        Ok(())
    }
}

/// Puts into the batch what changes of the meta.
pub(crate) fn put(
    shard: &Shard,
    batch: &mut fjall::OwnedWriteBatch,
    slot: &Slot,
    before: &Stored,
    after: &Stored,
) {
    let key = keys::thread(&slot.thread);
    batch.insert(&shard.heads, key, stored::hot(after));
    if stored::is_cold_changed(before, after) {
        batch.insert(&shard.threads, key, stored::cold(after));
    }
}
