//! Reads the described members of a JSON object, each with a typed getter.
//!
//! Members that nobody asks for are ignored, which is how undescribed material is stripped. A
//! described member with a wrong value is an error that tells where it is and both what was
//! expected and what was found.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::ids::IdError;
use crate::json::{self, JsonError, Metadata, RawJson};
use crate::pointer::PointerError;
use crate::scan;
use crate::text::{Escaped, decode_token};

/// Largest integer of the protocol, 2^53 − 1; the smallest is its negative.
pub const INTEGER_MAX: i64 = (1 << 53) - 1;

/// Why JSON is not what the protocol describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Where, such as `input.messages[2].toolCalls[0].function.name`; empty for the whole value.
    pub at: String,
    pub problem: Problem,
}

/// What is wrong with one member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("is empty")]
    Empty,
    #[error("is refused: {0}")]
    Id(IdError),
    #[error("is refused: {0}")]
    Json(JsonError),
    #[error("is missing")]
    Missing,
    #[error("must be one of {}, found `{found}`", quoted(.allowed))]
    NotOneOf {
        allowed: &'static [&'static str],
        found: Box<str>,
    },
    #[error("must be an integer from {min} to {max}, found {found}")]
    OutOfRange { min: i64, max: i64, found: Box<str> },
    #[error("is refused: {0}")]
    Pointer(PointerError),
    #[error("comes to {found} bytes, at most {max} are allowed")]
    TooLong { max: usize, found: usize },
    #[error("must be {expected}, found {found}")]
    WrongType {
        expected: &'static str,
        found: &'static str,
    },
}

fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl ReadError {
    /// A problem with the whole value.
    pub fn new(problem: Problem) -> Self {
        Self {
            at: String::new(),
            problem,
        }
    }

    /// A problem with the member `name`.
    pub(crate) fn at(name: &str, problem: Problem) -> Self {
        Self {
            at: name.to_owned(),
            problem,
        }
    }

    /// The same error seen from the object that holds the value as `name`.
    pub(crate) fn under(mut self, name: &str) -> Self {
        let dot = if self.at.is_empty() || self.at.starts_with('[') {
            ""
        } else {
            "."
        };
        self.at = format!("{name}{dot}{}", self.at);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() {
            write!(f, "the value {}", self.problem)
        } else {
            write!(f, "`{}` {}", self.at, self.problem)
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        None
    }
}

impl From<JsonError> for ReadError {
    fn from(error: JsonError) -> Self {
        Self::new(Problem::Json(error))
    }
}

/// The members of one object, borrowed from its checked text.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Fields<'a> {
    /// Splits `json`, which was checked.
    ///
    /// # Errors
    /// The value is no object.
    pub(crate) fn of(json: &'a str) -> Result<Self, ReadError> {
        if !json.starts_with('{') {
            return Err(ReadError::new(wrong(OBJECT, json)));
        }
        let mut members = Vec::with_capacity(8);
        members.extend(scan::members(json).map(|member| (decode_token(member.name), member.value)));
        Ok(Self { members })
    }

    /// The member's text, null or not.
    pub(crate) fn value(&self, name: &str) -> Option<&'a str> {
        self.members
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| *value)
    }

    pub(crate) fn required(&self, name: &str) -> Result<&'a str, ReadError> {
        self.value(name)
            .ok_or_else(|| ReadError::at(name, Problem::Missing))
    }

    /// What `read` makes of the member, with errors placed under its name.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a str) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        read(self.required(name)?).map_err(|error| error.under(name))
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
            .map_err(|error| error.under(name))
    }

    /// The members not named in `described`, in their order.
    pub(crate) fn extra(&self, described: &[&str]) -> Vec<(Box<str>, RawJson)> {
        let undescribed = self
            .members
            .iter()
            .filter(|(name, _)| !described.contains(&name.as_ref()));
        undescribed
            .map(|(name, value)| (name.as_ref().into(), RawJson::from_trusted(*value)))
            .collect()
    }
}

const OBJECT: &str = "an object";

pub(crate) fn wrong(expected: &'static str, found: &str) -> Problem {
    Problem::WrongType {
        expected,
        found: kind(found),
    }
}

/// What sort of JSON value a text is, in words.
pub(crate) fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => OBJECT,
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The token of a string.
pub(crate) fn token(json: &str) -> Result<&str, ReadError> {
    if json.starts_with('"') {
        Ok(json)
    } else {
        Err(ReadError::new(wrong("a string", json)))
    }
}

/// Text that is compared: half a surrogate pair is refused, for it has no name of its own.
pub(crate) fn exact(json: &str) -> Result<Cow<'_, str>, ReadError> {
    let token = token(json)?;
    if token.contains('\\') {
        let text = serde_json::from_str::<String>(token);
        let text = text.map_err(|_| ReadError::new(Problem::Json(JsonError::HalfSurrogate)))?;
        return Ok(Cow::Owned(text));
    }
    Ok(decode_token(token))
}

