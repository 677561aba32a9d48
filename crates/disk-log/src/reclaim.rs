//! Giving space back to the disk.
//!
//! What is removed stays in the tables, with a mark over it, until they are written anew, and a
//! database does that by itself only where new keys come in. So a keyspace is written anew as a
//! whole when about half of it is of no use: what is dropped is paid for by about as much writing.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fjall::{AbstractTree, Keyspace};

use crate::background::Background;
use crate::disk::WritePoint;
use crate::keys;
use crate::shard::{Removable, Shard};
use crate::stored;

const EVERY: Duration = Duration::from_secs(1);

/// Removals that are looked at no sooner than with the others.
const REMOVED_MIN: u64 = 1000;

/// A keyspace that takes less is left as it is.
const BYTES_MIN: u64 = 8 << 20;

/// # Errors
/// The thread cannot be started.
pub(crate) fn start(shards: Vec<Arc<Shard>>) -> std::io::Result<Background> {
    Background::start("log-reclaim", EVERY, move || {
        for shard in &shards {
            for removable in [&shard.entries, &shard.checkpoints] {
                if let Err(error) = reclaim(shard, removable) {
                    // Nothing was lost; if the disk fails a write will tell.
                    tracing::warn!(database = shard.number, %error, "space was not given back");
                }
            }
        }
    })
}

fn reclaim(shard: &Shard, removable: &Removable) -> Result<(), Box<dyn Error>> {
    if removable.removed.load(Ordering::Relaxed) < REMOVED_MIN {
        return Ok(());
    }
    let removed = removable.removed.swap(0, Ordering::Relaxed);
    // The marks get into a table, where they count.
    removable.keyspace.rotate_memtable_and_wait()?;
    if !is_wasteful(&removable.keyspace) {
        return Ok(());
    }
    let before = removable.keyspace.disk_space();
    if !shard.health.has_space_for(before) {
        removable.removed.fetch_add(removed, Ordering::Relaxed);
        return Ok(());
    }
    removable.keyspace.major_compact()?;
    let after = removable.keyspace.disk_space();
    remove_old_tables(shard, before.saturating_sub(after))?;
    if is_wasteful(&removable.keyspace) {
        // Someone was reading what was removed.
        removable.removed.fetch_add(removed, Ordering::Relaxed);
    }
    tracing::info!(
        database = shard.number,
        keyspace = &**removable.keyspace.name(),
        before,
        after,
        "space was given back"
    );
    Ok(())
}

/// The database removes tables that nobody needs any more when it writes one, of whatever keyspace:
/// so it gets one to write.
fn remove_old_tables(shard: &Shard, given_back: u64) -> Result<(), Box<dyn Error>> {
    let mut batch = shard.batch();
    let value = stored::number(given_back);
    batch.insert(&shard.chores, keys::given_back(), value);
    shard.commit(batch, WritePoint::Reclaim)?;
    shard.chores.rotate_memtable_and_wait()?;
    Ok(())
}

/// Whether about half of what it holds is removed: a mark, and the value under it.
fn is_wasteful(keyspace: &Keyspace) -> bool {
    let marks = keyspace.tree.tombstone_count();
    let lines = keyspace.tree.approximate_len() as u64;
    keyspace.disk_space() >= BYTES_MIN && marks.saturating_mul(3) >= lines
}
