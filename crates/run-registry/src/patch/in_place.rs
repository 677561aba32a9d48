//! A document on its way through a patch, changed in place: what each operation costs is a matter
//! of what it touches, not of the document.
//!
//! Invariant: `bytes` is the length of `doc` as JSON text before and after each operation that
//! succeeds; `undo` leads back to the document before the patch, order of members included.

use std::borrow::Cow;

use serde_json::Value;
use threadcast_agui::patch::PatchOp;
use threadcast_agui::pointer::Pointer;

use crate::nesting::depth;
use crate::patch::measure::{json_bytes, name_bytes, separator_bytes};
use crate::patch::reference;
use crate::patch::undo::Undo;
use crate::patch::{PatchProblem, StateLimits};

pub(super) struct InPlace<'a> {
    doc: &'a mut Value,
    /// Length of `doc` as JSON text.
    bytes: usize,
    /// A few bytes of patch can copy a large value many times; this bounds the work, not only its
    /// outcome.
    copied_bytes: usize,
    /// See [`Document::walked`](crate::patch::Document::walked).
    walked: usize,
    limits: &'a StateLimits,
    undo: Undo,
}

impl<'a> InPlace<'a> {
    /// `bytes` is the length of `doc`.
    pub(super) fn new(doc: &'a mut Value, bytes: usize, limits: &'a StateLimits) -> Self {
        Self {
            doc,
            bytes,
            copied_bytes: 0,
            walked: 0,
            limits,
            undo: Undo::default(),
        }
    }

    /// The document as it is by now.
    pub(super) fn doc(&self) -> &Value {
        self.doc
    }

    /// What the operations walked beside their own text.
    pub(super) fn walked(&self) -> usize {
        self.walked
    }

    /// The length after all operations.
    pub(super) fn keep(self) -> usize {
        self.bytes
    }

    /// Whether the reference client would do an operation that failed here for another reason than
    /// a bound.
    pub(super) fn is_done_by_reference(&self, op: &PatchOp) -> bool {
        reference::does(self.doc, op)
    }

    /// Takes back everything.
    pub(super) fn take_back(mut self) {
        self.undo.run_to(self.doc, 0);
    }

    /// Does one operation, or leaves the document as it was.
    pub(super) fn apply(&mut self, op: &PatchOp) -> Result<(), PatchProblem> {
        let (before, bytes) = (self.undo.len(), self.bytes);
        let done = self.try_apply(op);
        if done.is_err() {
            self.undo.run_to(self.doc, before);
            self.bytes = bytes;
        }
        done
    }

    fn try_apply(&mut self, op: &PatchOp) -> Result<(), PatchProblem> {
        match op {
            PatchOp::Add { path, value } => self.add(path, value.clone(), json_bytes(value)),
            PatchOp::Copy { from, path } => self.copy(from, path),
            PatchOp::Move { from, path } => self.relocate(from, path),
            PatchOp::Remove { path } => self.remove(path),
            PatchOp::Replace { path, value } => self.replace(path, value),
            PatchOp::Test { path, value } => {
                if is_equal(self.resolve(path)?, value) {
                    Ok(())
                } else {
                    Err(PatchProblem::TestFailed)
                }
            }
        }
    }

    fn resolve(&self, pointer: &Pointer) -> Result<&Value, PatchProblem> {
        permit(pointer)?;
        self.doc
            .pointer(pointer.as_str())
            .ok_or_else(|| unresolved(pointer))
    }

    fn add(
        &mut self,
        path: &Pointer,
        value: Value,
        value_bytes: usize,
    ) -> Result<(), PatchProblem> {
        let place = self.place(path)?;
        self.check_depth(path, &value)?;
        let bytes = self.bytes + value_bytes + place.frame_bytes - place.gone_bytes;
        self.attach(path, value, bytes)
    }

