//! Looks once a second at what nobody is told of: the free space, and failures in the background.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fjall::PersistMode;

use crate::background::Background;
use crate::database_error::DatabaseError;
use crate::disk::Disk;
use crate::health::Health;
use crate::shard::Shard;

const EVERY: Duration = Duration::from_secs(1);

/// Looks at the space once before it returns.
///
/// # Errors
/// The thread cannot be started.
pub(crate) fn start(
    directory: PathBuf,
    disk: Arc<dyn Disk>,
    health: Arc<Health>,
    shards: Vec<Arc<Shard>>,
) -> std::io::Result<Background> {
    look_at_space(&directory, &*disk, &health, &shards);
    Background::start("log-keeper", EVERY, move |_| {
        look_at_space(&directory, &*disk, &health, &shards);
        look_for_failures(&shards);
    })
}

/// A system that does not tell is not held to be full: a write that fails will tell.
fn look_at_space(directory: &Path, disk: &dyn Disk, health: &Health, shards: &[Arc<Shard>]) {
    let Ok(free) = disk.free_bytes(directory) else {
        return;
    };
    let in_memory = shards.iter().map(|shard| shard.bytes_in_memory()).sum();
    let was_full = health.set_free(free, in_memory);
    let is_full = health.is_full();
    if is_full == was_full {
        return;
    }
    if is_full {
        tracing::error!(
            free,
            in_memory,
            "the disk is nearly full: appends are refused"
        );
    } else {
        tracing::info!(free, "there is space again: appends are taken");
    }
}

/// A database that could not write a table takes no more writes; this asks without writing.
fn look_for_failures(shards: &[Arc<Shard>]) {
    for shard in shards {
        if let Err(error) = shard.database.persist(PersistMode::Buffer) {
            let error = DatabaseError::from(error);
            shard.health.fail("write", shard.number, error);
        }
    }
}
