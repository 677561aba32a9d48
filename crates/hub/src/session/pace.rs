//! When a session begins to send what its subscriptions are behind (docs/protocol.md §5): time is an argument.
//!
//! At once, as long as its socket takes bytes. A session whose socket was blocked a short time ago is slow: it begins a
//! round at fixed intervals, so that what piles up in between goes out as one. A round that the socket interrupts goes on
//! as soon as it takes bytes again; answers and pings belong to no round.

use std::time::Duration;

use tokio::time::Instant;

use crate::defaults::{SLOW_FOR, SLOW_FOR_GROWTH, SLOW_FOR_MAX, SLOW_SEND_EVERY};

#[derive(Debug)]
pub(super) struct Pace {
    now: Instant,
    is_blocked: bool,
    /// How long the socket must not have been blocked.
    slow_for: Duration,
    /// When it was slow last, or will have been; `None` if it never was.
    slow_until: Option<Instant>,
    next_round: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            now,
            is_blocked: false,
            slow_for: SLOW_FOR,
            slow_until: None,
            next_round: now,
        }
    }

    /// It is `now`, until told otherwise.
    pub(super) fn tick(&mut self, now: Instant) {
        self.now = now;
    }

    /// The socket was offered bytes, or had taken all.
    pub(super) fn offered(&mut self, is_blocked: bool) {
        if is_blocked && !self.is_slow() {
            self.slow_again();
        }
        if is_blocked || self.is_blocked {
            self.slow_until = Some(self.now + self.slow_for);
        }
        self.is_blocked = is_blocked;
    }

    /// A line that was slow a short time ago is tried less often.
    fn slow_again(&mut self) {
        let is_relapse = self
            .slow_until
            .is_some_and(|until| self.now < until + self.slow_for);
        self.slow_for = if is_relapse {
            SLOW_FOR_MAX.min(self.slow_for * SLOW_FOR_GROWTH)
        } else {
            SLOW_FOR
        };
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    pub(super) fn is_slow(&self) -> bool {
        self.is_blocked || self.slow_until.is_some_and(|until| self.now < until)
    }

    /// Whether a round may begin.
    pub(super) fn may_begin(&self) -> bool {
        !self.is_blocked && (self.now >= self.next_round || !self.is_slow())
    }

    /// A round begins.
    pub(super) fn begin(&mut self) {
        if self.is_slow() {
            self.next_round = self.now + SLOW_SEND_EVERY;
        }
    }

    /// When a round may begin that may not begin now; a socket that takes bytes again tells by itself.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let slow_until = self
            .slow_until
            .filter(|_| !self.is_blocked && !self.may_begin())?;
        Some(self.next_round.min(slow_until))
    }
}

#[cfg(test)]
mod tests;
