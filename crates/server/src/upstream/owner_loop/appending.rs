//! The appends of an owned run: the next batch, the beat of a quiet run, and what an outcome means.

use std::ops::ControlFlow;
use std::time::Duration;

use threadcast_hub::clock;
use threadcast_run_registry::owner::Retry;
use threadcast_thread_log::engine::{Append, Durability, Guard, Outcome, RefusedReason};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::LeaseChange;
use tokio::time::{Instant, sleep};

use super::{BEAT_EVERY, InFlight, OwnedRun, Reading};
use crate::random;
use crate::upstream::outage::Outage;
use crate::upstream::source::Source;

impl OwnedRun {
    pub(super) fn beat(&self) -> Append {
        Append {
            thread: self.live.thread().clone(),
            known: self.live.head(),
            may_create: false,
            guard: Guard {
                lease: Some(self.lease.clone()),
                ..Guard::default()
            },
            lease: LeaseChange::Renew,
            source: None,
            entries: Vec::new(),
            record: None,
            durability: Durability::Held,
        }
    }

    pub(super) fn next_append(&mut self) -> Option<InFlight> {
        let append = self
            .live
            .with_fold(|fold| self.owner.next_append(fold, clock::now()))?;
        Some(self.append_after(Duration::ZERO, append))
    }

    pub(super) fn append_after(&self, wait: Duration, append: Append) -> InFlight {
        let live = self.live.clone();
        Box::pin(async move {
            if !wait.is_zero() {
                sleep(wait).await;
            }
            let outcome = live.append(append.clone()).await;
            (append, outcome)
        })
    }

    /// Takes in the outcome of an append; gives it to be made again while its outcome is unknown.
    /// Breaks when the run is no longer this owner's.
    pub(super) fn settle(
        &mut self,
        append: Append,
        outcome: Result<Outcome, EngineError>,
    ) -> ControlFlow<(), Option<InFlight>> {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(EngineError::Unavailable(error)) => {
                let outage = self.outage.get_or_insert_with(Outage::begin);
                tracing::warn!(%error, outage_ms = outage.since.elapsed().as_millis(), "log store unavailable");
                let wait = outage.wait(random::small());
                return ControlFlow::Continue(Some(self.append_after(wait, append)));
            }
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "run cannot be appended"
                );
                return ControlFlow::Break(());
            }
        };
        self.outage = None;
        self.next_beat = Instant::now() + BEAT_EVERY;
        let is_beat = append.lease == LeaseChange::Renew;
        match outcome {
            Outcome::Appended(_) if is_beat => {}
            Outcome::Appended(appended) => self.owner.appended(&appended),
            Outcome::Refused(refused) if is_beat => {
                if refused.reason == RefusedReason::Fenced || refused.reason == RefusedReason::Gone
                {
                    return self.fenced();
                }
            }
            Outcome::Refused(refused) => match self
                .live
                .with_fold(|fold| self.owner.refused(&refused, fold))
            {
                Retry::Again | Retry::Done => {}
                Retry::Diverged => self.source = Source::Closed,
                Retry::Fenced => return self.fenced(),
            },
        }
        if self.owner.has_ended() && self.late_ends.is_none() {
            self.note_end();
        }
        ControlFlow::Continue(None)
    }

    fn fenced(&self) -> ControlFlow<(), Option<InFlight>> {
        tracing::warn!("run taken over by another owner");
        ControlFlow::Break(())
    }

    /// The run's end is in the log. Behind RUN_FINISHED an error may follow; behind RUN_ERROR
    /// nothing may.
    fn note_end(&mut self) {
        let ended = self
            .live
            .with_fold(|fold| fold.registry().run(&self.run).and_then(|run| run.ended));
        tracing::debug!("run ended");
        self.reading = Reading::On;
        self.late_ends = Some(Instant::now() + self.policy.late);
        if ended.is_none_or(|ended| ended.by_error) {
            self.source = Source::Closed;
        }
    }
}
