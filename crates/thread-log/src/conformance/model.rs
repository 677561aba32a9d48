//! The plainest engine there can be: [`admit`] over one thread's meta and a vector of entries.

use std::collections::BTreeMap;

use super::histories::Step;
use crate::admit::admit;
use crate::engine::{Append, Head, MISSED_MAX, Outcome, Refused};
use crate::entry::Entry;
use crate::meta::{Incarnation, LogId, Meta};
use crate::position::{Position, PositionVerdict, Seq};

/// One thread.
#[derive(Clone, Debug)]
pub struct Model {
    pub meta: Meta,
    /// All entries of this log, trimmed ones too.
    pub entries: Vec<Entry>,
    /// The positions of the kept checkpoints, by seq.
    pub checkpoints: BTreeMap<Seq, Position>,
    incarnation: Incarnation,
    logs_begun: u64,
}

impl Model {
    pub fn new(incarnation: &str) -> Self {
        Self {
            meta: Meta::default(),
            entries: Vec::new(),
            checkpoints: BTreeMap::new(),
            incarnation: Incarnation(incarnation.into()),
            logs_begun: 0,
        }
    }

    /// The same thread written by another from now on.
    pub fn incarnate(&mut self, incarnation: &str) {
        self.incarnation = Incarnation(incarnation.into());
    }

    pub fn head(&self) -> Head {
        self.meta.to_head()
    }

    /// The position at the head.
    pub fn position(&self) -> Position {
        let epoch = self
            .meta
            .epochs
            .last()
            .map(|(epoch, _)| epoch.clone())
            .unwrap_or_default();
        Position {
            epoch,
            seq: self.meta.head,
        }
    }

    /// The kept entries after `after`.
    pub fn read(&self, after: Seq) -> Vec<Entry> {
        let is_kept = |entry: &&Entry| entry.seq > after && entry.seq >= self.meta.first;
        self.entries.iter().filter(is_kept).cloned().collect()
    }

    pub fn append(&mut self, append: &Append) -> Outcome {
        let log = LogId(format!("log{}", self.logs_begun).into());
        match admit(&self.meta, append, &self.incarnation, || log) {
            Ok(writes) => {
                if writes.begins {
                    self.logs_begun += 1;
                    self.entries.clear();
                    self.checkpoints.clear();
                }
                self.meta = writes.meta;
                self.entries.extend(writes.entries);
                Outcome::Appended(writes.appended)
            }
            Err(reason) => {
                let mut missed = self
                    .meta
                    .missed_after(&append.known)
                    .map(|after| self.read(after))
                    .unwrap_or_default();
                missed.truncate(MISSED_MAX);
                Outcome::Refused(Refused {
                    reason,
                    head: self.head(),
                    missed,
                })
            }
        }
    }

    /// Takes a step that is no append; tells whether it was allowed.
    pub fn step(&mut self, step: &Step) -> bool {
        match step {
            Step::Append(_) | Step::Reopen => true,
            Step::Delete { note } => {
                if self.meta.has_log() {
                    self.meta = Meta::tombstone(vec![*note]);
                    self.entries.clear();
                    self.checkpoints.clear();
                }
                true
            }
            Step::SaveCheckpoint { behind } => {
                let position = self.behind(*behind);
                let is_valid = self.meta.verdict(&position) == PositionVerdict::Valid;
                if self.meta.has_log() && is_valid {
                    self.checkpoints.insert(position.seq, position);
                }
                true
            }
            Step::Trim { behind } => {
                let through = self.behind(*behind).seq;
                let latest = self.checkpoints.keys().next_back();
                let is_allowed = latest.is_some_and(|latest| *latest >= through);
                if is_allowed {
                    self.meta.first = self.meta.first.max(through.next());
                    self.checkpoints = self.checkpoints.split_off(&through);
                }
                is_allowed
            }
        }
    }

    /// A position of this log, that many entries behind its head.
    pub fn behind(&self, behind: u64) -> Position {
        let position = self.position();
        Position {
            seq: Seq::new(position.seq.get().saturating_sub(behind)).unwrap_or_default(),
            ..position
        }
    }
}
