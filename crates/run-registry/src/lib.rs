//! The core of Threadcast without I/O: what a thread's log amounts to, and what may be appended to
//! it.
//!
//! `Fold::apply` changes a fold by one entry; `decide` returns what to append or a refusal; an
//! owner feeds an agent's stream through verification. No runtime, no clock, no socket: time, ids
//! and randomness are arguments.
//!
//! Invariant: folding the same entries gives the same fold on every node, and no stored entry can
//! make it fail.

pub mod agent_name;
pub mod checkpoint;
mod class;
pub mod compaction;
pub mod conversation;
pub mod deadline;
pub mod decide;
pub mod ending;
pub mod event_bounds;
pub mod export;
pub mod fact;
pub mod fingerprint;
pub mod fold;
pub mod fork;
#[cfg(feature = "histories")]
pub mod histories;
pub mod import;
mod nesting;
pub mod owner;
pub mod patch;
pub mod registry;
pub mod request;
pub mod retention;
pub mod schema;
pub mod snapshot;
pub mod stream_judge;
pub mod sweep;
pub mod thread_record;
pub mod verify;
