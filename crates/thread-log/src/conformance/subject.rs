//! An engine under test and one thread of it, with the asking shortened.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use threadcast_agui::ids::ThreadId;

use super::Factory;
use super::requests::request;
use crate::engine::{
    Append, Appended, Checkpoint, Engine, Guard, Head, Outcome, ReadLimit, Refused, RefusedReason,
    Watched,
};
use crate::entry::{Entry, NewEntry};
use crate::position::{Position, Seq};

/// Long enough for any store, short enough for a test that fails.
const WAIT: Duration = Duration::from_secs(20);

pub(super) const ALL: ReadLimit = ReadLimit {
    entries: usize::MAX,
    bytes: usize::MAX,
};

pub(super) struct Subject<E> {
    pub(super) engine: Arc<E>,
    pub(super) thread: ThreadId,
}

impl<E> Clone for Subject<E> {
    fn clone(&self) -> Self {
        Self {
            engine: Arc::clone(&self.engine),
            thread: self.thread.clone(),
        }
    }
}

pub(super) fn thread_id(id: &str) -> ThreadId {
    ThreadId::new(id).expect("the suite's ids are thread ids")
}

/// # Panics
/// Seqs of the suite are small.
pub(super) fn seq(seq: u64) -> Seq {
    Seq::new(seq).expect("the suite's seqs are small")
}

pub(super) fn seqs(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq.get()).collect()
}

impl<E: Engine> Subject<E> {
    pub(super) async fn open(factory: &impl Factory<Engine = E>) -> Self {
        Self {
            engine: factory.open().await,
            thread: thread_id("th_1"),
        }
    }

    /// An append that may create the log, asks for nothing and carries `entries`.
    pub(super) fn plain(&self, entries: Vec<NewEntry>) -> Append {
        Append {
            may_create: true,
            entries,
            ..request(&self.thread)
        }
    }

    pub(super) async fn append(&self, append: Append) -> Outcome {
        self.engine
            .append(append)
            .await
            .expect("the engine appends")
    }

    pub(super) async fn appended(&self, append: Append) -> Appended {
        match self.append(append).await {
            Outcome::Appended(appended) => appended,
            Outcome::Refused(refused) => panic!("the append was refused: {refused:?}"),
        }
    }

    pub(super) async fn refused(&self, append: Append, reason: RefusedReason) -> Refused {
        match self.append(append).await {
            Outcome::Appended(appended) => {
                panic!("the append should be refused as {reason:?}: {appended:?}")
            }
            Outcome::Refused(refused) => {
                assert_eq!(refused.reason, reason);
                assert_eq!(
                    refused.head,
                    self.head().await,
                    "a refusal tells where the thread stands"
                );
                refused
            }
        }
    }

    pub(super) async fn head(&self) -> Head {
        self.engine
            .head(&self.thread)
            .await
            .expect("the engine tells the head")
    }

    /// The position at the head.
    pub(super) async fn position(&self) -> Position {
        let head = self.head().await;
        let epoch = head
            .epochs
            .last()
            .map(|(epoch, _)| epoch.clone())
            .unwrap_or_default();
        Position {
            epoch,
            seq: head.seq,
        }
    }

    pub(super) async fn read(&self, after: u64, limit: ReadLimit) -> Vec<Entry> {
        self.engine
            .read(&self.thread, seq(after), limit)
            .await
            .expect("the engine reads")
    }

    pub(super) async fn read_all(&self) -> Vec<Entry> {
        self.read(0, ALL).await
    }

    pub(super) async fn save_checkpoint(&self, position: Position, bytes: &[u8]) {
        let checkpoint = Checkpoint {
            seq: position.seq,
            epoch: position.epoch,
            bytes: bytes.to_vec(),
        };
        self.engine
            .save_checkpoint(&self.thread, checkpoint)
            .await
            .expect("the engine saves a checkpoint");
    }

    /// The latest checkpoint.
    pub(super) async fn load_checkpoint(&self) -> Option<Checkpoint> {
        self.load_checkpoint_at(Seq::MAX).await
    }

    /// The latest checkpoint at or before `through`.
    pub(super) async fn load_checkpoint_at(&self, through: Seq) -> Option<Checkpoint> {
        self.engine
            .load_checkpoint(&self.thread, through)
            .await
            .expect("the engine loads a checkpoint")
    }

    /// Every kept checkpoint, latest first.
    pub(super) async fn checkpoints(&self) -> Vec<Checkpoint> {
        let mut found: Vec<Checkpoint> = Vec::new();
        let mut through = Some(Seq::MAX);
        while let Some(seq) = through
            && let Some(checkpoint) = self.load_checkpoint_at(seq).await
        {
            assert!(
                checkpoint.seq <= seq,
                "no checkpoint after the seq asked for"
            );
            through = checkpoint.seq.get().checked_sub(1).and_then(Seq::new);
            found.push(checkpoint);
        }
        found
    }

    pub(super) async fn delete(&self) {
        self.delete_with(b"note").await;
    }

    pub(super) async fn delete_with(&self, note: &[u8]) {
        self.engine
            .delete(&self.thread, note.to_vec())
            .await
            .expect("the engine deletes");
    }

    pub(super) async fn follow(&self) -> Follower<E> {
        let messages = self
            .engine
            .watch(&self.thread)
            .await
            .expect("the engine watches");
        Follower {
            subject: self.clone(),
            messages,
            seen: Vec::new(),
            told_gone: false,
        }
    }
}

/// A guard of the control version.
pub(super) fn control(at: u64) -> Guard {
    Guard {
        control: Some(seq(at)),
        ..Guard::default()
    }
}

/// A watcher that reads what it was not told, as every watcher has to.
pub(super) struct Follower<E> {
    subject: Subject<E>,
    messages: BoxStream<'static, Watched>,
    pub(super) seen: Vec<Entry>,
    pub(super) told_gone: bool,
}

impl<E: Engine> Follower<E> {
    /// Reads all there is, as after attaching.
    pub(super) async fn catch_up(&mut self) {
        let after = self.last();
        self.seen.extend(self.subject.read(after, ALL).await);
    }

    /// Follows until `seq` was seen.
    pub(super) async fn until(&mut self, seq: u64) {
        while self.last() < seq {
            self.next().await;
        }
        let expected: Vec<u64> = (1..=self.last()).collect();
        assert_eq!(
            seqs(&self.seen),
            expected,
            "a watcher sees each entry once and in order"
        );
    }

    /// Takes one message.
    pub(super) async fn next(&mut self) {
        let message = tokio::time::timeout(WAIT, self.messages.next())
            .await
            .expect("a watcher is told in time");
        match message.expect("a watch does not end by itself") {
            Watched::Entries { entries, .. } => self.take(&entries).await,
            Watched::Gap => self.catch_up().await,
            Watched::Gone => {
                self.seen.clear();
                self.told_gone = true;
            }
        }
    }

    async fn take(&mut self, entries: &[Entry]) {
        let first = entries
            .first()
            .expect("a message of entries has some")
            .seq
            .get();
        let consecutive: Vec<u64> = (first..).take(entries.len()).collect();
        assert_eq!(
            seqs(entries),
            consecutive,
            "a message has consecutive entries"
        );
        let last = self.last();
        if first > last + 1 {
            self.catch_up().await;
        } else {
            self.seen.extend(
                entries
                    .iter()
                    .filter(|entry| entry.seq.get() > last)
                    .cloned(),
            );
        }
    }

    fn last(&self) -> u64 {
        self.seen.last().map_or(0, |entry| entry.seq.get())
    }
}
