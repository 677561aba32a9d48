//! The I/O around a run's `Owner`: reads the agent, appends, notices a cancellation, ends in time.
//!
//! ```text
//! connect ─▶ run.dispatched is durable ─▶ call ─▶ read ⇄ append ─▶ the end is in the log ─▶ read on for a late error
//! ```
//!
//! Invariant: one append is in flight at most; while a whole batch waits, or the log store is away,
//! the agent is not read, so that nothing is held but one batch.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, OptionFuture};
use threadcast_agui::ids::RunId;
use threadcast_hub::hub::{Hub, Start};
use threadcast_hub::live_thread::LiveThread;
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::owner::{BATCH_EVENTS_MAX, Fed, Owner};
use threadcast_run_registry::request::AgentRequest;
use threadcast_thread_log::engine::{Append, Outcome};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::LeaseToken;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::agents::Agent;
use super::call::CallError;
use super::outage::Outage;
use super::prepare::prepare;
use super::source::Source;
use crate::clock;

mod appending;

/// How often a quiet run shows that its owner lives: a third of the shortest time after which
/// another could seize it.
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// Owns a run until its end is in the log and its stream is closed, or until `stop`.
pub(crate) async fn run(hub: Hub, agent: Arc<Agent>, start: Start, stop: CancellationToken) {
    let owning = async {
        match prepare(&hub, &agent, &start).await {
            Ok((owner, request)) => OwnedRun::new(agent, start, owner).go(request).await,
            Err(error) => tracing::error!(
                error = &error as &dyn std::error::Error,
                "run cannot be started"
            ),
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => tracing::info!("run left behind"),
        () = owning => {}
    }
}

/// A run and all its owner waits for.
#[derive(Debug)]
struct OwnedRun {
    agent: Arc<Agent>,
    live: LiveThread,
    run: RunId,
    lease: LeaseToken,
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
    fn new(agent: Arc<Agent>, start: Start, owner: Owner) -> Self {
        let Start { live, run, lease } = start;
        Self {
            agent,
            live,
            run,
            lease,
            owner,
            source: Source::Closed,
            reading: Reading::On,
            grace_ends: None,
            late_ends: None,
            next_beat: Instant::now() + BEAT_EVERY,
            outage: None,
        }
    }

    async fn go(mut self, request: AgentRequest) {
        let first = match self.agent.source.connect().await {
            Err(error) => {
                self.end(&error.ending());
                None
            }
            Ok(_) if self.is_cancelled() => {
                self.end(&Ending::Abort);
                None
            }
            Ok(connection) => {
                let dispatched = self
                    .live
                    .with_fold(|fold| self.owner.dispatched(fold, clock::now()));
                Some((self.append_after(Duration::ZERO, dispatched), connection))
            }
        };
        if let Some((mut dispatching, connection)) = first {
            // Nothing is sent before this is durable, however long that takes.
            loop {
                let (append, outcome) = dispatching.await;
                match self.settle(append, outcome) {
                    ControlFlow::Continue(Some(again)) => dispatching = again,
                    ControlFlow::Continue(None) if self.owner.has_work() => {
                        match self.next_append() {
                            Some(next) => dispatching = next,
                            None => break,
                        }
                    }
                    ControlFlow::Continue(None) => break,
                    ControlFlow::Break(()) => return,
                }
            }
            self.source = Source::call(connection, request);
        }
        self.drive().await;
    }

    /// Reads and appends until there is nothing left to do.
    async fn drive(&mut self) {
        let mut head = self.live.head_changed();
        let mut in_flight: Option<InFlight> = None;
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

    fn is_cancelled(&self) -> bool {
        self.live.with_fold(|fold| {
            fold.registry()
                .run(&self.run)
                .is_some_and(|run| run.cancel.is_some())
        })
    }

    fn note_cancellation(&mut self) {
        if self.grace_ends.is_none() && !self.owner.has_ended() && self.is_cancelled() {
            tracing::debug!("cancellation noticed");
            self.grace_ends = Some(Instant::now() + self.agent.policy.cancel_grace);
        }
    }

    /// The next moment at which something is due.
    fn deadline(&self) -> Instant {
        let grace = self
            .grace_ends
            .filter(|_| !self.source.is_closed() && !self.owner.has_ended());
        let outage = self.outage.as_ref().filter(|_| !self.source.is_closed());
        let outage = outage.map(|outage| outage.since + self.agent.policy.outage);
        let late = self.late_ends.filter(|_| !self.source.is_closed());
        [grace, outage, late]
            .into_iter()
            .flatten()
            .fold(self.next_beat, Instant::min)
    }

    /// Does what is due; gives a beat to append if one is and nothing else is under way.
    fn pass_deadline(&mut self, is_idle: bool) -> Option<InFlight> {
        let now = Instant::now();
        let is_past = |moment: Option<Instant>| moment.is_some_and(|moment| moment <= now);
        if is_past(self.late_ends) {
            self.source = Source::Closed;
        }
        if is_past(self.grace_ends) && !self.owner.has_ended() {
            self.end(&Ending::Abort);
        }
        if is_past(
            self.outage
                .as_ref()
                .map(|outage| outage.since + self.agent.policy.outage),
        ) {
            self.end(&Ending::EngineUnavailable);
        }
        if self.next_beat > now {
            return None;
        }
        self.next_beat = now + BEAT_EVERY;
        (is_idle && !self.owner.has_ended()).then(|| self.append_after(Duration::ZERO, self.beat()))
    }
}

#[cfg(test)]
mod tests;
