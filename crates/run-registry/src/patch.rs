//! JSON Patch as the reference client applies it, atomic and bounded.
//!
//! One function for shared state and for activities. Every operation changes the document in place
//! and notes the way back; nothing is copied but what an operation says or copies.
//!
//! Invariant: a document that came out of here is at most `depth_max` deep, and grew to at most
//! `bytes_max`.

mod in_place;
pub(crate) mod measure;
mod reference;
mod undo;

use serde_json::Value;
use threadcast_agui::patch::{Patch, PatchOp};
use threadcast_agui::pointer::Pointer;

use crate::patch::in_place::InPlace;
use crate::patch::measure::json_bytes;

/// How far patches may take a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateLimits {
    /// Size as JSON text after an operation that adds; operations that make a larger document
    /// smaller are allowed.
    pub bytes_max: usize,
    /// Operations of one patch.
    pub operations_max: usize,
    /// Nested arrays and objects.
    pub depth_max: usize,
}

impl Default for StateLimits {
    fn default() -> Self {
        Self {
            bytes_max: 1 << 20,
            operations_max: 500,
            // What a document comes back in (a run input, inside a frame) must not be too deep.
            depth_max: 56,
        }
    }
}

/// Why a patch does not apply; the document is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {operation} at `{path}`: {problem}")]
pub struct PatchFailure {
    /// Counted from 0.
    pub operation: usize,
    pub path: Box<str>,
    pub problem: PatchProblem,
    /// Whether AG-UI's reference client would have done the operation.
    pub is_stricter: bool,
}

impl PatchFailure {
    /// An activity's content would no longer be an object.
    pub(crate) fn no_object(patch: &Patch) -> Self {
        Self {
            operation: patch.0.len().saturating_sub(1),
            path: patch.0.last().map_or("", |op| path(op).as_str()).into(),
            problem: PatchProblem::NoObject,
            is_stricter: true,
        }
    }
}

/// What is wrong with one operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchProblem {
    #[error("{max} bytes have been copied, no more are allowed in one patch")]
    CopiesTooMuch { max: usize },
    #[error("a path through an object's prototype is refused")]
    Forbidden,
    #[error("`{from}` cannot move into itself")]
    IntoItself { from: Box<str> },
    /// Only of an activity's content, after the last operation.
    #[error("what is left is no object")]
    NoObject,
    #[error("the value found differs from the one expected")]
    TestFailed,
    #[error("the document would be {found} levels deep, at most {max} are allowed")]
    TooDeep { found: usize, max: usize },
    #[error("the document would be {found} bytes long, at most {max} are allowed")]
    TooLarge { found: usize, max: usize },
    #[error("the patch has {found} operations, at most {max} are allowed")]
    TooManyOperations { found: usize, max: usize },
    #[error("`{pointer}` leads nowhere")]
    Unresolved { pointer: Box<str> },
}

impl PatchProblem {
    /// Whether it is a bound of the hub's own.
    fn is_bound(&self) -> bool {
        match self {
            Self::CopiesTooMuch { .. }
            | Self::NoObject
            | Self::TooDeep { .. }
            | Self::TooLarge { .. }
            | Self::TooManyOperations { .. } => true,
            Self::Forbidden
            | Self::IntoItself { .. }
            | Self::TestFailed
            | Self::Unresolved { .. } => false,
        }
    }
}

/// A document that patches change in place, with its length, so that a small patch of a large
/// document is cheap.
#[derive(Clone, Debug)]
pub struct Document {
    value: Value,
    /// Length as JSON text.
    bytes: usize,
    walked: usize,
}

impl Document {
    pub fn new(value: Value) -> Self {
        let bytes = json_bytes(&value);
        Self {
            value,
            bytes,
            walked: 0,
        }
    }

    /// A document whose length is known.
    pub(crate) fn with_bytes(value: Value, bytes: usize) -> Self {
        Self {
            value,
            bytes,
            walked: 0,
        }
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Its length as JSON text.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What the patches so far walked beside their own text: bytes that they copied or moved
    /// deeper, elements and members that they passed over.
    pub(crate) fn walked(&self) -> usize {
        self.walked
    }

    pub fn into_value(self) -> Value {
        self.value
    }

    /// Does all operations of `patch`, or none.
    ///
    /// # Errors
    /// There are too many operations, or one of them does not apply: its path or source leads
    /// nowhere or through a prototype, its test fails, or the document would grow too large or too
    /// deep.
    pub fn apply(&mut self, patch: &Patch, limits: &StateLimits) -> Result<(), PatchFailure> {
        self.apply_if(patch, limits, |_| true)
    }

    /// The same for the content of an activity: the contract knows no other than objects.
    ///
    /// # Errors
    /// As of [`Self::apply`]; or what is left is no object.
    pub(crate) fn apply_to_object(
        &mut self,
        patch: &Patch,
        limits: &StateLimits,
    ) -> Result<(), PatchFailure> {
        self.apply_if(patch, limits, Value::is_object)
    }

    fn apply_if(
        &mut self,
        patch: &Patch,
        limits: &StateLimits,
        may_be: impl FnOnce(&Value) -> bool,
    ) -> Result<(), PatchFailure> {
        let (found, max) = (patch.0.len(), limits.operations_max);
        if let Some(op) = patch.0.get(max) {
            let problem = PatchProblem::TooManyOperations { found, max };
            return Err(PatchFailure {
                operation: max,
                path: path(op).as_str().into(),
                problem,
                is_stricter: true,
            });
        }
        let mut in_place = InPlace::new(&mut self.value, self.bytes, limits);
        for (operation, op) in patch.0.iter().enumerate() {
            if let Err(problem) = in_place.apply(op) {
                let is_stricter = problem.is_bound() || in_place.is_done_by_reference(op);
                in_place.take_back();
                return Err(PatchFailure {
                    operation,
                    path: path(op).as_str().into(),
                    problem,
                    is_stricter,
                });
            }
        }
        if !may_be(in_place.doc()) {
            in_place.take_back();
            return Err(PatchFailure::no_object(patch));
        }
        self.walked += in_place.walked();
        self.bytes = in_place.keep();
        Ok(())
    }
}

/// The document after all operations of `patch`, see [`Document::apply`].
///
/// # Errors
/// As there.
pub fn apply_patch(
    doc: &Value,
    patch: &Patch,
    limits: &StateLimits,
) -> Result<Value, PatchFailure> {
    let mut doc = Document::new(doc.clone());
    doc.apply(patch, limits)?;
    Ok(doc.into_value())
}

fn path(op: &PatchOp) -> &Pointer {
    match op {
        PatchOp::Add { path, .. }
        | PatchOp::Copy { path, .. }
        | PatchOp::Move { path, .. }
        | PatchOp::Remove { path }
        | PatchOp::Replace { path, .. }
        | PatchOp::Test { path, .. } => path,
    }
}
