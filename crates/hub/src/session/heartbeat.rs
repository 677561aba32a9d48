//! Whether the other side is alive (docs/protocol.md §1.3): time is an argument, nothing here waits.
//!
//! A socket is dead when nothing came from it for long after a ping was written, or when it takes no byte for long; a
//! ping unanswered for a short time counts only on a line that was quiet before it, for elsewhere it may stand in a
//! queue. While the hub itself does not read, the clock of what was received stands.

use std::time::Duration;

use threadcast_wire::limits::Limits;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct Heartbeat {
    interval: Duration,
    next_ping: Instant,
    ping: Ping,
    /// When the first of the pings was written that nothing followed.
    unanswered_since: Option<Instant>,
    /// When a ping was written on a quiet line that nothing followed.
    quiet_since: Option<Instant>,
    /// When something other than a ping was last written.
    last_written: Instant,
    stuck_since: Option<Instant>,
    /// Since when the hub does not read.
    paused_since: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ping {
    Written,
    /// Queued, on a line of which is said whether it was quiet.
    Queued {
        is_quiet: bool,
    },
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    Wait,
    Ping,
    Dead(Death),
}

/// Why a socket counts as dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    Silent,
    Stuck,
    Unanswered,
}

impl Heartbeat {
    pub(crate) fn new(interval: Duration, now: Instant) -> Self {
        Self {
            interval,
            next_ping: now + interval,
            ping: Ping::Written,
            unanswered_since: None,
            quiet_since: None,
            last_written: now,
            stuck_since: None,
            paused_since: None,
        }
    }

    pub(crate) fn set_interval(&mut self, interval: Duration, now: Instant) {
        self.interval = interval;
        self.next_ping = now + interval;
    }

    pub(crate) fn received(&mut self) {
        self.unanswered_since = None;
        self.quiet_since = None;
    }

    /// Something other than a ping was written.
    pub(crate) fn wrote(&mut self, now: Instant) {
        self.last_written = now;
    }

    /// The socket was offered bytes: it took some, or blocked; `is_empty` when nothing waits any more.
    pub(crate) fn offered(
        &mut self,
        now: Instant,
        has_moved: bool,
        is_blocked: bool,
        is_empty: bool,
    ) {
        if !is_blocked {
            self.stuck_since = None;
        } else if has_moved || self.stuck_since.is_none() {
            self.stuck_since = Some(now);
        }
        if let (Ping::Queued { is_quiet }, true) = (self.ping, is_empty) {
            self.ping = Ping::Written;
            self.unanswered_since.get_or_insert(now);
            if is_quiet {
                self.quiet_since.get_or_insert(now);
            }
        }
    }

    /// The hub does not read from now on.
    pub(crate) fn pause(&mut self, now: Instant) {
        self.paused_since.get_or_insert(now);
    }

    pub(crate) fn has_ping_queued(&self) -> bool {
        self.ping != Ping::Written
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused_since.is_some()
    }

    /// The hub reads again: the time in between does not count.
    pub(crate) fn resume(&mut self, now: Instant) {
        if let Some(since) = self.paused_since.take() {
            let paused = now - since;
            for since in [&mut self.unanswered_since, &mut self.quiet_since]
                .into_iter()
                .flatten()
            {
                *since += paused;
            }
        }
    }

    /// What is due; a ping is told once.
    pub(crate) fn check(&mut self, limits: &Limits, now: Instant) -> Beat {
        for (at, death) in self.deaths(limits) {
            if at.is_some_and(|at| at <= now) {
                return Beat::Dead(death);
            }
        }
        if self.next_ping > now {
            return Beat::Wait;
        }
        self.next_ping = now + self.interval;
        if self.ping != Ping::Written {
            return Beat::Wait;
        }
        self.ping = Ping::Queued {
            is_quiet: now.duration_since(self.last_written) >= limits.quiet_line,
        };
        Beat::Ping
    }

    /// When to check again at the latest.
    pub(crate) fn deadline(&self, limits: &Limits) -> Instant {
        self.deaths(limits)
            .into_iter()
            .filter_map(|(at, _)| at)
            .fold(self.next_ping, Instant::min)
    }

    fn deaths(&self, limits: &Limits) -> [(Option<Instant>, Death); 3] {
        let reads = self.paused_since.is_none();
        let after = |since: Option<Instant>, time: Duration| {
            since.filter(|_| reads).map(|since| since + time)
        };
        [
            (
                after(self.unanswered_since, limits.dead_after),
                Death::Silent,
            ),
            (
                after(self.quiet_since, limits.ping_unanswered),
                Death::Unanswered,
            ),
            (
                self.stuck_since.map(|since| since + limits.stuck_after),
                Death::Stuck,
            ),
        ]
    }
}

#[cfg(test)]
mod tests;
