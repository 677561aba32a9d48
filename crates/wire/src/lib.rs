//! The frames of the Threadcast protocol (docs/protocol.md), its error codes, close codes and
//! limits.
//!
//! Text in, typed frames out, and the other way round. No socket, no thread's history, no decision:
//! whether a run may start is not known here.
//!
//! Invariant: what one side writes the other reads, byte for byte as in `proto-fixtures/frames`.

pub mod answer;
pub mod client_frame;
pub mod close;
pub mod error_body;
pub mod error_code;
pub mod hub_frame;
pub mod limits;
pub mod part;
pub mod view;

mod members;
mod write;

/// The WebSocket subprotocol this crate speaks.
pub const SUBPROTOCOL: &str = "threadcast.v1";
