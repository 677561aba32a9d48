//! Facts about the core, as a crate that uses it sees them.

#![expect(clippy::unwrap_used, reason = "a step that fails fails its test")]

mod cancel;
mod conversation;
mod decide;
mod fold;
mod late;
mod lifecycle;
mod orphan;
mod owner;
mod patch;
mod protocol;
mod recordings;
mod repeats;
mod request;
mod resume;
mod retry;
mod sizes;
mod snapshot;
mod support;
mod verify;
mod world;
