//! All an engine keeps of a thread beside its entries, as plain data.
//!
//! Not what viewers or the core see of it: that is [`Head`]. Invariant: `head` is the seq of the
//! last entry, `versions` those of the last entries of each class, and the firsts of `epochs` never
//! fall.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::{Head, ThreadRecord, Versions};
use crate::lease::{Lease, LeaseToken, NodeId};
use crate::position::{Epoch, Position, PositionVerdict, Seq, verdict};

/// Names one life of a log: random, so that what follows a deletion is never taken for what went
/// before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogId(pub Arc<str>);

/// Names whoever writes, for as long as it cannot have lost a write unnoticed: the process, the
/// opening of a database, the reign of a primary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incarnation(pub Arc<str>);

/// Characters of the incarnation that go into the epoch.
const INCARNATION_IN_EPOCH: usize = 10;

impl Incarnation {
    /// The epoch in which this incarnation writes that log.
    pub fn epoch(&self, log: &LogId) -> Epoch {
        let end = self
            .0
            .char_indices()
            .nth(INCARNATION_IN_EPOCH)
            .map_or(self.0.len(), |(at, _)| at);
        Epoch::new(format!("{}.{}", log.0, &self.0[..end]))
    }
}

/// What stands beside a thread's entries. The default is a thread that never had a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub log: LogState,
    /// Whoever wrote last.
    pub incarnation: Option<Incarnation>,
    pub epochs: Vec<(Epoch, Seq)>,
    pub head: Seq,
    pub first: Seq,
    pub versions: Versions,
    pub holder: Option<Holder>,
    /// Kept when the lease is freed: two readings of it are never equal by accident.
    pub beat: u64,
    pub source: u64,
    pub record: Option<ThreadRecord>,
}

/// Whether a thread has a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogState {
    #[default]
    None,
    Live(LogId),
    /// A tombstone; its note is the record.
    Gone,
}

/// Who holds the lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub token: LeaseToken,
    pub node: NodeId,
}

impl Default for Meta {
    fn default() -> Self {
        Self {
            log: LogState::None,
            incarnation: None,
            epochs: Vec::new(),
            head: Seq::ZERO,
            first: Seq::ZERO.next(),
            versions: Versions::default(),
            holder: None,
            beat: 0,
            source: 0,
            record: None,
        }
    }
}

impl Meta {
    /// What stays when the thread is deleted; the note is its record.
    pub fn tombstone(note: ThreadRecord) -> Self {
        Self {
            log: LogState::Gone,
            record: Some(note),
            ..Self::default()
        }
    }

    pub fn has_log(&self) -> bool {
        matches!(self.log, LogState::Live(_))
    }

    pub fn lease(&self) -> Option<Lease> {
        let Holder { token, node } = self.holder.clone()?;
        Some(Lease {
            token,
            node,
            beat: self.beat,
        })
    }

    pub fn to_head(&self) -> Head {
        Head {
            epochs: self.epochs.clone(),
            seq: self.head,
            first: self.first,
            versions: self.versions,
            lease: self.lease(),
            source: self.source,
            record: self.record.clone(),
        }
    }

    /// What the position is worth on this log.
    pub fn verdict(&self, position: &Position) -> PositionVerdict {
        verdict(&self.epochs, self.first, self.head, position)
    }

    /// After which seq a refusal's missed entries begin; `None` when there are none to give.
    pub fn missed_after(&self, known: &Position) -> Option<Seq> {
        (known.seq < self.head && self.verdict(known) == PositionVerdict::Valid)
            .then_some(known.seq)
    }
}
