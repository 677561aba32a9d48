//! JSON kept as text, checked once.
//!
//! Syntax is judged by `serde_json`; what it lets through but the hub must not (depth, repeated
//! names, line breaks) is found in one walk over the same bytes. Numbers and strings are only
//! looked into when a value is asked for.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::scan;
use crate::text::decode_token;

/// Deepest nesting of arrays and objects.
pub const DEPTH_MAX: usize = 64;

/// Deepest nesting of what a hub builds around values of [`DEPTH_MAX`]; the deepest is an
/// activity's content inside a message inside the list of a snapshot.
pub const BUILT_DEPTH_MAX: usize = DEPTH_MAX + 8;

/// An open object: metadata, or an activity's content.
pub type Metadata = Map<String, Value>;

/// Members that no type describes, in their order.
pub type Extra = Vec<(Box<str>, RawJson)>;

/// Why text is not taken as JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// `line` and `column` count from 1.
    #[error("JSON is malformed at line {line} column {column}: {reason}")]
    Syntax {
        line: usize,
        column: usize,
        reason: Box<str>,
    },
    #[error("JSON is nested deeper than {max} levels")]
    TooDeep { max: usize },
    #[error("JSON member `{name}` is repeated within one object")]
    RepeatedMember { name: Box<str> },
    /// In a name or an id, which are compared.
    #[error("JSON string holds half a surrogate pair")]
    HalfSurrogate,
    /// Well-formed text whose value cannot be held: a number beyond every double, half a surrogate
    /// pair.
    #[error("JSON value at column {column} cannot be held: {reason}")]
    NoValue { column: usize, reason: Box<str> },
}

/// One JSON value as text; a copy is a reference count.
///
/// Invariant: valid JSON, no repeated member names, no line breaks, no white space around it; no
/// deeper than [`DEPTH_MAX`] unless the hub made it itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// Checks `json` and keeps it, without the white space around it and the line breaks outside
    /// strings.
    ///
    /// Half a surrogate pair inside a string is kept: its other half may come in another event.
    ///
    /// # Errors
    /// The text is malformed, too deep, or repeats a member name within one object (names compare
    /// unescaped).
    pub fn parse(json: &str) -> Result<Self, JsonError> {
        Self::parse_within(json, DEPTH_MAX)
    }

    /// The same for what a hub sends: it may have built it around values of [`DEPTH_MAX`].
    ///
    /// # Errors
    /// As [`RawJson::parse`], but too deep is what is over [`BUILT_DEPTH_MAX`].
    pub fn parse_built(json: &str) -> Result<Self, JsonError> {
        Self::parse_within(json, BUILT_DEPTH_MAX)
    }

    /// The same with another bound of the depth.
    pub(crate) fn parse_within(json: &str, depth_max: usize) -> Result<Self, JsonError> {
        checked_within(json, depth_max).map(|json| Self(json.into()))
    }

    /// The text of `value`.
    pub fn from_value(value: &Value) -> Self {
        Self::from_trusted(value.to_string())
    }

    /// Takes text that the hub built itself, or a part of text that was checked.
    pub fn from_trusted(json: impl Into<Arc<str>>) -> Self {
        let json = json.into();
        debug_assert!(
            serde_json::from_str::<IgnoredAny>(&json).is_ok(),
            "built text is JSON: {json}"
        );
        debug_assert!(
            !json.contains(['\n', '\r']),
            "built text has no line breaks: {json}"
        );
        Self(json)
    }

    /// What sort of value it is, in words: "an array".
    pub fn kind(&self) -> &'static str {
        crate::fields::kind(self.as_str())
    }

    /// The text as it is kept.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value, numbers beyond 64 bits as doubles.
    ///
    /// # Errors
    /// A number is beyond every double, or a string holds half a surrogate pair.
    pub fn to_value(&self) -> Result<Value, JsonError> {
        to_value(&self.0)
    }

    /// The same text in `serde_json`'s clothes.
    pub fn as_raw_value(&self) -> &RawValue {
        serde_json::from_str(&self.0).expect("raw JSON was checked when it was made")
    }
}

/// What [`RawJson::parse`] would keep, for who reads it at once: copied only where line breaks have
/// to go.
///
/// # Errors
/// As [`RawJson::parse`].
pub(crate) fn checked(json: &str) -> Result<Cow<'_, str>, JsonError> {
    checked_within(json, DEPTH_MAX)
}

