//! The hub over the memory engine and in-memory sockets, with a real WebSocket client at the other end.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answering;
mod bounds;
mod decisions;
mod delivery;
mod drain;
mod faults;
mod liveness;
mod requests;
mod slow;
mod subscribe;
mod support;
