//! Appends JSON to a byte buffer.

use serde::Serialize;

/// Appends `value` as JSON; strings are escaped, integers written without formatting machinery.
pub(crate) fn push(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value)
        .expect("frames are written from values that are JSON, into memory");
}

/// Appends `,"name":value`; `name` needs no escapes.
pub(crate) fn member(out: &mut Vec<u8>, name: &str, value: &(impl Serialize + ?Sized)) {
    member_name(out, name);
    push(out, value);
}

/// Appends `,"name":` and the JSON text `value`.
pub(crate) fn member_raw(out: &mut Vec<u8>, name: &str, value: &str) {
    member_name(out, name);
    out.extend_from_slice(value.as_bytes());
}

fn member_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Appends the members of the object that `body` is, each behind a comma, without its braces.
pub(crate) fn members_of(out: &mut Vec<u8>, body: &impl Serialize) {
    let start = out.len();
    push(out, body);
    debug_assert_eq!(out.get(start), Some(&b'{'), "an answer is an object");
    if out.len() == start + 2 {
        out.truncate(start);
    } else {
        out[start] = b',';
        out.pop();
    }
}
