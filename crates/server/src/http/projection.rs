//! The log as a plain AG-UI reader sees it: events verbatim, facts left out (docs/protocol.md
//! §13.5).
//!
//! AG-UI allows nothing between runs. So a change of shared state that happened there is told as a
//! `STATE_SNAPSHOT` right after the next `RUN_STARTED`; it is made up, stands at no seq, and has no
//! id.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use threadcast_hub::hub::Hub;
use threadcast_hub::live_thread::{Follow, Followed, LiveThread};
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::engine::ReadLimit;
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Position, Seq};

use super::event_stream::{BrokenOff, write_event, write_made_up};

/// Pause before a log store that is away is asked again.
const STORE_AWAY_PAUSE: Duration = Duration::from_secs(1);

/// Bounds of one read of a log that is folded.
const FOLD_READ: ReadLimit = ReadLimit {
    entries: 1024,
    bytes: 1 << 20,
};

/// Follows a thread for one plain reader.
#[derive(Debug)]
pub(crate) struct Projection {
    hub: Hub,
    live: LiveThread,
    follow: Follow,
    reader_state: ReaderState,
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
        hub: Hub,
        live: LiveThread,
        after: &Position,
        reader_state: ReaderState,
    ) -> Self {
        let follow = live.follow(after);
        Self {
            hub,
            live,
            follow,
            reader_state,
        }
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

    /// Writes what the reader gets of `entry`.
    ///
    /// # Errors
    /// The engine failed when an earlier state was asked for.
    pub(crate) async fn write(
        &mut self,
        entry: &Entry,
        out: &mut Vec<u8>,
    ) -> Result<(), EngineError> {
        let Body::Event { json, .. } = &entry.record.body else {
            let is_patch =
                entry.class.state && matches!(Fact::of(entry), Some(Fact::StatePatched(_)));
            if is_patch && self.reader_state == ReaderState::Follows {
                self.reader_state = ReaderState::Stale;
            }
            return Ok(());
        };
        let position = Position {
            epoch: self.live.epoch_at(entry.seq),
            seq: entry.seq,
        };
        write_event(out, &position, json.as_str());
        if self.reader_state != ReaderState::Follows && run_level(entry) == Some(RunLevel::Started)
        {
            let state = self.state_at(entry.seq).await?;
            if std::mem::replace(&mut self.reader_state, ReaderState::Follows)
                != ReaderState::Said(state.clone())
            {
                write_made_up(
                    out,
                    &json!({ "type": "STATE_SNAPSHOT", "snapshot": state }).to_string(),
                );
            }
        }
        Ok(())
    }

    /// The shared state after the entry at `seq`: the present one if it has not changed since, else
    /// folded again.
    async fn state_at(&self, seq: Seq) -> Result<Value, EngineError> {
        let unchanged = self.live.with_fold(|fold| {
            (fold.versions().state <= seq).then(|| fold.conversation().state().clone())
        });
        if let Some(state) = unchanged {
            return Ok(state);
        }
        let mut fold = Fold::new(self.live.thread().clone());
        while fold.head() < seq {
            let entries = self
                .hub
                .engine()
                .read(self.live.thread(), fold.head(), FOLD_READ)
                .await?;
            if entries.is_empty() {
                break;
            }
            for entry in entries.iter().take_while(|entry| entry.seq <= seq) {
                fold.apply(entry);
            }
        }
        Ok(fold.conversation().state().clone())
    }
}

/// The events that begin and end runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunLevel {
    Ended,
    Started,
}

/// Whether the entry begins or ends a run. Only such events touch control, so that others need no
/// look inside.
pub(crate) fn run_level(entry: &Entry) -> Option<RunLevel> {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow)]
        r#type: std::borrow::Cow<'a, str>,
    }
    let Body::Event { json, .. } = &entry.record.body else {
        return None;
    };
    if !entry.class.control {
        return None;
    }
    let event: Typed<'_> = serde_json::from_str(json.as_str()).ok()?;
    match &*event.r#type {
        "RUN_STARTED" => Some(RunLevel::Started),
        "RUN_ERROR" | "RUN_FINISHED" => Some(RunLevel::Ended),
        _ => None,
    }
}
