//! The one narrow trait behind which logs are stored, and its words.

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use threadcast_agui::ids::ThreadId;

use crate::entry::{Entry, Millis};
use crate::error::EngineError;
use crate::lease::NodeId;
use crate::position::Seq;

pub use answered::{
    Appended, EPOCHS_MAX, Head, Listed, Outcome, Refused, RefusedReason, Versions, Watched, Work,
};
pub use asked::{
    Append, Checkpoint, Durability, Guard, MISSED_BYTES_MAX, MISSED_MAX, RECORD_BYTES_MAX,
    ReadLimit, SourceRange, ThreadRecord,
};

mod answered;
mod asked;

/// A store of thread logs.
///
/// Appends of one thread are atomic and ordered; reads see every append that was answered. Every
/// method may fail with [`EngineError`]; after a failed append its outcome is unknown.
pub trait Engine: Send + Sync + std::fmt::Debug + 'static {
    /// Appends if every guard holds.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Outcome, EngineError>>;

    /// Waits until all that is held of the thread is durable, and nothing if it is.
    ///
    /// What was found in the log, or in a fold of it, is answered only after this.
    fn make_durable<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<(), EngineError>>;

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
