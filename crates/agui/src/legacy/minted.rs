//! Ids for what old peers did not name.

use crate::ids::ID_BYTES_MAX;

/// Makes ids of a prefix and a count, so the same stream gives the same ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Minted {
    prefix: Box<str>,
    kind: &'static str,
    count: u64,
}

/// Room for what stands behind the prefix of a minted id.
const SUFFIX_BYTES_MAX: usize = 32;

impl Minted {
    /// `prefix` must be unique in the thread, such as the run's id; of a long one the end is used.
    pub(super) fn new(prefix: &str, kind: &'static str) -> Self {
        let mut start = prefix.len().saturating_sub(ID_BYTES_MAX - SUFFIX_BYTES_MAX);
        while !prefix.is_char_boundary(start) {
            start += 1;
        }
        Self {
            prefix: prefix[start..].into(),
            kind,
            count: 0,
        }
    }

    /// The next id.
    pub(super) fn mint(&mut self) -> Box<str> {
        self.count += 1;
        format!("{}:{}-{}", self.prefix, self.kind, self.count).into()
    }
}
