//! How a live thread learns what was appended.
//!
//! ```text
//! watch ──▶ follower ──┐
//!                      ├─▶ extend: same epoch, starts at head+1 ──▶ fold ─▶ frames ─▶ tail ─▶ flags
//! append ──────────────┘         └─ anything else ──▶ catch up from the engine, or load anew
//! ```

use std::sync::Arc;

use threadcast_thread_log::engine::{Append, Head, Outcome};
use threadcast_thread_log::entry::{Entry, NewEntry};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Epoch, PositionVerdict, Seq};
use tracing::Instrument;

use super::Live;
use super::folded::Folded;
use super::follower::follow;
use crate::defaults::{CHUNK_BYTES_MAX, LOAD_LIMIT, READS_MAX};
use crate::frame::encode;

/// What became of entries that someone brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extended {
    Done,
    /// They are of another epoch, or do not follow the head.
    Apart,
}

/// What became of an engine's word on the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TakenOver {
    /// The fold is further by now.
    Ahead,
    Done,
    /// The fold is no prefix of that log, or entries are missing.
    Not,
}

/// The engine's head and its entries do not fit, however often they are read.
#[derive(Debug, thiserror::Error)]
#[error("the log changed under each of {reads} reads")]
pub(crate) struct LogInMotion {
    reads: u32,
}

impl LogInMotion {
    pub(crate) fn error() -> EngineError {
        EngineError::Unavailable(Box::new(Self { reads: READS_MAX }))
    }
}

impl Live {
    /// Loads the fold and starts the follower, once; whoever comes meanwhile waits.
    pub(crate) async fn loaded(self: &Arc<Self>) -> Result<(), EngineError> {
        self.loaded
            .get_or_try_init(|| async {
                let watched = self.engine().watch(&self.thread).await?;
                let folded = Folded::load(&**self.engine(), &self.thread).await?;
                self.put(folded);
                let span = tracing::info_span!(parent: None, "follow", thread = %self.thread);
                let follower = follow(Arc::downgrade(self), watched).instrument(span);
                let follower = self.threads.followers().spawn(follower);
                self.follower
                    .set(follower.abort_handle())
                    .expect("a thread is loaded once");
                Ok(())
            })
            .await
            .copied()
    }

    fn put(&self, loaded: Folded) {
        let head = loaded.fold().head();
        {
            let mut folded = self.folded.lock();
            *folded = loaded;
            self.delivery.lock().replace(folded.epochs(), head);
            self.head.send_replace(head);
        }
        self.subscribers.mark_all();
    }

    pub(super) async fn append(&self, append: Append) -> Result<Outcome, EngineError> {
        let entries = append.entries.clone();
        let lease = append.lease.clone();
        self.expect_work(&lease).await?;
        let work_seen = self.work_seen();
        let outcome = self.engine().append(append).await?;
        match &outcome {
            Outcome::Appended(appended) if !entries.is_empty() => {
                let entries = numbered(&entries, appended.first);
                if self.extend(&appended.epoch, &entries) == Extended::Apart {
                    self.catch_up().await?;
                }
            }
            Outcome::Appended(_) => {}
            Outcome::Refused(refused) => {
                if self.take_over(&refused.head, &refused.missed) != TakenOver::Done {
                    self.catch_up().await?;
                }
                return Ok(outcome);
            }
        }
        self.settle_work(&lease, work_seen).await;
        Ok(outcome)
    }

    /// Takes in entries that may follow the head.
    pub(super) fn extend(&self, epoch: &Epoch, entries: &[Entry]) -> Extended {
        {
            let mut folded = self.folded.lock();
            let head = folded.fold().head();
            let news = news(entries, head);
            let is_begin = folded.epochs().is_empty() && head == Seq::ZERO;
            if !is_begin && *epoch != folded.fold().position().epoch {
                return Extended::Apart;
            }
            let Some(first) = news.first() else {
                return Extended::Done;
            };
            if first.seq != head.next() {
                return Extended::Apart;
            }
            if is_begin {
                folded.begin(epoch.clone());
            }
            self.take_in(&mut folded, news);
        }
        self.subscribers.mark_all();
        Extended::Done
    }

    /// Takes over what the engine says of the log, with entries that reach from the fold's head to the log's.
    fn take_over(&self, head: &Head, entries: &[Entry]) -> TakenOver {
        {
            let mut folded = self.folded.lock();
            let position = folded.fold().position();
            if position.seq > head.seq {
                return TakenOver::Ahead;
            }
            let news = news(entries, position.seq);
            let is_gapless = news
                .first()
                .is_none_or(|first| first.seq == position.seq.next());
            let reaches = news.last().map_or(position.seq, |last| last.seq) >= head.seq;
            if head.verdict(position) != PositionVerdict::Valid || !is_gapless || !reaches {
                return TakenOver::Not;
            }
            folded.enter(head);
            self.take_in(&mut folded, news);
        }
        self.subscribers.mark_all();
        TakenOver::Done
    }

    /// Folds the entries right after the head and puts their frames into the tail.
    fn take_in(&self, folded: &mut Folded, entries: &[Entry]) {
        folded.apply(entries);
        let encoded = (!self.subscribers.is_empty()).then(|| {
            encode(
                &self.tag,
                entries,
                CHUNK_BYTES_MAX,
                self.threads.part_over_bytes(),
            )
        });
        let mut delivery = self.delivery.lock();
        delivery.set_epochs(folded.epochs());
        match encoded {
            Some(encoded) => delivery.push(encoded),
            None => delivery.skip_to(folded.fold().head()),
        }
        // While the fold is held: else who took in less could tell its head last, and whoever waits for more would wait on.
        self.head.send_replace(folded.fold().head());
    }

    /// Reads from the engine what the fold lacks; loads anew if the fold is no prefix of the log.
    pub(super) async fn catch_up(&self) -> Result<(), EngineError> {
        for _ in 0..READS_MAX {
            // The position first: a log only grows, so a head asked afterwards is not behind it, unless it lost entries.
            let position = self.folded.lock().fold().position().clone();
            let head = self.engine().head(&self.thread).await?;
            if head.verdict(&position) != PositionVerdict::Valid {
                self.put(Folded::load(&**self.engine(), &self.thread).await?);
                return Ok(());
            }
            let mut entries = Vec::new();
            let mut after = position.seq;
            while after < head.seq {
                let more = self.engine().read(&self.thread, after, LOAD_LIMIT).await?;
                let Some(last) = more.last() else { break };
                after = last.seq;
                entries.extend(more);
            }
            match self.take_over(&head, &entries) {
                TakenOver::Ahead | TakenOver::Done => return Ok(()),
                TakenOver::Not => {}
            }
        }
        Err(LogInMotion::error())
    }
}

/// The entries after `head`.
fn news(entries: &[Entry], head: Seq) -> &[Entry] {
    &entries[entries.partition_point(|entry| entry.seq <= head)..]
}

fn numbered(entries: &[NewEntry], first: Seq) -> Vec<Entry> {
    let numbered = entries.iter().zip(0..).map(|(entry, at)| Entry {
        seq: first.plus(at),
        class: entry.class,
        record: Arc::clone(&entry.record),
    });
    numbered.collect()
}
