//! The crate from outside: golden frames, refused frames, long frames in parts, and the tables of
//! docs/protocol.md.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends at its first broken assumption"
)]

mod bad_frames;
mod client_frames;
mod events;
mod fixtures;
mod hub_frames;
mod parts;
mod tables;
