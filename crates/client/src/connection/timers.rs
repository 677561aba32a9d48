//! When a connection is looked after, given up and made again; time is read here and nowhere below.

use std::time::Duration;

use threadcast_wire::client_frame::RequestId;
use threadcast_wire::close::{CloseCode, Reconnect};
use tokio::time::Instant;

use super::{Connection, State};
use crate::backoff::Failures;
use crate::error::{Cause, Disconnect, Error};
use crate::socket::Socket;

/// A live hub sends a ping a heartbeat; after two and a half without any byte it is given up.
const SILENT_HEARTBEATS: f64 = 2.5;

/// What is known of the socket being served.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) since: Instant,
    pub(super) heard: Instant,
    pub(super) heartbeat: Duration,
    pub(super) hello: RequestId,
}

impl Link {
    fn silent_at(&self) -> Instant {
        self.heard + self.heartbeat.mul_f64(SILENT_HEARTBEATS)
    }
}

impl Connection {
    /// How long to wait before the next attempt; `None` when there is to be none.
    pub(super) fn wait_after(&mut self, error: &Error) -> Option<Duration> {
        let returning = self
            .return_at
            .take()
            .map(|at| at.saturating_duration_since(Instant::now()));
        match error.cause() {
            Cause::Disconnected(Disconnect::Unused)
            | Cause::BadUrl { .. }
            | Cause::Unsupported { .. } => None,
            Cause::Handshake {
                status,
                retry_after,
                ..
            } if *status >= 500 || *status == 429 => {
                Some(self.backoff().max(retry_after.unwrap_or_default()))
            }
            Cause::Handshake { .. } => None,
            Cause::Closed { code, .. } => match CloseCode::from_code(*code)
                .map(CloseCode::reconnect)
            {
                Some(Reconnect::No) => None,
                Some(Reconnect::AfterDraining) => Some(returning.unwrap_or_else(|| self.backoff())),
                Some(Reconnect::WithBackoff) | None => Some(self.backoff()),
            },
            Cause::AlreadySubscribed { .. }
            | Cause::Disconnected(_)
            | Cause::Hub(_)
            | Cause::Protocol(_)
            | Cause::Timeout { .. }
            | Cause::TooLarge { .. }
            | Cause::TooLargeToHold(_) => Some(returning.unwrap_or_else(|| self.backoff())),
        }
    }

    fn backoff(&mut self) -> Duration {
        self.failures.wait(random())
    }

    /// The reader caught up: what was silent or unanswered meanwhile was so because nobody listened.
    pub(super) fn unpark(&mut self, link: &mut Link) {
        let now = Instant::now();
        link.heard = now;
        if let Some(parked) = self.parked.take() {
            self.follows.excuse(parked.since, now);
        }
    }

    /// The next instant at which something may be due.
    pub(super) fn next_timer(&self, link: &Link, socket: &Socket) -> Instant {
        let is_listening = self.parked.is_none();
        let silent_at = is_listening.then(|| link.silent_at());
        let stuck_at = socket
            .writer
            .stuck_since()
            .map(|since| since + self.options.write_timeout);
        let unanswered_at = self
            .follows
            .oldest_asked()
            .filter(|_| is_listening)
            .map(|asked| asked + self.options.request_timeout);
        let timers = [
            silent_at,
            stuck_at,
            unanswered_at,
            self.return_at,
            self.follows.next_retry(),
            self.requests.next_deadline(),
        ];
        // Nothing may be due while a reader is behind; a look an hour costs nothing.
        timers
            .into_iter()
            .flatten()
            .min()
            .unwrap_or_else(|| Instant::now() + Duration::from_secs(3600))
    }

    /// Does what is due.
    ///
    /// # Errors
    /// The connection is to be given up.
    pub(super) fn timer(&mut self, link: &Link, socket: &Socket) -> Result<(), Error> {
        let now = Instant::now();
        self.requests.expire(now, None);
        self.follows.retry(now);
        if self.return_at.is_some_and(|at| at <= now) {
            return Err(Disconnect::Draining.into());
        }
        let is_listening = self.parked.is_none();
        if is_listening && link.silent_at() <= now {
            return Err(Disconnect::Silent(now - link.heard).into());
        }
        if let Some(since) = socket
            .writer
            .stuck_since()
            .filter(|since| *since + self.options.write_timeout <= now)
        {
            return Err(Disconnect::Stuck(now - since).into());
        }
        let after = self.options.request_timeout;
        if self
            .follows
            .oldest_asked()
            .is_some_and(|asked| is_listening && asked + after <= now)
        {
            return Err(Cause::Timeout {
                what: "subscribe",
                after,
                last: None,
            }
            .into());
        }
        Ok(())
    }

    /// Answers requests whose time is over while there is no connection.
    pub(super) fn expire(&mut self) {
        let state = self.state.borrow();
        let last = match &*state {
            State::Lost(error) => Some(error),
            State::Connecting | State::Connected | State::Ended(_) => None,
        };
        self.requests.expire(Instant::now(), last);
    }
}

/// When to try again after one more failure.
pub(super) fn retry_at(failures: &mut Failures) -> Instant {
    Instant::now() + failures.wait(random())
}

fn random() -> u64 {
    // Without randomness the whole bound is as good; only the spread between clients is lost.
    getrandom::u64().unwrap_or(u64::MAX)
}
