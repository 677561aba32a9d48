//! The HTTP faces of the hub: what each path answers (docs/protocol.md §13).

pub(crate) mod agui;
pub(crate) mod body;
pub(crate) mod delete;
pub(crate) mod errors;
pub(crate) mod event_stream;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod guard;
mod healing;
pub(crate) mod health;
pub(crate) mod import;
mod log_range;
mod open_steps;
pub(crate) mod past;
pub(crate) mod path;
pub(crate) mod projection;
mod query;
pub(crate) mod reader;
pub(crate) mod router;
mod run_level;
pub(crate) mod thread_events;
pub(crate) mod threads;
pub(crate) mod ws;
