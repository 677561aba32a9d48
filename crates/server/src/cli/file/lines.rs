//! Cuts bytes into numbered lines, whatever ends them.

/// Longest line in bytes: a baseline of a hub is one.
pub(super) const LINE_BYTES_MAX: usize = 128 << 20;

/// A push splitter; LF, CRLF and CR end a line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
    /// Lines that have ended.
    ended: u64,
    is_after_cr: bool,
    has_cr: bool,
}

/// A line is longer than [`LINE_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Lines {
    /// Reads on up to the end of a line, which it gives with its number from 1; `None` once all
    /// bytes are taken.
    ///
    /// # Errors
    /// The line under way is too long.
    pub(super) fn take(&mut self, bytes: &mut &[u8]) -> Result<Option<(u64, Vec<u8>)>, TooLong> {
        if self.is_after_cr && !bytes.is_empty() {
            *bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.is_after_cr = false;
        }
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        if self.partial.len() + piece.len() > LINE_BYTES_MAX {
            return Err(TooLong);
        }
        self.partial.extend_from_slice(piece);
        let Some((ending, rest)) = rest.split_first() else {
            *bytes = rest;
            return Ok(None);
        };
        *bytes = rest;
        self.is_after_cr = *ending == b'\r' && rest.is_empty();
        if *ending == b'\r' {
            self.has_cr = true;
            *bytes = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        Ok(Some(self.end_line()))
    }

    /// The last line, if no line end follows it.
    pub(super) fn rest(&mut self) -> Option<(u64, Vec<u8>)> {
        (!self.partial.is_empty()).then(|| self.end_line())
    }

    fn end_line(&mut self) -> (u64, Vec<u8>) {
        self.ended += 1;
        (self.ended, std::mem::take(&mut self.partial))
    }

    /// The number of the line under way.
    pub(super) fn number(&self) -> u64 {
        self.ended + 1
    }

    pub(super) fn has_cr(&self) -> bool {
        self.has_cr
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<(u64, String)> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for mut chunk in chunks.iter().copied() {
            while let Some(line) = lines.take(&mut chunk).unwrap() {
                found.push(line);
            }
            assert!(chunk.is_empty());
        }
        found.extend(lines.rest());
        let text = |(number, line)| (number, String::from_utf8(line).unwrap());
        found.into_iter().map(text).collect()
    }

    #[test]
    fn cuts_never_change_lines() {
        let text = b"a\r\n\r\nb\rc\n\nd";
        let whole = lines(&[text]);
        let expected = ["a", "", "b", "c", "", "d"];
        assert!(
            whole
                .iter()
                .map(|(_, line)| line.as_str())
                .eq(expected.iter().copied())
        );
        assert!(whole.iter().map(|(number, _)| *number).eq(1..=6));
        for cut in 0..=text.len() {
            assert_eq!(lines(&[&text[..cut], &text[cut..]]), whole, "{cut}");
            assert_eq!(lines(&[&text[..cut], b"", &text[cut..]]), whole, "{cut}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines(&bytes), whole);
    }
}
