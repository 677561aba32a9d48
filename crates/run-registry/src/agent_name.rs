//! The name under which an agent is configured.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

/// Longest agent name in bytes.
pub const AGENT_NAME_BYTES_MAX: usize = 128;

/// Names an agent of the configuration; clients choose among them and never bring an address of
/// their own.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct AgentName(Arc<str>);

/// Why a string is no agent name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentNameError {
    #[error("agent name holds a control character")]
    Control,
    #[error("agent name is empty")]
    Empty,
    #[error("agent name is {found} bytes long, at most {AGENT_NAME_BYTES_MAX} are allowed")]
    TooLong { found: usize },
}

impl AgentName {
    /// Takes `name` as it is.
    ///
    /// # Errors
    /// It is empty, too long, or holds a control character.
    pub fn new(name: impl Into<Arc<str>>) -> Result<Self, AgentNameError> {
        let name = name.into();
        if name.is_empty() {
            return Err(AgentNameError::Empty);
        }
        if name.len() > AGENT_NAME_BYTES_MAX {
            return Err(AgentNameError::TooLong { found: name.len() });
        }
        if name.chars().any(char::is_control) {
            return Err(AgentNameError::Control);
        }
        Ok(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentName({:?})", &*self.0)
    }
}

impl std::str::FromStr for AgentName {
    type Err = AgentNameError;
    fn from_str(name: &str) -> Result<Self, AgentNameError> {
        Self::new(name)
    }
}

impl<'de> Deserialize<'de> for AgentName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        assert!(AgentName::new("demo").is_ok());
        assert_eq!(AgentName::new(""), Err(AgentNameError::Empty));
        assert_eq!(AgentName::new("a\nb"), Err(AgentNameError::Control));
        assert_eq!(
            AgentName::new("x".repeat(129)),
            Err(AgentNameError::TooLong { found: 129 })
        );
    }
}
