//! What is due when in an owned run: the grace of a cancellation, the limit of an outage, the wait
//! for a late error, the next beat.

use std::time::Duration;

use threadcast_run_registry::ending::Ending;
use tokio::time::Instant;

use super::{BEAT_EVERY, InFlight, OwnedRun, Reading};
use crate::upstream::source::Source;

impl OwnedRun {
    pub(super) fn is_cancelled(&self) -> bool {
        self.live.with_fold(|fold| {
            fold.registry()
                .run(&self.run)
                .is_some_and(|run| run.cancel.is_some())
        })
    }

    pub(super) fn note_cancellation(&mut self) {
        if self.grace_ends.is_none() && !self.owner.has_ended() && self.is_cancelled() {
            tracing::debug!("cancellation noticed");
            self.grace_ends = Some(Instant::now() + self.policy.cancel_grace);
        }
    }

    /// Whether an end may still come from here: none is in the log, and none that the agent gave is
    /// on its way there.
    pub(super) fn may_be_ended(&self) -> bool {
        !self.owner.has_ended() && self.reading != Reading::UntilEnded
    }

    /// When the log store has been away for too long, if it is away.
    pub(super) fn outage_ends(&self) -> Option<Instant> {
        let outage = self.outage.as_ref()?;
        Some(outage.since + self.policy.outage)
    }

    /// The next moment at which something is due.
    pub(super) fn deadline(&self) -> Instant {
        let grace = self
            .grace_ends
            .filter(|_| !self.source.is_closed() && self.may_be_ended());
        let outage = self.outage_ends().filter(|_| !self.source.is_closed());
        let late = self.late_ends.filter(|_| !self.source.is_closed());
        [grace, outage, late]
            .into_iter()
            .flatten()
            .fold(self.next_beat, Instant::min)
    }

    /// Does what is due; gives a beat to append if one is and nothing else is under way.
    pub(super) fn pass_deadline(&mut self, is_idle: bool) -> Option<InFlight> {
        let now = Instant::now();
        let is_past = |moment: Option<Instant>| moment.is_some_and(|moment| moment <= now);
        if is_past(self.late_ends) {
            self.source = Source::Closed;
        }
        if is_past(self.grace_ends) && self.may_be_ended() {
            self.end(&Ending::Abort);
        }
        if is_past(self.outage_ends()) {
            self.end(&Ending::EngineUnavailable);
        }
        if self.next_beat > now {
            return None;
        }
        self.next_beat = now + BEAT_EVERY;
        (is_idle && !self.owner.has_ended()).then(|| self.append_after(Duration::ZERO, self.beat()))
    }
}
