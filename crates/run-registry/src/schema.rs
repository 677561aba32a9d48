//! An answer's payload against the `responseSchema` its interrupt came with.
//!
//! Schemas come from agents and payloads from clients, so both are bounded: no reference leaves the
//! schema, patterns may not backtrack without end, and a schema that would cost too much is not
//! used. What cannot be used must not block the answer: it is taken, and recorded as unchecked with
//! the reason.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde::Serialize;
use serde_json::Value;
use threadcast_agui::interrupt::{Interrupt, ResumeEntry};
use threadcast_agui::json::RawJson;

mod bounds;

pub use bounds::{ALL_VISITS_MAX, NESTING_MAX, REFS_MAX, VISITS_MAX};

/// Largest schema that is used, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 64 << 10;

/// Largest payload that is checked, in bytes; a larger one breaks every schema.
pub const PAYLOAD_BYTES_MAX: usize = 64 << 10;

/// Most steps back that one pattern may take on one text.
pub const BACKTRACK_MAX: usize = 10_000;

/// Largest compiled pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Most violations that are told.
pub const ERRORS_MAX: usize = 32;

/// Longest text of a violation, in bytes: some quote the payload.
pub const ERROR_BYTES_MAX: usize = 256;

/// What a payload is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is what the interrupt asks for, or the interrupt asks for nothing in particular.
    Valid,
    /// At least one violation.
    Invalid(Vec<PayloadError>),
    /// The schema cannot be used; why.
    Unchecked(Box<str>),
}

/// One violation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PayloadError {
    /// A JSON Pointer into the payload; empty for the whole of it.
    pub path: String,
    pub message: String,
}

impl PayloadError {
    /// Of the whole payload.
    fn whole(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
        }
    }

    /// A question that is given up has no answer.
    pub(crate) fn on_cancelled() -> Self {
        Self::whole("a cancelled interrupt takes no payload")
    }

    fn of(error: &ValidationError<'_>) -> Self {
        let mut message = error.to_string();
        if message.len() > ERROR_BYTES_MAX {
            message.truncate(message.floor_char_boundary(ERROR_BYTES_MAX));
            message.push('…');
        }
        Self {
            path: error.instance_path().to_string(),
            message,
        }
    }
}

/// Judges the payload of `entry`, which resolves `interrupt`.
pub fn judge(interrupt: &Interrupt, entry: &ResumeEntry) -> Verdict {
    let Some(schema) = &interrupt.response_schema else {
        return Verdict::Valid;
    };
    let payload = match payload(entry.payload.as_ref()) {
        Ok(payload) => payload,
        Err(error) => return Verdict::Invalid(vec![error]),
    };
    let validator = match compile(schema, &payload) {
        Ok(validator) => validator,
        Err(reason) => return Verdict::Unchecked(reason),
    };
    // Telling what is wrong costs much more than telling that something is.
    if validator.is_valid(&payload) {
        return Verdict::Valid;
    }
    let mut errors = Vec::new();
    let mut unusable = None;
    for error in validator.iter_errors(&payload).take(ERRORS_MAX) {
        match error.kind() {
            ValidationErrorKind::BacktrackLimitExceeded { .. } => {
                unusable = Some("a pattern of the schema backtracks too often");
            }
            _ => errors.push(PayloadError::of(&error)),
        }
    }
    match unusable {
        _ if !errors.is_empty() && entry.payload.is_none() => {
            Verdict::Invalid(vec![PayloadError::whole(
                "the interrupt asks for a payload",
            )])
        }
        _ if !errors.is_empty() => Verdict::Invalid(errors),
        Some(reason) => Verdict::Unchecked(reason.into()),
        None => Verdict::Valid,
    }
}

/// The payload as a value; none is judged as null.
fn payload(payload: Option<&RawJson>) -> Result<Value, PayloadError> {
    let Some(payload) = payload else {
        return Ok(Value::Null);
    };
    let found = payload.as_str().len();
    if found > PAYLOAD_BYTES_MAX {
        let message =
            format!("the payload has {found} bytes, at most {PAYLOAD_BYTES_MAX} are checked");
        return Err(PayloadError::whole(message));
    }
    payload
        .to_value()
        .map_err(|error| PayloadError::whole(error.to_string()))
}

fn compile(schema: &RawJson, payload: &Value) -> Result<Validator, Box<str>> {
    let found = schema.as_str().len();
    if found > SCHEMA_BYTES_MAX {
        return Err(
            format!("the schema has {found} bytes, at most {SCHEMA_BYTES_MAX} are used").into(),
        );
    }
    let schema = schema.to_value().map_err(|error| error.to_string())?;
    bounds::check(&schema, payload).map_err(|error| error.to_string())?;
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_MAX)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX);
    let options = jsonschema::options()
        .with_pattern_options(patterns)
        .offline();
    let options = if schema.get("$schema").is_some() {
        options
    } else {
        options.with_draft(Draft::Draft202012)
    };
    options
        .build(&schema)
        .map_err(|error| PayloadError::of(&error).message.into())
}

#[cfg(test)]
mod tests;
