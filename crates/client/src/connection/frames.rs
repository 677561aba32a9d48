//! What a connection makes of the frames it receives.

use std::time::Duration;

use threadcast_agui::ids::ThreadId;
use threadcast_wire::answer::HelloAnswer;
use threadcast_wire::hub_frame::HubFrame;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::timers::{Link, retry_at};
use super::{Connection, Parked};
use crate::error::{Cause, Error};
use crate::socket::Received;
use crate::subscription::machine::thread_of;

impl Connection {
    /// Takes one message of the hub.
    ///
    /// # Errors
    /// The connection is of no use any more.
    pub(super) fn receive(&mut self, received: Received, link: &mut Link) -> Result<(), Error> {
        link.heard = Instant::now();
        let Received::Frame(text) = received else {
            return Ok(());
        };
        let frame = HubFrame::read(&text).map_err(|error| Cause::Protocol(chain(&error)))?;
        if let Some(thread) = thread_of(&frame).cloned() {
            return self.follow(&thread, frame, text);
        }
        match frame {
            HubFrame::Ok { id, answer } if id == link.hello => {
                if let Ok(HelloAnswer { heartbeat_ms }) = answer.read() {
                    link.heartbeat = Duration::from_millis(heartbeat_ms);
                }
            }
            HubFrame::Ok { id, answer } => {
                self.failures.reset();
                if !self.requests.answer(&id, Ok(answer)) {
                    tracing::debug!(?id, "answer came after its deadline");
                }
            }
            HubFrame::Error {
                id: Some(id),
                error,
            } => {
                let error = Error::from(Cause::Hub(error));
                if !self.follows.refused(&id, &error, retry_at) {
                    self.requests.answer(&id, Err(error));
                }
            }
            HubFrame::Error { id: None, error } => {
                tracing::warn!(
                    code = error.code,
                    message = error.message,
                    "hub refused a frame"
                );
            }
            HubFrame::Draining { reconnect_after_ms } => {
                self.return_at = Some(Instant::now() + Duration::from_millis(reconnect_after_ms));
            }
            other => tracing::trace!(frame = ?other, "frame is not for this version"),
        }
        Ok(())
    }

    fn follow(&mut self, thread: &ThreadId, frame: HubFrame, text: Utf8Bytes) -> Result<(), Error> {
        if let Some((feed, delivery)) = self.follows.frame(thread, frame, text, retry_at)? {
            if delivery.update.range().is_some() {
                self.failures.reset();
            }
            if let Some(delivery) = feed.try_deliver(delivery) {
                self.parked = Some(Parked {
                    feed,
                    delivery: Some(delivery),
                    since: Instant::now(),
                });
            }
        }
        Ok(())
    }
}

/// An error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |line, cause| format!("{line}: {cause}"))
}
