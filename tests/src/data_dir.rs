//! A directory for the logs of one test's hubs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// An empty directory of this value's own; it is removed with it.
#[derive(Debug)]
pub struct DataDir(PathBuf);

impl DataDir {
    /// # Panics
    /// No directory can be made.
    #[must_use]
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "threadcast-tests-{}-{}",
            std::process::id(),
            MADE.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        // What a killed test of the same process id left.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Default for DataDir {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        // A hub that a failing test left may still write there.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
