//! Identifiers, one type a kind: opaque strings that are compared and never parsed.

use std::fmt;
use std::sync::Arc;

/// Longest id in bytes.
pub const ID_BYTES_MAX: usize = 256;

/// Why a string is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("{kind} is empty")]
    Empty { kind: &'static str },
    #[error("{kind} is {found} bytes long, at most {ID_BYTES_MAX} are allowed")]
    TooLong { kind: &'static str, found: usize },
    #[error("{kind} holds a control character")]
    Control { kind: &'static str },
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes `id` as it is.
            ///
            /// # Errors
            /// The string is not allowed for this kind of id.
            pub fn new(id: impl Into<Arc<str>>) -> Result<Self, IdError> {
                let id = id.into();
                $check($kind, &id)?;
                Ok(Self(id))
            }

            /// The id as it came.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), &*self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(id: &str) -> Result<Self, IdError> {
                Self::new(id)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_str(IdVisitor($kind, Self::new))
            }
        }
    };
}

/// Makes an id of the text as it stands in a reader's buffer: what is read may hold thousands.
struct IdVisitor<T>(&'static str, fn(Arc<str>) -> Result<T, IdError>);

impl<T> serde::de::Visitor<'_> for IdVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {}", self.0)
    }

    fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<T, E> {
        (self.1)(id.into()).map_err(E::custom)
    }
}

/// Names a thing of the hub's own keys: 1–256 bytes without controls.
fn check_key(kind: &'static str, id: &str) -> Result<(), IdError> {
    if id.is_empty() {
        return Err(IdError::Empty { kind });
    }
    if id.chars().any(char::is_control) {
        return Err(IdError::Control { kind });
    }
    check_length(kind, id)
}

/// Names a thing inside a run: any string AG-UI allows, the empty one included, up to 256 bytes.
fn check_length(kind: &'static str, id: &str) -> Result<(), IdError> {
    if id.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong {
            kind,
            found: id.len(),
        });
    }
    Ok(())
}

id!(/// A conversation.
    ThreadId, "thread id", check_key);
id!(/// One run; never reused on its thread.
    RunId, "run id", check_key);
id!(/// A message, or a reasoning span; unique within its thread and kind.
    MessageId, "message id", check_length);
id!(/// One tool call; ties result and interrupt to it.
    ToolCallId, "tool call id", check_length);
id!(/// One invocation of a subagent.
    SubagentRunId, "subagent run id", check_length);
id!(/// An interrupt, unique within the run that raised it.
    InterruptId, "interrupt id", check_length);
id!(/// A step, unique within a run and owner while open.
    StepName, "step name", check_length);
