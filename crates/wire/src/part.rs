//! Long frames in pieces, so that other threads and answers get their turn between them
//! (docs/protocol.md §4.6).

/// The pieces of a frame's text, each at most `piece_bytes` long, cut between characters.
///
/// # Panics
/// `piece_bytes` is under 4, the length of the longest character.
pub fn pieces(frame: &str, piece_bytes: usize) -> impl Iterator<Item = &str> {
    assert!(
        piece_bytes >= 4,
        "a piece of {piece_bytes} bytes cannot hold every character"
    );
    let mut rest = frame;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(piece_bytes));
        rest = behind;
        Some(piece)
    })
}

/// Joins the parts of one thread's long frame.
///
/// Invariant: holds parts 1 to `last_n` of one frame, at most `bytes_max` together; nothing when
/// `last_n` is 0.
#[derive(Debug)]
pub struct PartJoiner {
    bytes_max: usize,
    last_n: u64,
    text: String,
}

/// Why a part does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    #[error("part {found} came where part {expected} was due")]
    Gap { expected: u64, found: u64 },
    #[error("parts join to {found} bytes, at most {max} are allowed")]
    TooLong { found: usize, max: usize },
}

impl PartJoiner {
    /// Holds nothing yet, and never more than `bytes_max`.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            last_n: 0,
            text: String::new(),
        }
    }

    /// Takes part `n`, and gives the whole frame when it is the last. A part 1 begins anew,
    /// whatever came before.
    ///
    /// # Errors
    /// A part is missing, or the frame grows too long; what was held is dropped.
    pub fn push(&mut self, n: u64, last: bool, text: &str) -> Result<Option<String>, PartError> {
        if n == 1 {
            self.clear();
        }
        let expected = self.last_n + 1;
        let length = self.text.len() + text.len();
        if n != expected {
            self.clear();
            return Err(PartError::Gap { expected, found: n });
        }
        if length > self.bytes_max {
            self.clear();
            return Err(PartError::TooLong {
                found: length,
                max: self.bytes_max,
            });
        }
        self.last_n = n;
        self.text.push_str(text);
        Ok(last.then(|| {
            self.last_n = 0;
            std::mem::take(&mut self.text)
        }))
    }

    /// Drops what is held: the subscription ended or began anew.
    pub fn clear(&mut self) {
        self.last_n = 0;
        self.text = String::new();
    }
}
