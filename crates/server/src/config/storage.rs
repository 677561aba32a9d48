//! Where logs are kept, and for how long.

use std::num::NonZeroU64;

use clap::ValueEnum;
use serde::{Deserialize, Deserializer};
use threadcast_run_registry::retention::Retention;

/// What keeps the logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// Files in a directory: a restart loses nothing.
    #[default]
    Disk,
    /// This process: everything ends with it.
    Memory,
}

/// When the beginning of a log is dropped; 0 everywhere: never. Whole runs go, oldest first, but
/// neither one that is active nor the latest, nor what open questions need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionConfig {
    /// Runs go that ended longer ago than this, in milliseconds.
    #[serde(deserialize_with = "or_zero")]
    pub age_ms: Option<NonZeroU64>,
    /// Runs go while a thread has more entries than this.
    #[serde(deserialize_with = "or_zero")]
    pub entries: Option<NonZeroU64>,
    /// Runs go while a thread's entries have more bytes than this.
    #[serde(deserialize_with = "or_zero")]
    pub bytes: Option<NonZeroU64>,
}

impl From<RetentionConfig> for Retention {
    fn from(config: RetentionConfig) -> Self {
        let RetentionConfig {
            age_ms,
            entries,
            bytes,
        } = config;
        Self {
            age_ms: age_ms.map(u64::from),
            entries: entries.map(u64::from),
            bytes: bytes.map(u64::from),
        }
    }
}

fn or_zero<'de, D: Deserializer<'de>>(from: D) -> Result<Option<NonZeroU64>, D::Error> {
    u64::deserialize(from).map(NonZeroU64::new)
}