/// Text that is shown: half a surrogate pair becomes U+FFFD.
pub(crate) fn text(json: &str) -> Result<Box<str>, ReadError> {
    Ok(decode_token(token(json)?).into())
}

/// Text that is joined.
pub(crate) fn escaped(json: &str) -> Result<Escaped, ReadError> {
    Ok(Escaped::from_token(token(json)?))
}

/// An id of any kind.
pub(crate) fn id<T>(
    json: &str,
    new: impl FnOnce(std::sync::Arc<str>) -> Result<T, IdError>,
) -> Result<T, ReadError> {
    new(exact(json)?.into()).map_err(|error| ReadError::new(Problem::Id(error)))
}

pub(crate) fn boolean(json: &str) -> Result<bool, ReadError> {
    match json {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ReadError::new(wrong("a boolean", json))),
    }
}

/// An integer from `min` to 2^53 − 1; `5.0` is one.
pub(crate) fn integer(json: &str, min: i64) -> Result<i64, ReadError> {
    if kind(json) != "a number" {
        return Err(ReadError::new(wrong("an integer", json)));
    }
    let found = json.parse::<i64>().ok().or_else(|| whole(json));
    let allowed = found.filter(|number| (min..=INTEGER_MAX).contains(number));
    allowed.ok_or_else(|| {
        ReadError::new(Problem::OutOfRange {
            min,
            max: INTEGER_MAX,
            found: json.into(),
        })
    })
}

fn whole(json: &str) -> Option<i64> {
    let number = json.parse::<f64>().ok()?;
    // Within ±2^53 every whole double is exactly an i64.
    let is_whole = number.fract() == 0.0 && number.abs() <= INTEGER_MAX as f64;
    is_whole.then_some(number as i64)
}

/// Any JSON, null included, as it came.
pub(crate) fn any(json: &str) -> Result<RawJson, ReadError> {
    Ok(RawJson::from_trusted(json))
}

/// Any JSON but null, as it came.
pub(crate) fn any_but_null(json: &str) -> Result<RawJson, ReadError> {
    if json == "null" {
        Err(ReadError::new(wrong("any value but null", json)))
    } else {
        any(json)
    }
}

/// Any JSON, as a value.
pub(crate) fn value(json: &str) -> Result<Value, ReadError> {
    Ok(json::to_value(json)?)
}

/// An open object, as it came.
pub(crate) fn open_object(json: &str) -> Result<RawJson, ReadError> {
    if json.starts_with('{') {
        any(json)
    } else {
        Err(ReadError::new(wrong(OBJECT, json)))
    }
}

/// An open object, as a value.
pub(crate) fn metadata(json: &str) -> Result<Metadata, ReadError> {
    match value(json)? {
        Value::Object(object) => Ok(object),
        _ => Err(ReadError::new(wrong(OBJECT, json))),
    }
}

/// An array, each element as `read` makes it; errors are placed under the element's index.
pub(crate) fn array<'a, T>(
    json: &'a str,
    mut read: impl FnMut(&'a str) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    if !json.starts_with('[') {
        return Err(ReadError::new(wrong("an array", json)));
    }
    let read = |(at, element): (usize, scan::Element<'a>)| {
        read(element.value).map_err(|error| error.under(&format!("[{at}]")))
    };
    scan::elements(json).enumerate().map(read).collect()
}

/// An array without those elements that `read` drops as undescribed.
pub(crate) fn known_array<'a, T>(
    json: &'a str,
    read: impl FnMut(&'a str) -> Result<Option<T>, ReadError>,
) -> Result<Vec<T>, ReadError> {
    Ok(array(json, read)?.into_iter().flatten().collect())
}

/// A string that decides what the object is, such as a union's tag.
///
/// `None` is a value that no union has a member for, which is undescribed and not malformed.
pub(crate) fn tag<'a>(fields: &Fields<'a>, name: &str) -> Option<Cow<'a, str>> {
    fields
        .value(name)
        .filter(|value| value.starts_with('"'))
        .map(decode_token)
}

/// One of a closed set of strings.
pub(crate) fn one_of<T: Copy>(
    json: &str,
    names: &'static [&'static str],
    values: &[T],
) -> Result<T, ReadError> {
    let found = decode_token(token(json)?);
    let at = names.iter().position(|name| *name == found);
    at.and_then(|at| values.get(at)).copied().ok_or_else(|| {
        ReadError::new(Problem::NotOneOf {
            allowed: names,
            found: found.as_ref().into(),
        })
    })
}
