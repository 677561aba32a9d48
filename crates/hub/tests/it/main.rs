//! The hub over the memory engine and in-memory sockets, with a real WebSocket client at the other end.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answering;
mod bounds;
mod checkpoints;
mod decisions;
mod deletion;
mod delivery;
mod drain;
mod faults;
mod history;
mod liveness;
mod recent;
mod requests;
mod retention;
mod slow;
mod subscribe;
mod support;
mod sweeping;