fn checked_within(json: &str, depth_max: usize) -> Result<Cow<'_, str>, JsonError> {
    serde_json::from_str::<IgnoredAny>(json).map_err(|error| syntax(&error))?;
    let trimmed = json.trim_matches([' ', '\t', '\n', '\r']);
    Ok(match check_structure(trimmed, depth_max)? {
        LineBreaks::None => Cow::Borrowed(trimmed),
        LineBreaks::Some => Cow::Owned(trimmed.replace(['\n', '\r'], "")),
    })
}

impl AsRef<str> for RawJson {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for RawJson {
    type Err = JsonError;
    fn from_str(json: &str) -> Result<Self, JsonError> {
        Self::parse(json)
    }
}

impl serde::Serialize for RawJson {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.as_raw_value().serialize(to)
    }
}

impl<'de> serde::Deserialize<'de> for RawJson {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(from)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

/// The members of an object in text that was checked, names decoded, values as they stand; none of
/// any other value.
pub fn members(json: &str) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
    let object = if json.starts_with('{') { json } else { "{}" };
    scan::members(object).map(|member| (decode_token(member.name), member.value))
}

/// The value of checked JSON text.
pub(crate) fn to_value(json: &str) -> Result<Value, JsonError> {
    serde_json::from_str(json).map_err(|error| JsonError::NoValue {
        column: error.column(),
        reason: reason(&error),
    })
}

fn syntax(error: &serde_json::Error) -> JsonError {
    JsonError::Syntax {
        line: error.line(),
        column: error.column(),
        reason: reason(error),
    }
}

/// The error's text without its position, which is told apart.
fn reason(error: &serde_json::Error) -> Box<str> {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).into()
}

#[derive(Clone, Copy)]
enum LineBreaks {
    None,
    Some,
}

/// Checks depth and names of text whose syntax is valid, and tells whether line breaks stand in it.
fn check_structure(json: &str, depth_max: usize) -> Result<LineBreaks, JsonError> {
    let bytes = json.as_bytes();
    let mut breaks = LineBreaks::None;
    let mut names: Vec<Cow<'_, str>> = Vec::with_capacity(8);
    // For every open container: where its names begin; arrays add none.
    let mut starts = [0; BUILT_DEPTH_MAX];
    let starts = &mut starts[..depth_max];
    let mut depth = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = scan::string_end(bytes, at);
                if is_name(bytes, end) {
                    names.push(name(&json[at..end])?);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                *starts
                    .get_mut(depth)
                    .ok_or(JsonError::TooDeep { max: depth_max })? = names.len();
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                let start = starts[depth];
                check_names(&mut names[start..])?;
                names.truncate(start);
            }
            b'\n' | b'\r' => breaks = LineBreaks::Some,
            _ => {}
        }
        at += 1;
    }
    Ok(breaks)
}

/// Whether the string that ends at `end` is a member's name.
fn is_name(bytes: &[u8], end: usize) -> bool {
    let mut rest = bytes.get(end..).unwrap_or_default().iter();
    rest.find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) == Some(&b':')
}

fn name(token: &str) -> Result<Cow<'_, str>, JsonError> {
    let inside = &token[1..token.len() - 1];
    if inside.contains('\\') {
        serde_json::from_str(token)
            .map(Cow::Owned)
            .map_err(|_| JsonError::HalfSurrogate)
    } else {
        Ok(Cow::Borrowed(inside))
    }
}

/// Up to this many names are compared pairwise, which needs no order and beats sorting.
const NAMES_PAIRWISE_MAX: usize = 16;

fn check_names(names: &mut [Cow<'_, str>]) -> Result<(), JsonError> {
    let repeated = if names.len() <= NAMES_PAIRWISE_MAX {
        let is_repeated = |(at, name): &(usize, &Cow<'_, str>)| names[..*at].contains(name);
        names
            .iter()
            .enumerate()
            .find(is_repeated)
            .map(|(_, name)| name)
    } else {
        names.sort_unstable();
        names
            .windows(2)
            .find(|pair| pair[0] == pair[1])
            .map(|pair| &pair[0])
    };
    match repeated {
        Some(name) => Err(JsonError::RepeatedMember {
            name: name.as_ref().into(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
