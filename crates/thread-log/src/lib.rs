//! The vocabulary of a thread's log, the [`Engine`](engine::Engine) trait and the append decision
//! all engines share.
//!
//! Knows AG-UI ids and raw JSON, but neither what an event means nor how a log is stored.
//!
//! Invariant: whether an append is admitted is decided in [`admit`] alone; an engine only makes it
//! atomic.

pub mod admit;
pub mod codec;
pub mod engine;
pub mod entry;
pub mod error;
pub mod lease;
pub mod meta;
#[cfg(feature = "engine")]
pub mod names;
pub mod position;
pub mod principal;
pub mod run_status;
#[cfg(feature = "engine")]
pub mod watchers;
pub mod work;

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "memory")]
pub mod memory;
