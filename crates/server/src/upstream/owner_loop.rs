//! The I/O around a run's `Owner`: reads the agent, appends, notices a cancellation, ends in time.
//!
//! ```text
//! connect ─▶ run.dispatched is durable ─▶ call ─▶ read ⇄ append ─▶ the end is in the log ─▶ read on for a late error
//! ```
//!
//! Invariant: one append is in flight at most; while a whole batch waits, or the log store is away,
//! the agent is not read, so that nothing is held but one batch.

use std::error::Error;
use std::future::Future;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, OptionFuture};
use threadcast_agui::ids::RunId;
use threadcast_hub::clock;
use threadcast_hub::hub::{Hub, Start};
use threadcast_hub::live_thread::LiveThread;
use threadcast_hub::owned::Owned;
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::owner::{BATCH_EVENTS_MAX, Fed, Owner};
use threadcast_run_registry::request::AgentRequest;
use threadcast_thread_log::engine::{Append, Outcome};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::LeaseToken;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::agents::Agent;
use super::call::{AgentSource, CallError};
use super::outage::Outage;
use super::prepare::{PrepareError, prepare};
use super::source::Source;
use crate::config::AgentPolicy;

mod appending;
mod orphan;
mod timing;

use orphan::end_orphan;

/// How often a quiet run shows that its owner lives: a third of the shortest time after which
/// another could seize it.
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// Owns a run until its end is in the log and its stream is closed, or until `stop`.
pub(crate) async fn run(hub: Hub, agent: Arc<Agent>, start: Start, stop: CancellationToken) {
    let owning = async {
        let owned = AssertUnwindSafe(own(&hub, &agent, &start)).catch_unwind();
        let reason = match owned.await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => {
                let error: &dyn Error = &error;
                tracing::error!(error, "run cannot be started");
                "the run could not be prepared"
            }
            // What it said is on standard error already.
            Err(_panic) => {
                tracing::error!("the run's owner panicked");
                "the hub failed"
            }
        };
        end_orphan(&hub, start, reason).await;
    };
    until(stop, owning).await;
}

/// Ends a run for which there is no agent, so that its thread is free again.
pub(crate) async fn refuse(hub: Hub, start: Start, stop: CancellationToken) {
    let reason = "the agent is not configured any more";
    until(stop, end_orphan(&hub, start, reason)).await;
}

/// Ends a run whose owner is gone, and whose lease was taken over.
pub(crate) async fn end_lost(hub: Hub, start: Start, stop: CancellationToken) {
    let reason = "its owner is gone";
    until(stop, end_orphan(&hub, start, reason)).await;
}

async fn until(stop: CancellationToken, owning: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = stop.cancelled() => tracing::info!("run left behind"),
        () = owning => {}
    }
}

async fn own(hub: &Hub, agent: &Agent, start: &Start) -> Result<(), PrepareError> {
    let (owner, request) = prepare(hub, agent, start).await?;
    let run = OwnedRun::new(agent.policy.clone(), start.clone(), owner);
    run.go(&agent.source, request).await;
    Ok(())
}

/// A run and all its owner waits for.
#[derive(Debug)]
struct OwnedRun {
    policy: AgentPolicy,
    live: LiveThread,
    run: RunId,
    lease: LeaseToken,
    /// Held for as long as this is.
    _owned: Owned,
    owner: Owner,
    source: Source,
    reading: Reading,
    /// When a cancelled run is ended by the hub.
    grace_ends: Option<Instant>,
    /// When a stream whose run has ended is closed.
    late_ends: Option<Instant>,
    next_beat: Instant,
    outage: Option<Outage>,
}

/// Whether the stream is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Whenever there is room.
    On,
    /// There is none, or the store is away.
    Held,
    /// Not before the end of the run, which is queued, is in the log.
    UntilEnded,
}

/// An append under way; gives itself back, for its outcome may stay unknown.
type InFlight = BoxFuture<'static, (Append, Result<Outcome, EngineError>)>;

impl OwnedRun {
    fn new(policy: AgentPolicy, start: Start, owner: Owner) -> Self {
        let Start {
            live,
            run,
            lease,
            owned,
        } = start;
        Self {
            policy,
            live,
            run,
            lease,
            _owned: owned,
            owner,
            source: Source::Closed,
            reading: Reading::On,
            grace_ends: None,
            late_ends: None,
            next_beat: Instant::now() + BEAT_EVERY,
            outage: None,
        }
    }

