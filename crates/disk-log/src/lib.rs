//! The engine that keeps every thread's log in a directory: [`DiskEngine`].
//!
//! Knows neither sockets nor what an event means; whether an append is admitted is decided in
//! `thread-log`. Below it a few embedded databases write journals and tables.
//!
//! Invariant: what was answered as held is in the operating system's hands, what was answered as
//! durable was synced (docs/protocol.md §15.6); after a failed write or sync nothing is written
//! any more.

mod background;
mod blocking;
mod checkpoints;
mod chores;
mod database_error;
mod directory;
mod disk;
mod drops;
mod engine;
mod error;
mod health;
mod journal;
mod keeper;
mod keys;
mod listing;
mod open;
mod read;
mod reclaim;
mod shard;
mod slots;
mod store;
mod stored;
mod sync;
mod thread;
mod watch;

pub use database_error::DatabaseError;
pub use disk::{Disk, LocalDisk, WritePoint, WriteStage};
pub use engine::DiskEngine;
pub use error::{DiskError, Failure, OpenError};
pub use open::DiskOptions;
