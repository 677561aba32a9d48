//! Reading entries: from a snapshot, so that no writer waits and none is seen half-way.

use fjall::{Readable, Snapshot};
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::engine::ReadLimit;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;

use crate::error::corrupt;
use crate::keys;
use crate::shard::Shard;
use crate::stored::{self, Damage, Stored};

impl Shard {
    /// The kept entries after `after`, as `stored` knows the log.
    ///
    /// # Errors
    /// One cannot be read, or is missing where the log has one.
    pub(crate) fn entries(
        &self,
        snapshot: &Snapshot,
        thread: &ThreadId,
        stored: &Stored,
        after: Seq,
        limit: ReadLimit,
    ) -> Result<Vec<Entry>, EngineError> {
        let mut found: Vec<Entry> = Vec::new();
        let mut bytes = 0;
        let head = stored.meta.head;
        if after >= head {
            return Ok(found);
        }
        let mut expected = after.next().max(stored.meta.first);
        let range = keys::entries(thread, stored.life, expected, head);
        let mut lines = snapshot.range(&self.entries.keyspace, range);
        while expected <= head && found.len() < limit.entries && bytes < limit.bytes {
            let line = lines.next();
            let line = line.ok_or_else(|| corrupt(thread, expected, Damage::Missing))?;
            let (key, value) = line.into_inner().map_err(|error| self.unreadable(error))?;
            let seq = keys::seq_of(&key).ok_or_else(|| corrupt(thread, expected, Damage::Key))?;
            if seq != expected {
                return Err(corrupt(thread, expected, Damage::Gap(seq.get())));
            }
            let entry =
                stored::read_entry(seq, &value).map_err(|damage| corrupt(thread, seq, damage))?;
            bytes = bytes.saturating_add(entry.record.size_bytes());
            found.push(entry);
            expected = expected.next();
        }
        Ok(found)
    }
}
