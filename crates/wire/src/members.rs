//! Reads the members of a frame, each with a typed getter whose error says where, what was expected
//! and what was found.
//!
//! Members that nobody asks for are ignored, so both sides can grow.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;
use threadcast_agui::fields::{INTEGER_MAX, Problem, ReadError};
use threadcast_agui::ids::{ID_BYTES_MAX, IdError, RunId, ThreadId};
use threadcast_thread_log::position::Seq;

/// The members of one object, borrowed from its text.
#[derive(Debug)]
pub(crate) struct Members<'a>(BTreeMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Members<'a> {
    /// Splits the text of an object. Of a repeated name the last one counts; client frames are
    /// checked for them before.
    ///
    /// # Errors
    /// The text is no JSON, or its value no object.
    pub(crate) fn of(json: &'a str) -> Result<Self, MembersError> {
        if let Some(found) = kind_unless(json, OBJECT) {
            // Broken text is said to be broken, whatever its first character promises.
            return match serde_json::from_str::<&RawValue>(json) {
                Ok(_) => Err(MembersError::Read(wrong(OBJECT, found))),
                Err(error) => Err(MembersError::Syntax(error)),
            };
        }
        serde_json::from_str(json)
            .map(Self)
            .map_err(MembersError::Syntax)
    }

    /// The member's text, null or not.
    pub(crate) fn value(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|value| value.get())
    }

    /// What `read` makes of the member, with errors placed under its name.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a str) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let value = self.value(name).ok_or_else(|| ReadError {
            at: name.to_owned(),
            problem: Problem::Missing,
        })?;
        read(value).map_err(|error| under(name, error))
    }

    /// The same for a member that may be absent; null is not absent.
    pub(crate) fn read_if<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a str) -> Result<T, ReadError>,
    ) -> Result<Option<T>, ReadError> {
        self.value(name)
            .map(read)
            .transpose()
            .map_err(|error| under(name, error))
    }
}

/// Why text has no members.
#[derive(Debug)]
pub(crate) enum MembersError {
    Read(ReadError),
    Syntax(serde_json::Error),
}

/// The same error seen from the object that holds the value as `name`.
pub(crate) fn under(name: &str, error: ReadError) -> ReadError {
    let dot = if error.at.is_empty() || error.at.starts_with('[') {
        ""
    } else {
        "."
    };
    ReadError {
        at: format!("{name}{dot}{}", error.at),
        problem: error.problem,
    }
}

const OBJECT: &str = "an object";

pub(crate) fn wrong(expected: &'static str, found: &'static str) -> ReadError {
    ReadError::new(Problem::WrongType { expected, found })
}

/// What sort of JSON value a text is, in words.
pub(crate) fn kind(json: &str) -> &'static str {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => OBJECT,
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn kind_unless(json: &str, expected: &'static str) -> Option<&'static str> {
    let found = kind(json);
    (found != expected).then_some(found)
}

pub(crate) fn object(json: &str) -> Result<Members<'_>, ReadError> {
    match Members::of(json) {
        Ok(members) => Ok(members),
        Err(MembersError::Read(error)) => Err(error),
        Err(MembersError::Syntax(error)) => Err(no_value(&error)),
    }
}

/// The elements of an array, each as text.
pub(crate) fn array(json: &str) -> Result<Vec<&str>, ReadError> {
    if let Some(found) = kind_unless(json, "an array") {
        return Err(wrong("an array", found));
    }
    let elements: Vec<&RawValue> = serde_json::from_str(json).map_err(|error| no_value(&error))?;
    Ok(elements.into_iter().map(RawValue::get).collect())
}

pub(crate) fn string(json: &str) -> Result<Cow<'_, str>, ReadError> {
    if let Some(found) = kind_unless(json, "a string") {
        return Err(wrong("a string", found));
    }
    serde_json::from_str::<Text<'_>>(json)
        .map(|text| text.0)
        .map_err(|error| no_value(&error))
}

/// A string that is borrowed where nothing is escaped.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A string of 1 to 256 bytes; `kind` says what it names.
pub(crate) fn name(json: &str, kind: &'static str) -> Result<String, ReadError> {
    let name = string(json)?;
    let problem = match name.len() {
        0 => IdError::Empty { kind },
        1..=ID_BYTES_MAX => return Ok(name.into_owned()),
        found => IdError::TooLong { kind, found },
    };
    Err(ReadError::new(Problem::Id(problem)))
}

pub(crate) fn boolean(json: &str) -> Result<bool, ReadError> {
    match json {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong("a boolean", kind(json))),
    }
}

/// An integer from `min` to 2^53 − 1.
pub(crate) fn integer(json: &str, min: i64) -> Result<i64, ReadError> {
    if let Some(found) = kind_unless(json, "a number") {
        return Err(wrong("an integer", found));
    }
    let found = json
        .parse::<i64>()
        .ok()
        .filter(|number| (min..=INTEGER_MAX).contains(number));
    found.ok_or_else(|| {
        ReadError::new(Problem::OutOfRange {
            min,
            max: INTEGER_MAX,
            found: json.into(),
        })
    })
}

/// An integer from `min`, not negative.
pub(crate) fn count(json: &str, min: u32) -> Result<u64, ReadError> {
    integer(json, i64::from(min)).map(|number| number.unsigned_abs())
}

pub(crate) fn seq(json: &str) -> Result<Seq, ReadError> {
    count(json, 0)
        .map(|number| Seq::new(number).expect("the integer was checked against the largest seq"))
}

pub(crate) fn thread(json: &str) -> Result<ThreadId, ReadError> {
    id(json, ThreadId::new)
}

pub(crate) fn run(json: &str) -> Result<RunId, ReadError> {
    id(json, RunId::new)
}

fn id<T>(json: &str, new: impl FnOnce(Arc<str>) -> Result<T, IdError>) -> Result<T, ReadError> {
    new(string(json)?.into()).map_err(|error| ReadError::new(Problem::Id(error)))
}

/// Valid text whose value cannot be held: half a surrogate pair.
fn no_value(error: &serde_json::Error) -> ReadError {
    let column = error.column();
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default().into();
    ReadError::new(Problem::Json(threadcast_agui::json::JsonError::NoValue {
        column,
        reason,
    }))
}
