//! The next append of a run: as many groups as fit, and what the fold says about them.

use threadcast_agui::event::Outcome;
use threadcast_agui::ids::MessageId;
use threadcast_thread_log::engine::{Append, Durability, Guard, SourceRange};
use threadcast_thread_log::entry::{Class, Millis, NewEntry};
use threadcast_thread_log::lease::LeaseChange;
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;

use super::ahead::Ahead;
use super::draft::Batch;
use super::group::{Change, End, Group, Queued, fact_entry};
use super::{BATCH_BYTES_MAX, BATCH_EVENTS_MAX, InFlight, Owner, Phase};
use crate::ending::ErrorCode;
use crate::fact::{ActivityDiverged, Fact, FailedOperation, InterruptReopened, StateDiverged};
use crate::fold::Fold;
use crate::patch::{Document, PatchFailure, StateLimits};
use crate::registry::{RaisedInterrupt, RunRecord, Took, finished_status};
use crate::thread_record::StoredRecord;

impl Owner {
    /// The next append, if something waits; asked for again after an unknown outcome or a refusal,
    /// never while one is under way.
    ///
    /// `fold` must have every entry that was acknowledged.
    pub fn next_append(&mut self, fold: &Fold, now: Millis) -> Option<Append> {
        self.now = now;
        match self.phase {
            Phase::Open | Phase::Ending => self.next_batch(fold, now),
            Phase::Ended { terminal } => self.next_late(fold, terminal),
            Phase::Fenced => None,
        }
    }

    fn next_batch(&mut self, fold: &Fold, now: Millis) -> Option<Append> {
        let (count, mut ahead) = self.judge_next(fold, now);
        if count == 0 {
            return None;
        }
        let mut batch = Batch::new(fold);
        for group in self.queue.iter().take(count) {
            for queued in &group.entries {
                self.add(&mut batch, queued, &mut ahead);
            }
            if let Some(took) = group
                .reopens
                .as_ref()
                .filter(|took| self.was_never_sent(fold, took))
            {
                self.add_reopened(&mut batch, took, now_of(group));
            }
        }
        let to = self.acknowledged + count as u64;
        let last = self.queue.get(count - 1)?;
        let ends = last.ends();
        self.in_flight = Some(InFlight::Batch { to, ends });
        let is_durable = ends || last.is_dispatch;
        Some(Append {
            thread: self.thread.clone(),
            known: fold.position().clone(),
            may_create: false,
            guard: Guard {
                lease: Some(self.lease.clone()),
                control: None,
                state: batch.state_guard(),
            },
            lease: if ends {
                LeaseChange::Free
            } else {
                LeaseChange::Keep
            },
            source: Some(SourceRange {
                from: self.acknowledged,
                to,
            }),
            record: self.record(fold, last, &batch),
            entries: batch.entries,
            durability: if is_durable {
                Durability::Durable
            } else {
                Durability::Held
            },
        })
    }

    /// How many groups fit into one append.
    pub(super) fn batch_len(&self) -> usize {
        let (mut events, mut bytes) = (0, 0);
        for (at, group) in self.queue.iter().enumerate() {
            if group.is_dispatch {
                return at.max(1);
            }
            events += group.entries.len();
            bytes += group.bytes();
            if at > 0 && (events > BATCH_EVENTS_MAX || bytes > BATCH_BYTES_MAX) {
                return at;
            }
        }
        self.queue.len()
    }

    fn add(&self, batch: &mut Batch<'_>, queued: &Queued, ahead: &mut Ahead) {
        batch.entries.push(queued.entry.clone());
        let diverged = match &queued.change {
            None | Some(Change::MessagesSnapshot) => None,
            Some(Change::ActivityDelta { message, .. }) => ahead
                .next_failure()
                .map(|failure| self.activity_diverged(message, &failure)),
            Some(Change::StateDelta(patch)) => {
                let applied = batch.state_mut().apply(patch, &StateLimits::default());
                applied.err().map(|failure| self.state_diverged(&failure))
            }
            Some(Change::StateSnapshot(snapshot)) => {
                batch.state = Some(Document::new(snapshot.clone()));
                None
            }
        };
        if let Some(fact) = diverged {
            let at = queued.entry.record.at;
            batch.entries.push(fact_entry(&self.run, at, &fact));
        }
    }

    fn activity_diverged(&self, message: &MessageId, failure: &PatchFailure) -> Fact {
        Fact::ActivityDiverged(ActivityDiverged {
            by: Principal::hub(),
            run_id: self.run.clone(),
            message_id: message.clone(),
            failure: FailedOperation::new(failure),
        })
    }

    fn state_diverged(&self, failure: &PatchFailure) -> Fact {
        Fact::StateDiverged(StateDiverged {
            by: Principal::hub(),
            run_id: self.run.clone(),
            failure: FailedOperation::new(failure),
        })
    }

    /// Whether no run that carried these answers can have reached the agent.
    fn was_never_sent(&self, fold: &Fold, took: &Took) -> bool {
        let unreached = |code: &str| code == ErrorCode::AgentUnreached.as_str();
        !fold.registry().runs().iter().any(|run| {
            let failed_unreached = run
                .failure
                .as_ref()
                .and_then(|failure| failure.code.as_deref())
                .is_some_and(unreached);
            run.id != self.run
                && run.took.as_ref().is_some_and(|other| other.of == took.of)
                && run.is_dispatched
                && !failed_unreached
        })
    }

    fn add_reopened(&self, batch: &mut Batch<'_>, took: &Took, at: Millis) {
        let fact = Fact::InterruptReopened(InterruptReopened {
            by: Principal::hub(),
            of: took.of.clone(),
            interrupt_ids: took.interrupts.clone(),
            run_id: self.run.clone(),
        });
        let entry = fact_entry(&self.run, at, &fact);
        batch.entries.push(NewEntry {
            class: Class::CONTROL,
            ..entry
        });
        batch.reopens = true;
    }

    /// The thread's record, if the batch touches control.
    fn record(&self, fold: &Fold, last: &Group, batch: &Batch<'_>) -> Option<Vec<u8>> {
        if !batch.entries.iter().any(|entry| entry.class.control) {
            return None;
        }
        let record = StoredRecord::of(fold);
        let interrupts = fold.registry().interrupts();
        let record = match &last.end {
            None => record.with_started(),
            Some(End::Failed { .. }) => {
                let run = fold.registry().run(&self.run);
                let status = run.map_or(RunStatus::Error, RunRecord::status_after_error);
                let reopened = interrupts.latest().iter().filter(|_| batch.reopens);
                record.with_end(status, reopened)
            }
            Some(End::Finished(outcome)) => {
                let raised: Vec<_> = match outcome {
                    Outcome::Interrupt { interrupts } => {
                        interrupts.iter().map(RaisedInterrupt::new).collect()
                    }
                    Outcome::Cancelled | Outcome::Success { .. } => Vec::new(),
                };
                record.with_end(finished_status(outcome), raised.iter())
            }
        };
        Some(record.at(fold, batch.entries.len()).to_bytes())
    }
}

fn now_of(group: &Group) -> Millis {
    group
        .entries
        .last()
        .map_or(Millis(0), |queued| queued.entry.record.at)
}
