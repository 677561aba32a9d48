//! Appends and deletions: done where they are asked for or on the pool, and durable if that is
//! asked.

use std::sync::Arc;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::admit::{check_length, check_record};
use threadcast_thread_log::engine::{Append, Durability, Outcome, ThreadRecord};
use threadcast_thread_log::error::EngineError;

use super::DiskEngine;
use crate::blocking::blocking;
use crate::thread::{Decided, Encoded};

/// What an entry takes besides what it says.
const ENTRY_BYTES: u64 = 256;

/// About what the entries take, each with its key and its share of a batch.
fn bytes_of(append: &Append) -> u64 {
    let entries = append.entries.iter();
    let bytes = entries.map(|entry| entry.record.size_bytes() as u64 + ENTRY_BYTES);
    bytes.sum()
}

impl DiskEngine {
    pub(super) async fn append_now(&self, append: Append) -> Result<Outcome, EngineError> {
        check_record(&append)?;
        let store = self.store()?;
        // One without entries takes the lease before a thread is deleted.
        if !append.entries.is_empty() {
            store.health.may_write(bytes_of(&append))?;
        }
        let durability = append.durability;
        let slot = store.slots.of(&append.thread);
        let encoded = Encoded::new(append);
        let (decided, encoded) = match store.try_append(&slot, &encoded) {
            Some(decided) => (decided?, encoded),
            None => {
                let (store, slot) = (Arc::clone(&store), Arc::clone(&slot));
                blocking(move || Ok((store.append(&slot, &encoded)?, encoded))).await?
            }
        };
        let outcome = match decided {
            Decided::Appended(outcome) => outcome,
            Decided::Refused(refusal) => {
                let store = Arc::clone(&store);
                blocking(move || store.refuse(&encoded, refusal)).await?
            }
        };
        if durability == Durability::Durable {
            // A refusal too: what was faster may not be told of before it is durable.
            store.shard(&slot.thread).syncer.wait_for_all().await?;
        }
        Ok(outcome)
    }

    pub(super) async fn delete_now(
        &self,
        thread: &ThreadId,
        note: ThreadRecord,
    ) -> Result<(), EngineError> {
        check_length(&note)?;
        let store = self.store()?;
        let slot = store.slots.of(thread);
        let deleting = Arc::clone(&store);
        if blocking(move || deleting.delete(&slot, note)).await? {
            store.shard(thread).syncer.wait_for_all().await?;
        }
        Ok(())
    }
}