    async fn go(mut self, agent: &AgentSource, request: AgentRequest) {
        let mut in_flight = None;
        match agent.connect().await {
            Err(error) => self.end(&error.ending()),
            Ok(_) if self.is_cancelled() => self.end(&Ending::Abort),
            Ok(connection) => match self.dispatch().await {
                // The log may have lost the run meanwhile.
                ControlFlow::Continue(None) if self.owner.has_ended() => {}
                ControlFlow::Continue(None) => self.source = Source::call(connection, request),
                ControlFlow::Continue(still) => in_flight = still,
                ControlFlow::Break(()) => return,
            },
        }
        self.drive(in_flight).await;
    }

    /// Records that the agent is about to be called; nothing is sent before that is durable. Gives
    /// the append back if the log store is away for too long: then the run's end is queued behind
    /// it and nothing is to be sent. Breaks when the run is no longer this owner's.
    async fn dispatch(&mut self) -> ControlFlow<(), Option<InFlight>> {
        let dispatched = self
            .live
            .with_fold(|fold| self.owner.dispatched(fold, clock::now()));
        let mut in_flight = self.append_after(Duration::ZERO, dispatched);
        loop {
            let gives_up = OptionFuture::from(self.outage_ends().map(sleep_until));
            tokio::select! {
                biased;
                (append, outcome) = &mut in_flight => {
                    in_flight = match self.settle(append, outcome)? {
                        Some(again) => again,
                        None => match self.next_append() {
                            Some(next) => next,
                            None => return ControlFlow::Continue(None),
                        },
                    };
                }
                Some(()) = gives_up => {
                    self.end(&Ending::Unreached {
                        reason: "the log store was unavailable for too long".into(),
                    });
                    return ControlFlow::Continue(Some(in_flight));
                }
            }
        }
    }

    /// Reads and appends until there is nothing left to do.
    async fn drive(&mut self, mut in_flight: Option<InFlight>) {
        let mut head = self.live.head_changed();
        self.note_cancellation();
        loop {
            in_flight = in_flight.or_else(|| self.next_append());
            if in_flight.is_none() && self.owner.has_ended() && self.source.is_closed() {
                return;
            }
            let (reads, deadline) = (self.reads(), self.deadline());
            tokio::select! {
                biased;
                Some((append, outcome)) = OptionFuture::from(in_flight.as_mut()) => {
                    in_flight = match self.settle(append, outcome) {
                        ControlFlow::Continue(again) => again,
                        ControlFlow::Break(()) => return,
                    };
                }
                Ok(()) = head.changed(), if self.grace_ends.is_none() => self.note_cancellation(),
                () = sleep_until(deadline) => {
                    let beat = self.pass_deadline(in_flight.is_none());
                    in_flight = in_flight.or(beat);
                }
                event = self.source.next(), if reads => self.take_all(event),
            }
        }
    }

    /// Takes in what the source gave, and whatever else is there already: one batch instead of
    /// many.
    fn take_all(&mut self, first: Result<Option<String>, CallError>) {
        self.take(first);
        for _ in 1..BATCH_EVENTS_MAX {
            if !self.reads() {
                return;
            }
            let Some(event) = self.source.next().now_or_never() else {
                return;
            };
            self.take(event);
        }
    }

    fn take(&mut self, event: Result<Option<String>, CallError>) {
        match event {
            Ok(Some(data)) => {
                if self.owner.feed(&data, clock::now()) == Fed::Ended && !self.owner.has_ended() {
                    self.reading = Reading::UntilEnded;
                }
            }
            Ok(None) => self.end(&Ending::Truncated {
                reason: "the agent closed the connection".into(),
            }),
            Err(error) => self.end(&error.ending()),
        }
    }

    /// Ends the run unless it has ended, and closes the stream.
    fn end(&mut self, ending: &Ending) {
        self.owner.end(ending, clock::now());
        self.source = Source::Closed;
    }

    /// Whether the stream is to be read now.
    fn reads(&mut self) -> bool {
        if self.source.is_closed() || self.reading == Reading::UntilEnded {
            return false;
        }
        let may_read = self.outage.is_none() && !self.owner.is_full();
        if may_read && self.reading == Reading::Held {
            self.source.forgive_silence();
        }
        self.reading = if may_read { Reading::On } else { Reading::Held };
        may_read
    }
}

#[cfg(test)]
mod tests;
