//! What a socket says: frames for the requests, and what is no frame.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::StreamExt;
use serde_json::json;
use threadcast_wire::client_frame::ClientFrame;
use threadcast_wire::close::CloseCode;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{Ending, Phase, Session};
use crate::defaults::{ANSWERS_BYTES_MAX, BAD_FRAMES_WINDOW, READS_PER_POLL, REQUESTS_BYTES_MAX};

/// Counts bad frames within a minute.
#[derive(Debug)]
pub(super) struct BadFrames {
    window_start: Instant,
    count: u32,
}

impl BadFrames {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            window_start: now,
            count: 0,
        }
    }

    /// Counts one more; tells whether there are more than `max` in the window.
    fn add(&mut self, now: Instant, max: u32) -> bool {
        if now.duration_since(self.window_start) >= BAD_FRAMES_WINDOW {
            *self = Self::new(now);
        }
        self.count += 1;
        self.count > max
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Whether there is room for what would be read, and for what would have to be answered.
    pub(super) fn may_read(&self) -> bool {
        self.phase == Phase::Open
            && self.requests.count() < self.hub.limits().requests_in_flight
            && self.requests.bytes() < REQUESTS_BYTES_MAX
            && self.may_answer()
    }

    /// Whether there is room for one answer more.
    pub(super) fn may_answer(&self) -> bool {
        self.socket.get_ref().waiting_bytes() < ANSWERS_BYTES_MAX
    }

    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<Ending> {
        for _ in 0..READS_PER_POLL {
            if !self.may_read() {
                self.heartbeat.pause(now);
                return Poll::Pending;
            }
            self.heartbeat.resume(now);
            let polled = self.socket.poll_next_unpin(cx);
            if self.stream().take_has_received() {
                self.heartbeat.received();
            }
            let message = match polled {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ending::Gone),
                Poll::Ready(Some(Ok(message))) => message,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(self.unreadable(error)),
            };
            if let Some(ending) = self.take_message(&message, now) {
                return Poll::Ready(ending);
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn take_message(&mut self, message: &Message, now: Instant) -> Option<Ending> {
        match message {
            Message::Text(text) => self.take_frame(text, now),
            Message::Binary(_) => Some(Ending::Close(CloseCode::Binary)),
            // Its pong is something other than a ping that is written.
            Message::Ping(_) => {
                self.heartbeat.wrote(now);
                None
            }
            // After a close the next read tells the end.
            Message::Close(_) | Message::Frame(_) | Message::Pong(_) => None,
        }
    }

    fn take_frame(&mut self, text: &str, now: Instant) -> Option<Ending> {
        match ClientFrame::read(text) {
            Ok(frame) => match frame.id.as_ref().filter(|id| self.requests.has(id)) {
                Some(id) => {
                    let message = "the id belongs to a request that is still in flight";
                    self.push_error(Some(id), &ErrorBody::new(ErrorCode::BadFrame, message));
                    self.count_bad_frame(now)
                }
                None => {
                    self.take_request(frame, text.len(), now);
                    None
                }
            },
            Err(error) => {
                self.push_error(error.id.as_ref(), &error.to_body());
                (error.code() == ErrorCode::BadFrame)
                    .then(|| self.count_bad_frame(now))
                    .flatten()
            }
        }
    }

    fn count_bad_frame(&mut self, now: Instant) -> Option<Ending> {
        let is_too_many = self
            .bad_frames
            .add(now, self.hub.limits().bad_frames_per_minute);
        is_too_many.then_some(Ending::Close(CloseCode::BadFrames))
    }

    fn unreadable(&mut self, error: Error) -> Ending {
        match error {
            Error::Capacity(_) => {
                let limit = self.hub.limits().frame_bytes;
                let message = format!(
                    "a frame may be {limit} bytes long; larger run inputs go by HTTP: POST /agents/{{agent}}/run"
                );
                let error = ErrorBody::new(ErrorCode::TooLarge, message)
                    .with_details(json!({ "limit": limit }));
                self.push_error(None, &error);
                Ending::Close(CloseCode::TooLarge)
            }
            Error::Io(error) => Ending::Io(error),
            // Text that is no UTF-8, or bytes that are no frames: nothing after it can be read.
            Error::Protocol(_) | Error::Utf8(_) => {
                tracing::debug!(session = %Arc::clone(&self.state).connection, error = %error, "unreadable bytes");
                Ending::Close(CloseCode::BadFrames)
            }
            error => {
                tracing::debug!(session = %self.state.connection, error = %error, "reading failed");
                Ending::Gone
            }
        }
    }
}
