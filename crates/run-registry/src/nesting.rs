//! How deep values nest: none for a scalar, one for an empty array or object.

use serde_json::Value;

pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => depth_around(elements),
        Value::Object(members) => depth_around(members.values()),
        _ => 0,
    }
}

/// Of an array or object that holds `inner`.
pub(crate) fn depth_around<'a>(inner: impl IntoIterator<Item = &'a Value>) -> usize {
    1 + inner.into_iter().map(depth).max().unwrap_or_default()
}
