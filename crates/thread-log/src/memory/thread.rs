//! One thread's log in memory, behind its lock.
//!
//! Invariant: `entries` are gapless from `meta.first` to `meta.head`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use threadcast_agui::ids::ThreadId;

use crate::admit::{Writes, admit};
use crate::engine::{
    Append, Checkpoint, Head, Listed, Outcome, ReadLimit, Refused, ThreadRecord, Watched,
};
use crate::entry::Entry;
use crate::meta::{LogState, Meta};
use crate::names::Names;
use crate::position::{Position, PositionVerdict, Seq};
use crate::watchers::Watchers;

#[derive(Default)]
pub(super) struct Thread {
    meta: Meta,
    entries: VecDeque<Entry>,
    /// All of this log and valid on it.
    checkpoints: BTreeMap<Seq, Checkpoint>,
    pub(super) watchers: Watchers,
}

impl Thread {
    pub(super) fn append(&mut self, append: &Append, names: &Names) -> Outcome {
        let Writes {
            meta,
            begins,
            entries,
            appended,
        } = match admit(&self.meta, append, names.incarnation(), || names.new_log()) {
            Ok(writes) => writes,
            Err(reason) => {
                let missed = self.meta.missed_after(&append.known);
                let missed = missed
                    .map(|after| self.read(after, ReadLimit::MISSED))
                    .unwrap_or_default();
                return Outcome::Refused(Refused {
                    reason,
                    head: self.head(),
                    missed,
                });
            }
        };
        if begins {
            self.entries.clear();
            self.checkpoints = BTreeMap::new();
        }
        self.meta = meta;
        self.entries.extend(entries.iter().cloned());
        debug_assert_eq!(
            self.meta.head.get() + 1 - self.meta.first.get(),
            self.entries.len() as u64
        );
        if !entries.is_empty() {
            self.watchers.publish(|| Watched::Entries {
                epoch: appended.epoch.clone(),
                entries: Arc::from(entries),
            });
        }
        Outcome::Appended(appended)
    }

    pub(super) fn read(&self, after: Seq, limit: ReadLimit) -> Vec<Entry> {
        let skipped = (after.get() + 1).saturating_sub(self.meta.first.get());
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let within = |entry: &&Entry| {
            let is_open = bytes < limit.bytes;
            bytes = bytes.saturating_add(entry.record.size_bytes());
            is_open
        };
        self.entries
            .iter()
            .skip(skipped)
            .take(limit.entries)
            .take_while(within)
            .cloned()
            .collect()
    }

    pub(super) fn head(&self) -> Head {
        self.meta.to_head()
    }

    pub(super) fn listed(&self, id: &ThreadId) -> Option<Listed> {
        let line = || Listed {
            thread: id.clone(),
            seq: self.meta.head,
            record: self.meta.record.clone(),
        };
        self.meta.has_log().then(line)
    }

    pub(super) fn save_checkpoint(&mut self, checkpoint: Checkpoint) {
        let position = Position {
            epoch: checkpoint.epoch.clone(),
            seq: checkpoint.seq,
        };
        if self.meta.has_log() && self.meta.verdict(&position) == PositionVerdict::Valid {
            self.checkpoints.insert(checkpoint.seq, checkpoint);
        }
    }

    /// The latest at or before that seq.
    pub(super) fn checkpoint(&self, through: Seq) -> Option<&Checkpoint> {
        let (_, latest) = self.checkpoints.range(..=through).next_back()?;
        Some(latest)
    }

    /// # Errors
    /// The latest checkpoint's seq, when it is none or too early a one.
    pub(super) fn trim(&mut self, through: Seq) -> Result<(), Option<Seq>> {
        let latest = self.checkpoints.keys().next_back().copied();
        if latest.is_none_or(|latest| latest < through) {
            return Err(latest);
        }
        while self.meta.first <= through {
            self.entries.pop_front();
            self.meta.first = self.meta.first.next();
        }
        self.checkpoints = self.checkpoints.split_off(&through);
        Ok(())
    }

    pub(super) fn delete(&mut self, note: ThreadRecord) {
        if self.meta.has_log() {
            self.meta = Meta::tombstone(note);
            self.entries = VecDeque::new();
            self.checkpoints = BTreeMap::new();
            self.watchers.publish(|| Watched::Gone);
        }
    }

    /// Whether forgetting the thread loses nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.meta.log == LogState::None && self.watchers.is_empty()
    }

    /// The log without its watchers; `None` if there never was one.
    pub(super) fn copy(&self) -> Option<Self> {
        (self.meta.log != LogState::None).then(|| Self {
            meta: self.meta.clone(),
            entries: self.entries.clone(),
            checkpoints: self.checkpoints.clone(),
            watchers: Watchers::default(),
        })
    }
}
