//! Where in a log: seq, epoch and the pair of both.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The number of an entry in its thread's log: gapless from 1; 0 stands before the first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(u64);

impl Seq {
    /// Before the first entry.
    pub const ZERO: Self = Self(0);
    /// The last seq there can be: 2^53−1, the largest integer every client holds exactly.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// `None` for a number over [`Seq::MAX`].
    pub fn new(seq: u64) -> Option<Self> {
        (seq <= Self::MAX.0).then_some(Self(seq))
    }

    pub fn next(self) -> Self {
        self.plus(1)
    }

    /// `count` entries later.
    pub fn plus(self, count: u64) -> Self {
        debug_assert!(self.0 + count <= Self::MAX.0);
        Self(self.0 + count)
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which writer wrote: opaque, compared for equality only. Empty for a thread without a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(Arc<str>);

impl Epoch {
    pub fn new(epoch: impl Into<Arc<str>>) -> Self {
        Self(epoch.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the epoch of a thread that has no log.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All a viewer keeps to be made whole: the last epoch it was told and the seq of the last frame it
/// applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    pub epoch: Epoch,
    pub seq: Seq,
}

/// What a position is worth on a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionVerdict {
    /// What was seen up to it is a prefix of this log, and what follows is kept.
    Valid,
    /// Another log's, or of an epoch too old to be remembered.
    UnknownEpoch,
    /// Its entry was lost: the log ends before it, or went on otherwise.
    Beyond,
    /// What was seen is a prefix of this log, but entries right after it are no longer kept.
    Trimmed,
}

impl PositionVerdict {
    /// Whether what was seen is a prefix of this log.
    pub fn is_of_log(self) -> bool {
        matches!(self, Self::Valid | Self::Trimmed)
    }
}

/// Judges a position on the log with these epochs (oldest first, each with its first seq), first
/// kept seq and head.
///
/// The position `("", 0)` belongs to every log: who holds it holds nothing. An epoch that comes
/// back (a slot that moved away and home again) counts by its latest reign.
pub fn verdict(
    epochs: &[(Epoch, Seq)],
    first: Seq,
    head: Seq,
    position: &Position,
) -> PositionVerdict {
    if *position != Position::default() {
        let Some(at) = epochs
            .iter()
            .rposition(|(epoch, _)| *epoch == position.epoch)
        else {
            return PositionVerdict::UnknownEpoch;
        };
        let within = match epochs.get(at + 1) {
            Some((_, next_first)) => position.seq < *next_first,
            None => position.seq <= head,
        };
        if !within {
            return PositionVerdict::Beyond;
        }
    }
    if position.seq.get() + 1 < first.get() {
        PositionVerdict::Trimmed
    } else {
        PositionVerdict::Valid
    }
}
