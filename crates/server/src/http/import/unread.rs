//! What has come of a body and is no whole line yet.

/// Bytes in which lines are looked for, each byte once.
#[derive(Debug, Default)]
pub(super) struct Unread {
    bytes: Vec<u8>,
    /// Where the next line begins.
    begins: usize,
    /// How far no line break was found.
    searched: usize,
}

impl Unread {
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.begins);
        self.searched -= self.begins;
        self.begins = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// The next whole line, without its line break.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        let found = self.bytes[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n');
        let Some(length) = found else {
            self.searched = self.bytes.len();
            return None;
        };
        let ends = self.searched + length;
        let line = self.bytes[self.begins..ends].to_vec();
        self.begins = ends + 1;
        self.searched = self.begins;
        Some(line)
    }

    /// Bytes of the line that is not whole.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.begins
    }

    /// What stands behind the last line break.
    pub(super) fn into_rest(mut self) -> Vec<u8> {
        self.bytes.split_off(self.begins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_in_pieces_of_any_length() {
        let text = b"one\n\ntwo\r\n\xC3\xA4\nthe rest";
        for length in 1..=text.len() {
            let (mut unread, mut lines) = (Unread::default(), Vec::new());
            for piece in text.chunks(length) {
                unread.add(piece);
                while let Some(line) = unread.next_line() {
                    lines.push(line);
                }
            }
            let expected: [&[u8]; 4] = [b"one", b"", b"two\r", b"\xC3\xA4"];
            assert_eq!(lines, expected, "pieces of {length}");
            assert_eq!(unread.len(), b"the rest".len());
            assert_eq!(unread.into_rest(), b"the rest");
        }
    }

    /// Goal: a long line costs what it is long. Method: single bytes; looked at from its start each
    /// time it would not end within hours.
    #[test]
    fn a_long_line_in_small_pieces_is_searched_once() {
        let mut unread = Unread::default();
        for _ in 0..4 << 20 {
            unread.add(b"x");
            assert_eq!(unread.next_line(), None);
        }
        assert_eq!(unread.searched, 4 << 20);
    }
}
