//! What an engine answers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::ThreadId;

use super::ThreadRecord;
use crate::entry::{Entry, Millis};
use crate::lease::Lease;
use crate::position::{Epoch, Position, PositionVerdict, Seq, verdict};

/// Most epochs a thread remembers; older positions are reset.
pub const EPOCHS_MAX: usize = 32;

/// What an append did.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Appended(Appended),
    Refused(Refused),
}

/// The place of the entries of one append; `first > last` when it carried none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    pub epoch: Epoch,
    pub first: Seq,
    pub last: Seq,
    pub versions: Versions,
    pub lease: Option<Lease>,
}

/// Why nothing was written, with all the caller needs to decide again.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    pub reason: RefusedReason,
    pub head: Head,
    /// The entries right after the caller's known position, oldest first: as many as a read with
    /// the limit [`ReadLimit::MISSED`](super::ReadLimit::MISSED) returns. Empty as well when that
    /// position is none of this log, or trimmed ([`Head::verdict`]): then the caller loads the
    /// thread anew.
    pub missed: Vec<Entry>,
}

/// Why an append was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedReason {
    /// A guarded version moved, or the known position is none of this log.
    Conflict,
    /// The lease holds another token.
    Fenced,
    /// The thread was deleted, or never had a log the caller may create.
    Gone,
    /// The lease to take is not free, or the one to seize has moved.
    Held,
    /// The source position is not where the append begins: at or after its end it was done before,
    /// between it is partly done, before it the log lost what was acknowledged ([`Head::source`]
    /// tells).
    Position,
}

/// The seqs of the last entries that touched control and state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    pub control: Seq,
    pub state: Seq,
}

/// Where a thread stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Known epochs with the first seq of each, oldest first; the last one is current. Empty
    /// without a log.
    pub epochs: Vec<(Epoch, Seq)>,
    pub seq: Seq,
    /// The first entry that is still kept; `seq + 1` when none is.
    pub first: Seq,
    pub versions: Versions,
    pub lease: Option<Lease>,
    /// Events of the lease's source that are in the log.
    pub source: u64,
    /// Of a deleted thread the note that its deletion left.
    pub record: Option<ThreadRecord>,
}

impl Head {
    /// What the position is worth on this log.
    pub fn verdict(&self, position: &Position) -> PositionVerdict {
        verdict(&self.epochs, self.first, self.seq, position)
    }
}

impl Default for Head {
    /// The head of a thread without a log.
    fn default() -> Self {
        Self {
            epochs: Vec::new(),
            seq: Seq::ZERO,
            first: Seq::ZERO.next(),
            versions: Versions::default(),
            lease: None,
            source: 0,
            record: None,
        }
    }
}

/// One message of a watch.
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// Consecutive entries of one append, and the epoch they belong to.
    Entries { epoch: Epoch, entries: Arc<[Entry]> },
    /// Something was not carried (a full queue, a break): read what follows the last entry seen.
    Gap,
    /// The thread was deleted.
    Gone,
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub thread: ThreadId,
    pub seq: Seq,
    pub record: Option<ThreadRecord>,
}

/// A thread someone must look at, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub thread: ThreadId,
    pub due: Millis,
}
