//! Giving space back to the disk.
//!
//! What is removed stays in the tables, with a mark over it, until they are written anew, and a
//! database does that by itself only where new keys come in. So a keyspace is written anew as a
//! whole when about half of it is of no use: what is dropped is paid for by about as much writing.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fjall::{AbstractTree, Keyspace};

use crate::background::{Background, Closing};
use crate::database_error::DatabaseError;
use crate::disk::WritePoint;
use crate::health::Health;
use crate::keys;
use crate::shard::{Removable, Shard};
use crate::stored;

const EVERY: Duration = Duration::from_secs(1);

/// A keyspace that takes less is left as it is.
const BYTES_MIN: u64 = 8 << 20;

/// Longest wait for a table in memory to be written; then the next look tries again.
const TABLE_MAX: Duration = Duration::from_secs(60);

/// How often is looked whether it is.
const TABLE_EVERY: Duration = Duration::from_millis(10);

/// # Errors
/// The thread cannot be started.
pub(crate) fn start(shards: Vec<Arc<Shard>>) -> std::io::Result<Background> {
    Background::start("log-reclaim", EVERY, move |closing| {
        for shard in &shards {
            if let Err(error) = shard.remove_put_off() {
                tracing::warn!(database = shard.number, %error, "what was dropped was not removed");
            }
            for removable in [&shard.entries, &shard.checkpoints] {
                if let Err(error) = reclaim(shard, removable, closing) {
                    // Nothing was lost; if the disk fails a write will tell.
                    tracing::warn!(database = shard.number, %error, "space was not given back");
                }
            }
        }
    })
}

fn reclaim(shard: &Shard, removable: &Removable, closing: &Closing) -> Result<(), Box<dyn Error>> {
    let needed = removable.needed.load(Ordering::Relaxed);
    let has_come = needed > 0 && shard.health.has_space_for(needed);
    if !has_come && removable.removed.load(Ordering::Relaxed) < removable.removed_min {
        return Ok(());
    }
    // What is removed may have no tables yet.
    if removable.keyspace.disk_space() < BYTES_MIN {
        return Ok(());
    }
    let removed = removable.removed.swap(0, Ordering::Relaxed);
    let look_again = match rewrite(shard, &removable.keyspace, closing) {
        Ok(Rewrite::Done) => {
            removable.needed.store(0, Ordering::Relaxed);
            return Ok(());
        }
        Ok(Rewrite::NoSpace { needed }) => {
            wait_for_space(shard, removable, needed);
            return Ok(());
        }
        Ok(Rewrite::Unfinished) => Ok(()),
        Err(error) => Err(error),
    };
    removable
        .removed
        .fetch_add(removed.max(removable.removed_min), Ordering::Relaxed);
    look_again
}

/// Takes note of it; told once, until there is space.
fn wait_for_space(shard: &Shard, removable: &Removable, needed: u64) {
    if removable.needed.swap(needed, Ordering::Relaxed) == 0 {
        tracing::warn!(
            database = shard.number,
            keyspace = &**removable.keyspace.name(),
            needed,
            "what was removed keeps its space: there is too little free to write anew what stays"
        );
    }
}

enum Rewrite {
    /// There is nothing to do any more.
    Done,
    NoSpace {
        needed: u64,
    },
    /// The engine closes or failed, a table was not written in time, or someone was reading what
    /// was removed.
    Unfinished,
}

/// Writes the keyspace anew if much of it is of no use.
fn rewrite(
    shard: &Shard,
    keyspace: &Keyspace,
    closing: &Closing,
) -> Result<Rewrite, Box<dyn Error>> {
    // The database may write it whenever it likes; the reserve is there for that.
    if shard.health.left() == 0 || shard.health.may_change().is_err() {
        return Ok(Rewrite::NoSpace { needed: 1 });
    }
    // The marks get into a table, where they count.
    if !write_table(keyspace, &shard.health, closing, TABLE_MAX)? {
        return Ok(Rewrite::Unfinished);
    }
    let before = Waste::of(keyspace);
    if !before.is_much() {
        return Ok(Rewrite::Done);
    }
    let needed = before.stays().max(1);
    if !shard.health.has_space_for(needed) {
        return Ok(Rewrite::NoSpace { needed });
    }
    keyspace.major_compact().map_err(DatabaseError::from)?;
    let after = Waste::of(keyspace);
    let given_back = before.bytes.saturating_sub(after.bytes);
    if !remove_old_tables(shard, given_back, closing)? || after.is_much() {
        return Ok(Rewrite::Unfinished);
    }
    tracing::info!(
        database = shard.number,
        keyspace = &**keyspace.name(),
        before = before.bytes,
        after = after.bytes,
        "space was given back"
    );
    Ok(Rewrite::Done)
}

/// Has the table in memory written; `false` if the engine closes or failed meanwhile, or it takes
/// longer than `max`: a database that failed to write one does not write it later either.
fn write_table(
    keyspace: &Keyspace,
    health: &Health,
    closing: &Closing,
    max: Duration,
) -> Result<bool, DatabaseError> {
    if health.may_go_on().is_err() {
        return Ok(false);
    }
    keyspace.rotate_memtable()?;
    let end = Instant::now() + max;
    while keyspace.sealed_memtable_count() > 0 {
        if health.may_go_on().is_err() || Instant::now() > end || closing.wait(TABLE_EVERY) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The database removes tables that nobody needs any more when it writes one, of whatever keyspace:
/// so it gets one to write. Tells whether it was written.
fn remove_old_tables(
    shard: &Shard,
    given_back: u64,
    closing: &Closing,
) -> Result<bool, Box<dyn Error>> {
    let mut batch = shard.batch();
    let value = stored::number(given_back);
    batch.insert(&shard.chores, keys::given_back(), value);
    shard.commit(batch, WritePoint::Reclaim)?;
    Ok(write_table(
        &shard.chores,
        &shard.health,
        closing,
        TABLE_MAX,
    )?)
}

/// How much of a keyspace's tables is of no use: a removed line is a mark, and the value under it.
struct Waste {
    bytes: u64,
    lines: u64,
    marks: u64,
}

impl Waste {
    fn of(keyspace: &Keyspace) -> Self {
        Self {
            bytes: keyspace.disk_space(),
            lines: keyspace.tree.approximate_len() as u64,
            marks: keyspace.tree.tombstone_count(),
        }
    }

    /// Whether it is about half.
    fn is_much(&self) -> bool {
        self.bytes >= BYTES_MIN && self.marks.saturating_mul(3) >= self.lines
    }

    /// Bytes of what stays, about: marks take next to none, values the same each.
    fn stays(&self) -> u64 {
        let values = self.lines.saturating_sub(self.marks);
        let used = values.saturating_sub(self.marks);
        if values == 0 {
            return 0;
        }
        (self.bytes as f64 * (used as f64 / values as f64)) as u64
    }
}

#[cfg(test)]
mod tests;
