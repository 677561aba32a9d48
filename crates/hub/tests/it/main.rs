//! The hub over the memory engine and in-memory sockets, with a real WebSocket client at the other end.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod decisions;
mod delivery;
mod drain;
mod liveness;
mod requests;
mod subscribe;
mod support;
