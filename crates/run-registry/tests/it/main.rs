//! Facts about the core, as a crate that uses it sees them.

#![expect(clippy::unwrap_used, reason = "a step that fails fails its test")]

mod bombs;
mod cancel;
mod compaction;
mod conversation;
mod decide;
mod diverged;
mod fold;
mod hostile;
mod late;
mod lifecycle;
mod mending;
mod older_agents;
mod older_clients;
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
mod stream_judge;
mod streams;
mod strictness;
mod support;
mod verify;
mod world;
