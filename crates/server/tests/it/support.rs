//! A server in this process, agents that follow a script, and plain HTTP and WebSocket clients.

pub(crate) mod agent;
pub(crate) mod http;
pub(crate) mod server;
pub(crate) mod socket;

use std::future::Future;
use std::time::Duration;

/// Longest wait for anything a test waits for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Awaits what must happen soon.
#[track_caller]
pub(crate) fn soon<T>(what: impl Future<Output = T>) -> impl Future<Output = T> {
    let place = std::panic::Location::caller();
    async move {
        match tokio::time::timeout(PATIENCE, what).await {
            Ok(done) => done,
            Err(_) => panic!("waited too long at {place}"),
        }
    }
}
