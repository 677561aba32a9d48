//! Facts about the core, as a crate that uses it sees them.

#![expect(clippy::unwrap_used, reason = "a step that fails fails its test")]

mod bombs;
mod cancel;
mod checkpoint;
mod compaction;
mod conversation;
mod decide;
mod diverged;
mod export;
mod fold;
mod fork;
mod hostile;
mod import;
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
mod retention;
mod retry;
mod sizes;
mod snapshot;
mod stream_judge;
mod streams;
mod strictness;
mod support;
mod sweep;
mod verify;
mod world;
