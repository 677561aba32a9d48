//! Who did something.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A person or program as others see it: a stable id and a name to show.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    pub id: Arc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
}

impl Principal {
    /// Whoever reaches a hub that asks for no tokens.
    pub fn anonymous() -> Self {
        Self {
            id: "anonymous".into(),
            name: None,
        }
    }

    /// The hub itself.
    pub fn hub() -> Self {
        Self {
            id: "hub".into(),
            name: None,
        }
    }
}
