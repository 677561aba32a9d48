//! What stands beside a thread's log for those who do not fold it: lists, filters, sweepers.
//!
//! Engines keep it as opaque bytes. It is written with every append that touches control and
//! describes the thread right after that append, but for what came between the writer's head and
//! its append.

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_thread_log::engine::ThreadRecord;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::run_status::RunStatus;

use crate::fold::Fold;
use crate::registry::RaisedInterrupt;

/// Most bytes of interrupt ids, as JSON: with everything else it stays under what engines take.
const INTERRUPTS_BYTES_MAX: usize = 2048;

/// A thread in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredRecord {
    /// Of the latest run.
    pub status: RunStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_run: Option<RunId>,
    /// Open interrupts, as many as fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupt_ids: Vec<InterruptId>,
    /// How many interrupts are open.
    #[serde(default)]
    pub interrupt_count: usize,
    /// When the next of them expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Millis>,
    /// The control version this describes, or an earlier one.
    pub control: Seq,
}

impl StoredRecord {
    /// Of the thread as `fold` has it.
    pub fn of(fold: &Fold) -> Self {
        let registry = fold.registry();
        let latest = registry.runs().last();
        let mut record = Self {
            status: latest.map_or(RunStatus::Unknown, |run| run.status),
            active_run: registry.active().map(|run| run.id.clone()),
            interrupt_ids: Vec::new(),
            interrupt_count: 0,
            deadline: None,
            control: fold.versions().control,
        };
        record.set_open(registry.interrupts().open());
        record
    }

    /// The same once `run` is accepted in an append behind `fold`; it answers whatever was open.
    pub(crate) fn with_accepted(mut self, run: &RunId) -> Self {
        self.status = RunStatus::Accepted;
        self.active_run = Some(run.clone());
        self.set_open([].into_iter());
        self
    }

    /// The same once the agent of the active run is heard.
    pub(crate) fn with_started(mut self) -> Self {
        self.status = RunStatus::Running;
        self
    }

    /// The same once the active run has ended with `status` and these interrupts are open.
    pub(crate) fn with_end<'a>(
        mut self,
        status: RunStatus,
        open: impl Iterator<Item = &'a RaisedInterrupt>,
    ) -> Self {
        self.status = status;
        self.active_run = None;
        self.set_open(open);
        self
    }

    /// The same `entries` behind the head of `fold`, the last of which touches control.
    pub(crate) fn at(mut self, fold: &Fold, entries: usize) -> Self {
        self.control = fold.head().plus(entries as u64);
        self
    }

    fn set_open<'a>(&mut self, open: impl Iterator<Item = &'a RaisedInterrupt>) {
        self.interrupt_ids.clear();
        (self.interrupt_count, self.deadline) = (0, None);
        let mut left = INTERRUPTS_BYTES_MAX;
        for raised in open {
            self.interrupt_count += 1;
            self.deadline = [self.deadline, raised.deadline].into_iter().flatten().min();
            let json = serde_json::to_string(&raised.interrupt.id).expect("an id is a JSON string");
            if json.len() < left {
                left -= json.len() + 1;
                self.interrupt_ids.push(raised.interrupt.id.clone());
            }
        }
    }

    /// The bytes an engine keeps.
    pub fn to_bytes(&self) -> ThreadRecord {
        serde_json::to_vec(self).expect("ids and numbers always have a JSON form")
    }

    /// Reads what an engine kept; `None` for bytes of another kind.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
