//! The way back from a patch: what each change of a document did, undone in reverse.
//!
//! Invariant: what was moved is in the document alone. The change right behind the one that took it
//! out put it where it is, and brings it back when it is undone.

use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Undo(Vec<Change>);

/// A change of what stands at `parent`, or of the value at `path` itself.
#[derive(Debug)]
enum Change {
    AddedElement {
        parent: String,
        at: usize,
    },
    AddedMember {
        parent: String,
        name: String,
    },
    SetAside {
        path: String,
        value: Value,
    },
    TookElement {
        parent: String,
        at: usize,
        value: Taken,
    },
    TookMember {
        parent: String,
        name: String,
        at: usize,
        value: Taken,
    },
}

/// Where a value is that was taken out.
#[derive(Debug)]
enum Taken {
    Here(Value),
    /// Where the next change put it.
    Moved,
}

impl Taken {
    /// The value; `moved` is what undoing the next change brought back.
    fn or(self, moved: Option<Value>) -> Value {
        match self {
            Self::Here(value) => value,
            Self::Moved => moved.unwrap_or_default(),
        }
    }
}

impl Undo {
    pub(super) fn added_element(&mut self, parent: &str, at: usize) {
        let parent = parent.to_owned();
        self.0.push(Change::AddedElement { parent, at });
    }

    pub(super) fn added_member(&mut self, parent: &str, name: &str) {
        let (parent, name) = (parent.to_owned(), name.to_owned());
        self.0.push(Change::AddedMember { parent, name });
    }

    /// Puts `value` in the place of the one at `path`.
    pub(super) fn set_aside(&mut self, doc: &mut Value, path: &str, value: Value) {
        if let Some(place) = doc.pointer_mut(path) {
            let (path, value) = (path.to_owned(), std::mem::replace(place, value));
            self.0.push(Change::SetAside { path, value });
        }
    }

    pub(super) fn took_element(&mut self, parent: &str, at: usize, value: Value) {
        let (parent, value) = (parent.to_owned(), Taken::Here(value));
        self.0.push(Change::TookElement { parent, at, value });
    }

    pub(super) fn took_member(&mut self, parent: &str, name: &str, at: usize, value: Value) {
        let (parent, name) = (parent.to_owned(), name.to_owned());
        let value = Taken::Here(value);
        self.0.push(Change::TookMember {
            parent,
            name,
            at,
            value,
        });
    }

    /// What the latest change took out.
    pub(super) fn taken(&self) -> Option<&Value> {
        match self.0.last()? {
            Change::SetAside { value, .. }
            | Change::TookElement {
                value: Taken::Here(value),
                ..
            }
            | Change::TookMember {
                value: Taken::Here(value),
                ..
            } => Some(value),
            _ => None,
        }
    }

    /// Gives away what the latest change took out; the next change must put it somewhere.
    pub(super) fn move_taken(&mut self) -> Option<Value> {
        let (Change::TookElement { value, .. } | Change::TookMember { value, .. }) =
            self.0.last_mut()?
        else {
            return None;
        };
        match std::mem::replace(value, Taken::Moved) {
            Taken::Here(value) => Some(value),
            Taken::Moved => None,
        }
    }

    /// How many changes were made.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Undoes the changes of `doc` behind the first `kept`.
    pub(super) fn run_to(&mut self, doc: &mut Value, kept: usize) {
        let mut moved = None;
        for change in self.0.drain(kept..).rev() {
            moved = undo(doc, change, moved);
        }
    }
}

/// Undoes a change; what it had put into the document comes back. `moved` is what came back of the
/// change behind it.
fn undo(doc: &mut Value, change: Change, moved: Option<Value>) -> Option<Value> {
    match change {
        Change::AddedElement { parent, at } => match doc.pointer_mut(&parent) {
            Some(Value::Array(elements)) if at < elements.len() => Some(elements.remove(at)),
            _ => None,
        },
        Change::AddedMember { parent, name } => match doc.pointer_mut(&parent) {
            Some(Value::Object(members)) => members.shift_remove(&name),
            _ => None,
        },
        Change::SetAside { path, value } => {
            let place = doc.pointer_mut(&path)?;
            Some(std::mem::replace(place, value))
        }
        Change::TookElement { parent, at, value } => {
            if let Some(Value::Array(elements)) = doc.pointer_mut(&parent) {
                elements.insert(at, value.or(moved));
            }
            None
        }
        Change::TookMember {
            parent,
            name,
            at,
            value,
        } => {
            if let Some(Value::Object(members)) = doc.pointer_mut(&parent) {
                members.shift_insert(at, name, value.or(moved));
            }
            None
        }
    }
}
