//! The one narrow trait behind which logs are stored.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use threadcast_agui::ids::ThreadId;

use crate::entry::{Entry, Millis, NewEntry};
use crate::error::EngineError;
use crate::lease::{Lease, LeaseChange, LeaseToken, NodeId};
use crate::position::{Epoch, Position, PositionVerdict, Seq, verdict};

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

/// Most epochs a thread remembers; older positions are reset.
pub const EPOCHS_MAX: usize = 32;

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
    /// the limit [`ReadLimit::MISSED`] returns. Empty as well when that position is none of this log, or trimmed ([`Head::verdict`]): then
    /// the caller loads the thread anew.
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

/// A store of thread logs.
///
/// Appends of one thread are atomic and ordered; reads see every append that was answered. Every
/// method may fail with [`EngineError`]; after a failed append its outcome is unknown.
pub trait Engine: Send + Sync + std::fmt::Debug + 'static {
    /// Appends if every guard holds.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Outcome, EngineError>>;

    /// The entries after `after` that are still kept, oldest first.
    ///
    /// They do not say in which epoch: a `head` asked afterwards that has the epochs of the one
    /// before, and is not behind the last entry, tells that no other writer came between.
    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Seq,
        limit: ReadLimit,
    ) -> BoxFuture<'a, Result<Vec<Entry>, EngineError>>;

    /// Where the thread stands; a thread without a log has the default head, with the note as its
    /// record if it was deleted.
    fn head<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<Head, EngineError>>;

    /// What is appended from now on. Attached when the future resolves: a `head` asked afterwards
    /// misses nothing.
    ///
    /// A hint with data: messages may be lost (then `Gap` follows) or repeated. Ends only with the
    /// engine.
    fn watch<'a>(
        &'a self,
        thread: &'a ThreadId,
    ) -> BoxFuture<'a, Result<BoxStream<'static, Watched>, EngineError>>;

    /// Keeps it beside those kept before, in place of one at the same seq, if its position is
    /// [valid](PositionVerdict::Valid) on this log; else nothing is kept.
    ///
    /// Who saves decides how far apart they are.
    fn save_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'a, Result<(), EngineError>>;

    /// The latest kept checkpoint at or before `through`.
    ///
    /// What was kept belongs to this log for as long as it lives: also when its epoch is no longer
    /// remembered, and never after the entry at its seq was lost.
    fn load_checkpoint<'a>(
        &'a self,
        thread: &'a ThreadId,
        through: Seq,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, EngineError>>;

    /// Drops entries up to and including `through`, and checkpoints before it; needs a checkpoint
    /// at or after it.
    fn trim<'a>(
        &'a self,
        thread: &'a ThreadId,
        through: Seq,
    ) -> BoxFuture<'a, Result<(), EngineError>>;

    /// Threads that have a log in the byte order of their ids, after `after`, at most `limit`.
    fn list<'a>(
        &'a self,
        after: Option<&'a ThreadId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Listed>, EngineError>>;

    /// Removes log and checkpoints and leaves a tombstone with the note: appends under an old lease
    /// are refused, a new log gets another id and so another epoch, and forgets the note. A thread
    /// without a log is left alone, an earlier note too, and so is its work: whoever looks clears
    /// it.
    ///
    /// The note says who deleted, and when; like a record it is opaque, at most
    /// [`RECORD_BYTES_MAX`] long, and told with the head.
    fn delete<'a>(
        &'a self,
        thread: &'a ThreadId,
        note: ThreadRecord,
    ) -> BoxFuture<'a, Result<(), EngineError>>;

    /// Says that someone must look at the thread at `due`, in place of what was said before.
    fn set_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        due: Millis,
    ) -> BoxFuture<'a, Result<(), EngineError>>;

    /// Says that nobody must look at the thread, unless its work moved since it was seen: another
    /// node may have set it for an append that is still to come.
    fn clear_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        seen: Millis,
    ) -> BoxFuture<'a, Result<(), EngineError>>;

    /// Threads of a bucket (of [`bucket_of`](crate::work::bucket_of)) that are due at `until`,
    /// soonest first, at most `limit`.
    fn work(
        &self,
        bucket: u8,
        until: Millis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Work>, EngineError>>;

    /// Raises this node's beat.
    fn beat<'a>(&'a self, node: &'a NodeId) -> BoxFuture<'a, Result<(), EngineError>>;

    /// Every node's beat.
    fn beats(&self) -> BoxFuture<'_, Result<Vec<(NodeId, u64)>, EngineError>>;
}
