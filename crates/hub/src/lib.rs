//! The connection hub: what stands between the log of a thread and the sockets that follow it.
//!
//! Holds live threads (a fold and a tail of ready frames), serves sessions (one socket each) and carries decisions to
//! the engine. It knows no HTTP, no agent and no configuration file; what a run is and what may be appended is
//! decided in `threadcast-run-registry`.
//!
//! Invariant: a viewer is a cursor. Nothing is queued for a subscription, however slow its socket is, and nothing is
//! encoded once for each viewer while it keeps up.

pub mod clock;
pub mod decisions;
pub mod deletion;
pub mod history;
pub mod hub;
pub mod live_thread;
pub mod owned;
pub mod recent;

mod backoff;
mod baseline;
mod block;
mod blocks;
mod checkpoints;
mod defaults;
mod frame;
mod frame_stream;
mod random;
mod ready;
mod retention;
mod session;
mod sessions;
mod subscription;
mod sweeper;
mod tail;
mod threads;
mod view;
