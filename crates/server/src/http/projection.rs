//! The log as a plain AG-UI reader sees it: events verbatim or, for an older reader, in the form it
//! takes, facts left out (docs/protocol.md §13.5, §13.8).
//!
//! AG-UI allows nothing between runs. So a change of shared state that happened there is told as a
//! `STATE_SNAPSHOT` right after the next `RUN_STARTED`; it is made up, stands at no seq, and has no
//! id. So are the snapshots that heal what a plain client does otherwise than the hub.

use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::Value;
use threadcast_agui::json::RawJson;
use threadcast_hub::live_thread::{Follow, Followed, LiveThread};
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Position, Seq};

use super::event_stream::{BrokenOff, write_event, write_made_up};
use super::healing::{Healing, state_snapshot};
use super::log_range::each_entry;
use super::reader::{Reader, Told};
use super::run_level::{RunLevel, run_level};

/// Pause before a log store that is away is asked again.
const STORE_AWAY_PAUSE: Duration = Duration::from_secs(1);

/// Follows a thread for one plain reader.
#[derive(Debug)]
pub(crate) struct Projection {
    live: LiveThread,
    follow: Follow,
    reader: Reader,
    reader_state: ReaderState,
    healing: Healing,
    /// Of the log up to an entry told earlier, for a reader who is behind.
    folded: Option<Fold>,
}

/// How the reader's state stands to the thread's.
#[derive(Debug, PartialEq)]
pub(crate) enum ReaderState {
    /// It follows from the events sent so far.
    Follows,
    /// The reader said what it holds; compared when its run starts.
    Said(Value),
    /// It changed where no event could tell.
    Stale,
}

impl Projection {
    /// Of the entries after `after`, for a reader whose state is what `reader_state` says.
    pub(crate) fn new(
        live: LiveThread,
        after: &Position,
        reader: Reader,
        reader_state: ReaderState,
    ) -> Self {
        let follow = live.follow(after);
        Self {
            live,
            follow,
            reader,
            reader_state,
            healing: Healing::default(),
            folded: None,
        }
    }

    /// The same for a reader who comes back: it may have gone before it was healed.
    ///
    /// # Errors
    /// The engine failed.
    pub(crate) async fn of_returning(mut self, after: &Position) -> Result<Self, EngineError> {
        self.healing = Healing::of_returning(&self.live, after.seq).await?;
        Ok(self)
    }

    /// The next entries, at least one.
    ///
    /// # Errors
    /// The log the reader follows is gone or cannot be read.
    pub(crate) async fn next_entries(&mut self) -> Result<Vec<Entry>, BrokenOff> {
        loop {
            match self.follow.next().await {
                Ok(Followed::Entries(entries)) => return Ok(entries),
                Ok(Followed::Replaced) => return Err(BrokenOff::Replaced),
                Err(EngineError::Unavailable(error)) => {
                    tracing::debug!(%error, "log store unavailable");
                    tokio::time::sleep(STORE_AWAY_PAUSE).await;
                }
                Err(error) => {
                    tracing::error!(%error, "log cannot be read");
                    return Err(error.into());
                }
            }
        }
    }

    /// Writes what the reader gets of `entry`; breaks if its stream cannot go on.
    ///
    /// # Errors
    /// The engine failed when an earlier state was asked for.
    pub(crate) async fn write(
        &mut self,
        entry: &Entry,
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, EngineError> {
        let Body::Event { json, .. } = &entry.record.body else {
            self.note_fact(entry);
            return Ok(ControlFlow::Continue(()));
        };
        let level = run_level(entry);
        if level == Some(RunLevel::Ended) && self.healing.is_needed() {
            let held = self.conversation_at(entry.seq).await?;
            self.heal(self.healing.snapshots(&held), out);
        }
        let told = match self.reader.tell(json) {
            Told::Event(told) => told,
            Told::Nothing => return Ok(ControlFlow::Continue(())),
            Told::StreamEnds => return Ok(ControlFlow::Break(())),
        };
        let position = Position {
            epoch: self.live.epoch_at(entry.seq),
            seq: entry.seq,
        };
        write_event(out, &position, &told);
        self.healing.note_told(told.len());
        if level == Some(RunLevel::Started) {
            self.healing.begin_run();
            self.tell_state(entry.seq, out).await?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn note_fact(&mut self, entry: &Entry) {
        let Some(fact) = Fact::of(entry) else { return };
        self.healing.note_fact(&fact);
        let is_patch = matches!(fact, Fact::StatePatched(_));
        if is_patch && self.reader_state == ReaderState::Follows {
            self.reader_state = ReaderState::Stale;
        }
    }

    /// Tells the state of a run that starts at `seq`, unless the reader holds it.
    async fn tell_state(&mut self, seq: Seq, out: &mut Vec<u8>) -> Result<(), EngineError> {
        if self.reader_state == ReaderState::Follows {
            return Ok(());
        }
        let unchanged = self.live.with_fold(|fold| {
            (fold.versions().state <= seq).then(|| fold.conversation().state().clone())
        });
        let state = match unchanged {
            Some(state) => state,
            None => self.folded_to(seq).await?.conversation().state().clone(),
        };
        if std::mem::replace(&mut self.reader_state, ReaderState::Follows)
            != ReaderState::Said(state.clone())
        {
            write_made_up(out, state_snapshot(&state).as_str());
        }
        Ok(())
    }

    /// Heals the reader once there is nothing else to tell; `last` is the entry told last.
    pub(crate) fn heal_when_idle(&mut self, last: Option<&Entry>, out: &mut Vec<u8>) {
        let last = last.filter(|_| self.healing.is_due());
        let Some(held) = last.and_then(|last| self.present(last.seq)) else {
            return;
        };
        let snapshots = self.healing.snapshots(&held);
        if self.healing.may_tell(&snapshots) {
            self.heal(snapshots, out);
        }
    }

    fn heal(&mut self, snapshots: Vec<RawJson>, out: &mut Vec<u8>) {
        for snapshot in snapshots {
            if let Told::Event(told) = self.reader.tell(&snapshot) {
                write_made_up(out, &told);
            }
        }
        self.healing.is_done();
    }

    /// What the thread holds now, if what is to be healed is as it was after the entry at `seq`.
    fn present(&self, seq: Seq) -> Option<Conversation> {
        // It is written out at leisure: nothing is folded while the fold is looked at.
        self.live.with_fold(|fold| {
            let is_present = self.healing.is_present(fold, seq);
            is_present.then(|| fold.conversation().clone())
        })
    }

    async fn conversation_at(&mut self, seq: Seq) -> Result<Conversation, EngineError> {
        match self.present(seq) {
            Some(present) => {
                self.folded = None;
                Ok(present)
            }
            None => Ok(self.folded_to(seq).await?.conversation().clone()),
        }
    }

    /// The fold up to the entry at `seq`, which goes on from where it stood the last time.
    async fn folded_to(&mut self, seq: Seq) -> Result<&Fold, EngineError> {
        let known = self.folded.take().filter(|fold| fold.head() <= seq);
        let mut fold = known.unwrap_or_else(|| Fold::new(self.live.thread().clone()));
        let range = fold.head().next()..=seq;
        each_entry(&self.live, range, usize::MAX, |entry| fold.apply(entry)).await?;
        Ok(self.folded.insert(fold))
    }
}
