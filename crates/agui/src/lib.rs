//! AG-UI 1.0 as plain data: events, messages, run input and interrupts, each with its original
//! bytes.
//!
//! Reading follows the strip-then-validate rule of the contract: what the protocol does not
//! describe is no error and stays in the original bytes; a described field with a wrong value is
//! refused. Nothing here knows a log, a thread's history or a socket.
//!
//! Invariant: a value of these types was checked once, when it was read; nobody checks it again.

pub mod chunk;
pub mod content;
pub mod downgrade;
mod edit;
pub mod event;
pub mod fields;
pub mod ids;
pub mod interrupt;
pub mod json;
pub mod legacy;
pub mod make;
pub mod message;
pub mod patch;
pub mod pointer;
pub mod run_input;
mod scan;
pub mod text;
pub mod usage;
mod write;
