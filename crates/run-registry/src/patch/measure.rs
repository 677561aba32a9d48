//! Length of a document, without writing it.

use std::io;

use serde::Serialize;

/// Length of `value` as JSON text.
pub(crate) fn json_bytes(value: &impl Serialize) -> usize {
    written(|count| serde_json::to_writer(count, value))
}

/// Length of `text` as a JSON string, with its quotes.
pub(crate) fn text_bytes(text: &str) -> usize {
    written(|count| serde_json::to_writer(count, text))
}

/// Length of a member's name with its quotes and colon.
pub(crate) fn name_bytes(name: &str) -> usize {
    text_bytes(name) + ":".len()
}

/// The comma that one more of `others` needs.
pub(crate) fn separator_bytes(others: usize) -> usize {
    others.min(1)
}

fn written(write: impl FnOnce(&mut Count) -> serde_json::Result<()>) -> usize {
    let mut count = Count(0);
    write(&mut count).expect("JSON values always have a JSON form, and counting never fails");
    count.0
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
