//! The way back from a patch: what each change of a document did, undone in reverse.

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
        value: Value,
    },
    TookMember {
        parent: String,
        name: String,
        at: usize,
        value: Value,
    },
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

    /// Takes the value at `path` out of the document and leaves null there.
    pub(super) fn set_aside(&mut self, doc: &mut Value, path: &str) {
        if let Some(place) = doc.pointer_mut(path) {
            let (path, value) = (path.to_owned(), place.take());
            self.0.push(Change::SetAside { path, value });
        }
    }

    pub(super) fn took_element(&mut self, parent: &str, at: usize, value: Value) {
        let parent = parent.to_owned();
        self.0.push(Change::TookElement { parent, at, value });
    }

    pub(super) fn took_member(&mut self, parent: &str, name: &str, at: usize, value: Value) {
        let (parent, name) = (parent.to_owned(), name.to_owned());
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
            | Change::TookElement { value, .. }
            | Change::TookMember { value, .. } => Some(value),
            Change::AddedElement { .. } | Change::AddedMember { .. } => None,
        }
    }

    /// Undoes all changes of `doc`.
    pub(super) fn run(self, doc: &mut Value) {
        for change in self.0.into_iter().rev() {
            undo(doc, change);
        }
    }
}

fn undo(doc: &mut Value, change: Change) {
    match change {
        Change::AddedElement { parent, at } => {
            if let Some(Value::Array(elements)) = doc.pointer_mut(&parent)
                && at < elements.len()
            {
                elements.remove(at);
            }
        }
        Change::AddedMember { parent, name } => {
            if let Some(Value::Object(members)) = doc.pointer_mut(&parent) {
                members.shift_remove(&name);
            }
        }
        Change::SetAside { path, value } => {
            if let Some(place) = doc.pointer_mut(&path) {
                *place = value;
            }
        }
        Change::TookElement { parent, at, value } => {
            if let Some(Value::Array(elements)) = doc.pointer_mut(&parent) {
                elements.insert(at, value);
            }
        }
        Change::TookMember {
            parent,
            name,
            at,
            value,
        } => {
            if let Some(Value::Object(members)) = doc.pointer_mut(&parent) {
                members.shift_insert(at, name, value);
            }
        }
    }
}
