//! The HTTP faces of the hub: what each path answers (docs/protocol.md §13).

pub(crate) mod agui;
pub(crate) mod body;
pub(crate) mod errors;
pub(crate) mod event_stream;
pub(crate) mod guard;
pub(crate) mod health;
pub(crate) mod path;
pub(crate) mod projection;
pub(crate) mod router;
pub(crate) mod threads;
pub(crate) mod ws;
