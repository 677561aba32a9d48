//! What AG-UI's reference client does where a path leads nowhere here.
//!
//! It reads the last step into an array loosely (digits of any kind, wrapped to 32 bits), takes
//! what every JavaScript object inherits for a member, puts a copy behind the end of an array, and
//! copies from nowhere to the root. Nothing is changed here: this tells whether a plain viewer
//! holds something else than the fold now.

use std::borrow::Cow;

use serde_json::Value;
use threadcast_agui::patch::PatchOp;
use threadcast_agui::pointer::Pointer;

use super::in_place::{self, is_equal, split};

/// What every object has there without anybody having put it there.
const INHERITED: [&str; 11] = [
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// Whether the reference client does an operation on `doc` that does not apply here, bounds aside.
pub(super) fn does(doc: &Value, op: &PatchOp) -> bool {
    let paths = match op {
        PatchOp::Copy { from, path } | PatchOp::Move { from, path } => [Some(from), Some(path)],
        PatchOp::Add { path, .. }
        | PatchOp::Remove { path }
        | PatchOp::Replace { path, .. }
        | PatchOp::Test { path, .. } => [Some(path), None],
    };
    if paths.into_iter().flatten().any(Pointer::is_forbidden) {
        return false;
    }
    let is_scalar = matches!(doc, Value::Bool(_) | Value::Number(_) | Value::String(_));
    match op {
        PatchOp::Test { path, value } => {
            look_up(doc, path).is_some_and(|found| is_equal(found, value))
        }
        // Below text, a number or a truth value most operations are done without effect.
        _ if is_scalar => true,
        PatchOp::Add { path, .. } => takes_added(doc, path),
        PatchOp::Copy { from, path } | PatchOp::Move { from, path } if path.as_str().is_empty() => {
            reads(doc, from)
        }
        PatchOp::Copy { from, path } => finds_source(doc, from) && takes_copied(doc, path),
        PatchOp::Move { from, path } => {
            finds_source(doc, from) && !is_inside(from, path) && takes_copied(doc, path)
        }
        PatchOp::Remove { path } | PatchOp::Replace { path, .. } => finds(doc, path),
    }
}

fn is_inside(from: &Pointer, path: &Pointer) -> bool {
    let from = from.as_str();
    // The root may be moved into itself.
    let inside = path
        .as_str()
        .strip_prefix(from)
        .filter(|_| !from.is_empty());
    inside.is_some_and(|inside| inside.starts_with('/'))
}

/// Whether something stands at `path`, be it inherited.
fn finds(doc: &Value, path: &Pointer) -> bool {
    let Some((parent, name)) = split(path) else {
        return true;
    };
    let is_inherited = || INHERITED.contains(&&*name);
    match doc.pointer(parent) {
        Some(Value::Object(members)) => members.contains_key(&*name) || is_inherited(),
        Some(Value::Array(elements)) => {
            in_place::index(&name).is_some_and(|at| at < elements.len())
        }
        _ => false,
    }
}

/// Whether reading at `from` gives anything, be it nothing.
fn reads(doc: &Value, from: &Pointer) -> bool {
    let mut steps: Vec<_> = from.tokens().collect();
    steps.pop();
    walk(doc, &steps).is_some_and(|parent| !parent.is_null())
}

/// A property of an array passes for a source, too.
fn finds_source(doc: &Value, from: &Pointer) -> bool {
    let steps: Vec<_> = from.tokens().collect();
    let is_property = |at: usize| {
        let name = &*steps[at];
        (name == "length" || INHERITED.contains(&name))
            && walk_exactly(doc, &steps[..at]).is_some_and(Value::is_array)
    };
    finds(doc, from) || (0..steps.len()).any(is_property)
}

fn takes_added(doc: &Value, path: &Pointer) -> bool {
    let Some((parent, name)) = split(path) else {
        return true;
    };
    match doc.pointer(parent) {
        Some(Value::Array(elements)) => {
            name == "-" || index(&name).is_some_and(|at| at <= elements.len() as i64)
        }
        Some(Value::Object(_)) => true,
        _ => false,
    }
}

fn takes_copied(doc: &Value, path: &Pointer) -> bool {
    let mut steps: Vec<_> = path.tokens().collect();
    let Some(name) = steps.pop() else {
        return true;
    };
    match walk(doc, &steps) {
        Some(Value::Array(_)) => name == "-" || index(&name).is_some(),
        Some(Value::Object(_)) => true,
        _ => false,
    }
}

fn look_up<'a>(doc: &'a Value, path: &Pointer) -> Option<&'a Value> {
    walk(doc, &path.tokens().collect::<Vec<_>>())
}

fn walk_exactly<'a>(doc: &'a Value, steps: &[Cow<'_, str>]) -> Option<&'a Value> {
    steps.iter().try_fold(doc, |value, step| match value {
        Value::Array(elements) => elements.get(in_place::index(step)?),
        Value::Object(members) => members.get(&**step),
        _ => None,
    })
}

fn walk<'a>(doc: &'a Value, steps: &[Cow<'_, str>]) -> Option<&'a Value> {
    steps.iter().try_fold(doc, |value, step| match value {
        Value::Array(elements) => elements.get(usize::try_from(index(step)?).ok()?),
        Value::Object(members) => members.get(&**step),
        _ => None,
    })
}

/// An index of an array as JavaScript makes one of digits: a double, wrapped to 32 bits.
fn index(name: &str) -> Option<i64> {
    if !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = match name {
        "" => 0.0,
        digits => digits.parse::<f64>().ok()?,
    };
    if !number.is_finite() {
        return Some(0);
    }
    let wrapped = number % 4_294_967_296.0;
    Some(if wrapped >= 2_147_483_648.0 {
        (wrapped - 4_294_967_296.0) as i64
    } else {
        wrapped as i64
    })
}