    fn copy(&mut self, from: &Pointer, path: &Pointer) -> Result<(), PatchProblem> {
        let value = self.resolve(from)?;
        let value_bytes = json_bytes(value);
        let max = self.limits.bytes_max;
        if self.copied_bytes + value_bytes > max {
            return Err(PatchProblem::CopiesTooMuch { max });
        }
        let value = value.clone();
        self.copied_bytes += value_bytes;
        self.walked += value_bytes;
        self.add(path, value, value_bytes)
    }

    fn relocate(&mut self, from: &Pointer, path: &Pointer) -> Result<(), PatchProblem> {
        permit(path)?;
        self.resolve(from)?;
        if from == path {
            return Ok(());
        }
        if path
            .as_str()
            .strip_prefix(from.as_str())
            .is_some_and(|inside| inside.starts_with('/'))
        {
            return Err(PatchProblem::IntoItself {
                from: from.as_str().into(),
            });
        }
        let frame_bytes = self.detach(from)?;
        let place = self.place(path)?;
        if path.tokens().count() > from.tokens().count()
            && let Some(value) = self.undo.taken()
        {
            let walked = json_bytes(value);
            self.check_depth(path, value)?;
            self.walked += walked;
        }
        // Its own bytes are counted still.
        let bytes = self.bytes - frame_bytes + place.frame_bytes - place.gone_bytes;
        self.check_size(bytes)?;
        // From here on nothing fails: the value is in one place at a time.
        let value = self.undo.move_taken().unwrap_or_default();
        self.put(path, value);
        self.bytes = bytes;
        Ok(())
    }

    fn remove(&mut self, path: &Pointer) -> Result<(), PatchProblem> {
        permit(path)?;
        let frame_bytes = self.detach(path)?;
        self.bytes -= frame_bytes + self.undo.taken().map_or(0, json_bytes);
        Ok(())
    }

    fn replace(&mut self, path: &Pointer, value: &Value) -> Result<(), PatchProblem> {
        let bytes = self.bytes + json_bytes(value) - json_bytes(self.resolve(path)?);
        self.check_depth(path, value)?;
        self.check_size(bytes)?;
        self.undo.set_aside(self.doc, path.as_str(), value.clone());
        self.bytes = bytes;
        Ok(())
    }

    /// Puts a value where [`Self::place`] found room for it; the document is then `bytes` long.
    fn attach(&mut self, path: &Pointer, value: Value, bytes: usize) -> Result<(), PatchProblem> {
        self.check_size(bytes)?;
        self.put(path, value);
        self.bytes = bytes;
        Ok(())
    }

    fn put(&mut self, path: &Pointer, value: Value) {
        if let Some((parent, name)) = split(path) {
            match self.doc.pointer_mut(parent) {
                Some(Value::Array(elements)) => {
                    // The other name that has room is `-`.
                    let at = index(&name).unwrap_or(elements.len());
                    self.walked += elements.len() - at;
                    elements.insert(at, value);
                    return self.undo.added_element(parent, at);
                }
                Some(Value::Object(members)) if !members.contains_key(name.as_ref()) => {
                    members.insert(name.as_ref().to_owned(), value);
                    return self.undo.added_member(parent, &name);
                }
                _ => {}
            }
        }
        self.undo.set_aside(self.doc, path.as_str(), value);
    }

    /// Takes a value out, which [`Undo::taken`] gives, and tells the bytes around it; in place of
    /// the root it leaves null.
    fn detach(&mut self, path: &Pointer) -> Result<usize, PatchProblem> {
        let Some((parent, name)) = split(path) else {
            // Counted as if null had stood beside it.
            self.bytes += "null".len();
            self.undo.set_aside(self.doc, "", Value::Null);
            return Ok(0);
        };
        match self.doc.pointer_mut(parent) {
            Some(Value::Array(elements)) => {
                let at = index(&name).filter(|index| *index < elements.len());
                let at = at.ok_or_else(|| unresolved(path))?;
                self.walked += elements.len() - at;
                self.undo.took_element(parent, at, elements.remove(at));
                Ok(separator_bytes(elements.len()))
            }
            Some(Value::Object(members)) => {
                // What is not there is not searched for.
                let is_there = members.contains_key(name.as_ref());
                let at = || members.keys().position(|member| *member == *name);
                let at = is_there.then(at).flatten();
                let at = at.ok_or_else(|| unresolved(path))?;
                self.walked += members.len();
                let value = members.shift_remove(name.as_ref()).unwrap_or_default();
                self.undo.took_member(parent, &name, at, value);
                Ok(name_bytes(&name) + separator_bytes(members.len()))
            }
            _ => Err(unresolved(path)),
        }
    }

