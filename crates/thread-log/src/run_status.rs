//! What is known of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Answers what a client cannot tell from a broken connection.
///
/// In the order of a run's life: unknown → queued → accepted → running → one of the four endings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// No record of it.
    Unknown,
    /// Waits behind the active run.
    Queued,
    /// Durable; the agent has not been heard.
    Accepted,
    Running,
    Success,
    Interrupted,
    Error,
    Cancelled,
}

impl RunStatus {
    pub fn is_active(self) -> bool {
        matches!(self, Self::Accepted | Self::Running)
    }

    pub fn has_ended(self) -> bool {
        matches!(
            self,
            Self::Success | Self::Interrupted | Self::Error | Self::Cancelled
        )
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Queued => "queued",
            Self::Accepted => "accepted",
            Self::Running => "running",
            Self::Success => "success",
            Self::Interrupted => "interrupted",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
