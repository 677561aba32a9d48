//! What an engine is asked for.

use threadcast_agui::ids::ThreadId;

use crate::entry::NewEntry;
use crate::lease::{LeaseChange, LeaseToken};
use crate::position::{Epoch, Position, Seq};

/// What must not have changed since the caller looked; a guard that is not named is not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// The owner's token must stand in the lease.
    pub lease: Option<LeaseToken>,
    /// Seq of the last entry that touched runs, queue, interrupts, answers or claims.
    pub control: Option<Seq>,
    /// Seq of the last entry that changed shared state.
    pub state: Option<Seq>,
}

/// Which events of its source an append covers: after `from`, up to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRange {
    pub from: u64,
    pub to: u64,
}

/// When an append is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives a kill of the program; it may be shown.
    Held,
    /// It survives a power cut or failover by policy; it may be answered.
    Durable,
}

/// Opaque bytes an engine keeps with a thread and returns with its head; at most
/// [`RECORD_BYTES_MAX`].
pub type ThreadRecord = Vec<u8>;

/// Longest thread record in bytes.
pub const RECORD_BYTES_MAX: usize = 4096;

/// Most missed entries a refusal carries.
pub const MISSED_MAX: usize = 256;

/// Bytes of missed entries, counted as a read counts them, after which a refusal carries no more.
pub const MISSED_BYTES_MAX: usize = 1 << 20;

/// One conditional append: checked as a whole, written as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    pub thread: ThreadId,
    /// How far the caller knows the log: a refusal's missed entries start after it. Where
    /// `control` or `state` is guarded it must be a position of this log, else the append is
    /// refused as a conflict: a seq alone could stand for another entry after lost writes or a
    /// deletion.
    pub known: Position,
    /// Whether the append may begin the log of a thread that has none (or only a tombstone).
    pub may_create: bool,
    pub guard: Guard,
    pub lease: LeaseChange,
    pub source: Option<SourceRange>,
    /// May be empty for a change of the lease alone.
    pub entries: Vec<NewEntry>,
    /// `None` leaves the thread's record as it is.
    pub record: Option<ThreadRecord>,
    pub durability: Durability,
}

/// A stored fold, opaque to the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub seq: Seq,
    pub epoch: Epoch,
    pub bytes: Vec<u8>,
}

/// A bound for one read: it ends after the entry that reaches either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimit {
    pub entries: usize,
    /// As [`Record::size_bytes`](crate::entry::Record::size_bytes) counts them.
    pub bytes: usize,
}

impl ReadLimit {
    /// Of what a refusal carries.
    pub const MISSED: Self = Self {
        entries: MISSED_MAX,
        bytes: MISSED_BYTES_MAX,
    };
}