    fn place(&self, path: &Pointer) -> Result<Place, PatchProblem> {
        permit(path)?;
        let Some((parent, name)) = split(path) else {
            return Ok(Place {
                frame_bytes: 0,
                gone_bytes: json_bytes(self.doc),
            });
        };
        match self.doc.pointer(parent) {
            Some(Value::Array(elements)) => {
                let is_room =
                    name == "-" || index(&name).is_some_and(|index| index <= elements.len());
                let place = Place {
                    frame_bytes: separator_bytes(elements.len()),
                    gone_bytes: 0,
                };
                if is_room {
                    Ok(place)
                } else {
                    Err(unresolved(path))
                }
            }
            Some(Value::Object(members)) => Ok(match members.get(name.as_ref()) {
                Some(gone) => Place {
                    frame_bytes: 0,
                    gone_bytes: json_bytes(gone),
                },
                None => Place {
                    frame_bytes: name_bytes(&name) + separator_bytes(members.len()),
                    gone_bytes: 0,
                },
            }),
            _ => Err(unresolved(path)),
        }
    }

    fn check_size(&self, found: usize) -> Result<(), PatchProblem> {
        let max = self.limits.bytes_max;
        if found > max && found > self.bytes {
            Err(PatchProblem::TooLarge { found, max })
        } else {
            Ok(())
        }
    }

    /// Refuses before the value is in place: dropping what is too deep would overflow the stack.
    fn check_depth(&self, path: &Pointer, value: &Value) -> Result<(), PatchProblem> {
        let (found, max) = (path.tokens().count() + depth(value), self.limits.depth_max);
        if found > max {
            Err(PatchProblem::TooDeep { found, max })
        } else {
            Ok(())
        }
    }
}

/// What adding a value at some path does to the length of the text.
struct Place {
    /// Name, colon and comma of a new member or element.
    frame_bytes: usize,
    /// The value that is replaced.
    gone_bytes: usize,
}

fn permit(pointer: &Pointer) -> Result<(), PatchProblem> {
    if pointer.is_forbidden() {
        Err(PatchProblem::Forbidden)
    } else {
        Ok(())
    }
}

fn unresolved(pointer: &Pointer) -> PatchProblem {
    PatchProblem::Unresolved {
        pointer: pointer.as_str().into(),
    }
}

/// The pointer to the parent and the last step, unescaped; `None` for the root.
pub(super) fn split(pointer: &Pointer) -> Option<(&str, Cow<'_, str>)> {
    let (parent, _) = pointer.as_str().rsplit_once('/')?;
    Some((parent, pointer.tokens().last()?))
}

/// An array index as it must be written: digits, no leading zero.
pub(super) fn index(name: &str) -> Option<usize> {
    let is_index =
        name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
    name.parse().ok().filter(|_| is_index)
}

/// Deep equality: members in any order, numbers by value as doubles, which is what every client
/// compares.
pub(super) fn is_equal(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(found), Value::Number(expected)) => found.as_f64() == expected.as_f64(),
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(found, expected)| is_equal(found, expected))
        }
        (Value::Object(found), Value::Object(expected)) => {
            let has_equal = |(name, value): (&String, &Value)| {
                found.get(name).is_some_and(|found| is_equal(found, value))
            };
            found.len() == expected.len() && expected.iter().all(has_equal)
        }
        _ => found == expected,
    }
}
