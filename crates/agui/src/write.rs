//! Writes JSON objects as text, member by member in the order of the calls.

use crate::json::RawJson;
use crate::text::Escaped;

/// An object being written; the same calls give the same bytes.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut String,
    has_members: bool,
}

impl<'a> ObjectWriter<'a> {
    pub(crate) fn begin(out: &'a mut String) -> Self {
        out.push('{');
        Self {
            out,
            has_members: false,
        }
    }

    pub(crate) fn end(self) {
        self.out.push('}');
    }

    /// `value` is JSON text.
    pub(crate) fn raw(&mut self, name: &str, value: &str) {
        self.name(name).push_str(value);
    }

    pub(crate) fn string(&mut self, name: &str, value: &str) {
        push_string(self.name(name), value);
    }

    pub(crate) fn string_if(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.string(name, value);
        }
    }

    pub(crate) fn escaped(&mut self, name: &str, value: &Escaped) {
        value.write(self.name(name));
    }

    /// Writes the name; the value must be pushed next.
    pub(crate) fn name(&mut self, name: &str) -> &mut String {
        if std::mem::replace(&mut self.has_members, true) {
            self.out.push(',');
        }
        push_string(self.out, name);
        self.out.push(':');
        self.out
    }
}

/// The text of one object.
pub(crate) fn object(write: impl FnOnce(&mut ObjectWriter<'_>)) -> RawJson {
    let mut out = String::new();
    let mut object = ObjectWriter::begin(&mut out);
    write(&mut object);
    object.end();
    RawJson::from_trusted(out)
}

/// Writes `items` as an array.
pub(crate) fn push_array<T>(out: &mut String, items: &[T], mut push: impl FnMut(&T, &mut String)) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        push(item, out);
    }
    out.push(']');
}

fn push_string(out: &mut String, text: &str) {
    let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
    if text.as_bytes().iter().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        Escaped::from_plain(text).write(out);
    }
}

/// `text` as a JSON string.
pub(crate) fn string_token(text: &str) -> String {
    let mut token = String::with_capacity(text.len() + 2);
    push_string(&mut token, text);
    token
}
