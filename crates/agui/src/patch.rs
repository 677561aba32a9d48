//! JSON Patch as AG-UI carries it: unknown operations dropped, known ones checked, nothing applied.

use serde_json::Value;

use crate::fields::{self, Fields, Problem, ReadError};
use crate::json::RawJson;
use crate::pointer::Pointer;

/// A list of operations; applying it is the fold's business.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch(pub Vec<PatchOp>);

/// One operation of RFC 6902; what it does to a document is not judged here.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchOp {
    Add { path: Pointer, value: Value },
    Copy { from: Pointer, path: Pointer },
    Move { from: Pointer, path: Pointer },
    Remove { path: Pointer },
    Replace { path: Pointer, value: Value },
    Test { path: Pointer, value: Value },
}

impl Patch {
    /// Reads an array of operations.
    ///
    /// # Errors
    /// The text is no JSON array, or a described operation lacks a member or has a wrong one.
    pub fn read(json: &str) -> Result<Self, ReadError> {
        Self::from_checked(RawJson::parse(json)?.as_str())
    }

    /// Reads an array of operations from checked text.
    pub(crate) fn from_checked(json: &str) -> Result<Self, ReadError> {
        fields::known_array(json, read_op).map(Self)
    }
}

/// Whether the protocol describes an operation of this name.
pub(crate) fn is_operation(op: &str) -> bool {
    matches!(op, "add" | "copy" | "move" | "remove" | "replace" | "test")
}

/// `None` is an operation that the protocol does not describe.
fn read_op(json: &str) -> Result<Option<PatchOp>, ReadError> {
    let fields = Fields::of(json)?;
    let Some(op) = fields::tag(&fields, "op") else {
        return Ok(None);
    };
    let path = || fields.read("path", pointer);
    let from = || fields.read("from", pointer);
    let value = || fields.read("value", fields::value);
    Ok(Some(match op.as_ref() {
        "add" => PatchOp::Add {
            path: path()?,
            value: value()?,
        },
        "copy" => PatchOp::Copy {
            from: from()?,
            path: path()?,
        },
        "move" => PatchOp::Move {
            from: from()?,
            path: path()?,
        },
        "remove" => PatchOp::Remove { path: path()? },
        "replace" => PatchOp::Replace {
            path: path()?,
            value: value()?,
        },
        "test" => PatchOp::Test {
            path: path()?,
            value: value()?,
        },
        _ => return Ok(None),
    }))
}

fn pointer(json: &str) -> Result<Pointer, ReadError> {
    Pointer::parse(&fields::exact(json)?).map_err(|error| ReadError::new(Problem::Pointer(error)))
}
