//! The client against a hub that is played frame by frame on a real loopback socket.
#![expect(
    clippy::unwrap_used,
    reason = "the setting for tests misses helper functions of integration tests"
)]
#![expect(
    clippy::large_futures,
    reason = "a test joins both sides of a conversation in one future"
)]

mod connecting;
mod fake_hub;
mod following;
mod requests;
