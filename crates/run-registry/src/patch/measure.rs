//! Length of a document, without writing it.

use std::io;

use serde_json::Value;

/// Length of `value` as JSON text.
pub(crate) fn json_bytes(value: &Value) -> usize {
    written(|count| serde_json::to_writer(count, value))
}

/// Length of a member's name with its quotes and colon.
pub(super) fn name_bytes(name: &str) -> usize {
    written(|count| serde_json::to_writer(count, name)) + ":".len()
}

/// The comma that one more of `others` needs.
pub(super) fn separator_bytes(others: usize) -> usize {
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
