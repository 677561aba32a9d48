//! The `threadcast` program as a library: configuration, HTTP and WebSocket faces, upstream agents,
//! command line.
//!
//! It alone knows every crate and picks the engine. What is allowed and what a decision changes is
//! decided in `run-registry`; what a viewer gets is decided in `hub`. Here is only the translation
//! between them and the network.

pub mod cli;
pub mod config;
pub mod logging;
pub mod serve;
pub mod store;

mod demo;
#[cfg(test)]
mod failing_engine;
mod http;
mod random;
mod upstream;
