//! The harness of the end-to-end tests: starts the real program, real agents and the published
//! client.
//!
//! Everything listens on loopback ports the system chose, and ends with the value that started it.
//!
//! Invariant: a wait ends on an observed fact or fails at a deadline; nothing sleeps for luck.
#![expect(
    clippy::unwrap_used,
    reason = "a harness that fails should fail loudly, at the line that failed"
)]

pub mod closed_door;
pub mod data_dir;
pub mod differential;
pub mod http;
pub mod live_agents;
pub mod measure;
pub mod node;
pub mod options;
pub mod program;
pub mod recording;
pub mod replay;
pub mod torture;
pub mod viewer;

use std::future::Future;
use std::time::Duration;

/// How long anything that must happen may take on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for `what`, at most [`PATIENCE`].
///
/// # Panics
/// It does not happen in time.
pub async fn within<T>(what: &str, happens: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, happens).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not happen within {PATIENCE:?}"),
    }
}

/// A path inside the repository.
#[must_use]
pub fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join(path)
}

/// What a recipe installed for the tests.
///
/// # Panics
/// The variable is not set: `cargo xtask test` sets it.
#[must_use]
pub fn installed(variable: &str) -> std::path::PathBuf {
    match std::env::var_os(variable) {
        Some(path) => path.into(),
        None => panic!(
            "{variable} is not set: these tests run by `cargo xtask test`, which installs what they need"
        ),
    }
}
