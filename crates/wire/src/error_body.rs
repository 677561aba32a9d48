//! An error as it is told, the same on the socket and over HTTP (docs/protocol.md §4.2).

use serde::Deserialize;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Value;

use crate::error_code::ErrorCode;

/// The JSON of an error: `code`, `message`, `retryable`, `details`?.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorBody {
    /// The reason; it determines `retryable`.
    pub code: ErrorCode,
    /// For a person; no part of the protocol.
    pub message: String,
    /// An object whose members the code determines (docs/protocol.md §10).
    pub details: Option<Value>,
}

impl ErrorBody {
    /// An error without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
        }
    }

    /// The same error with `details`, an object.
    pub fn with_details(self, details: Value) -> Self {
        Self {
            details: Some(details),
            ..self
        }
    }
}

impl Serialize for ErrorBody {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let members = if self.details.is_some() { 4 } else { 3 };
        let mut object = to.serialize_struct("ErrorBody", members)?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("retryable", &self.code.is_retryable())?;
        match &self.details {
            Some(details) => object.serialize_field("details", details)?,
            None => object.skip_field("details")?,
        }
        object.end()
    }
}

/// An error as a client reads it: the code may be one that a later version made.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ReceivedError {
    /// The name on the wire.
    pub code: Box<str>,
    pub message: Box<str>,
    /// Whether the same request may succeed later unchanged.
    pub retryable: bool,
    pub details: Option<Value>,
}

impl ReceivedError {
    /// The code if this version knows it.
    pub fn known_code(&self) -> Option<ErrorCode> {
        ErrorCode::from_name(&self.code)
    }
}
