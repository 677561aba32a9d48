//! The server as its clients and agents see it: real sockets on loopback, scripted agents, nothing
//! mocked.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod agents_that_fail;
mod answering;
mod bad_requests;
mod cancelling;
mod cli_files;
mod demo;
mod exporting;
mod forking;
mod healing;
mod past;
mod peers;
mod program;
mod runs;
mod sockets;
mod stopping;
mod support;
mod threads;
mod trimmed;
