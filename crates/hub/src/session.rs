//! One socket: reads requests, answers them, and sends what its subscriptions are behind.
//!
//! One future a socket, without a queue: it is polled when bytes came, when the socket takes bytes again, when an
//! answer is ready, when one of its threads advanced, or when time passed, and then does all there is to do.
//!
//! Invariant: while the socket is blocked nothing is held for it but the rest of one frame, at most one frame that is
//! being sent in parts, and answers: 16 KiB and one more.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use threadcast_thread_log::principal::Principal;
use threadcast_wire::close::CloseCode;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::hub_frame::{Welcome, write_draining, write_error, write_welcome};
use threadcast_wire::{SUBPROTOCOL, client_frame::RequestId};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::defaults::READ_BUFFER_BYTES;
use crate::frame::push_frame;
use crate::frame_stream::FrameStream;
use crate::hub::{Hub, Peer};
use crate::sessions::{SessionGuard, SessionState, reconnect_after_ms};
use crate::subscription::Subscriptions;

use heartbeat::{Beat, Death, Heartbeat};
use lanes::Requests;
use outbox::Outbox;
use pace::Pace;
use reader::BadFrames;

mod answers;
mod catch_up;
mod close;
mod heartbeat;
mod lanes;
mod outbox;
mod pace;
mod parts;
mod reader;
mod requests;
mod subscribe;
mod turn;
mod turns;
mod writer;

/// A WebSocket ping without payload, as a server sends it.
const PING: [u8; 2] = [0x89, 0];

/// Serves a socket until it ends.
pub(crate) async fn serve<S>(hub: Hub, socket: S, peer: Peer)
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let Peer {
        principal,
        early_bytes,
    } = peer;
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(0)
        .max_message_size(Some(hub.limits().frame_bytes))
        .max_frame_size(Some(hub.limits().frame_bytes));
    let stream = FrameStream::new(socket);
    let socket =
        WebSocketStream::from_partially_read(stream, early_bytes, Role::Server, Some(config)).await;
    let guard = hub.sessions().open();
    let mut session = Session::new(&hub, &guard, socket, principal);
    session.welcome();
    let ending = poll_fn(|cx| session.poll(cx)).await;
    tracing::debug!(session = %guard.state.connection, %ending, "session ended");
    session.subscriptions.clear();
    Box::pin(session.close(ending)).await;
}

struct Session<'a, S> {
    hub: &'a Hub,
    state: Arc<SessionState>,
    principal: Principal,
    socket: WebSocketStream<FrameStream<S>>,
    subscriptions: Subscriptions,
    outbox: Outbox,
    requests: Requests,
    bad_frames: BadFrames,
    heartbeat: Heartbeat,
    pace: Pace,
    timer: Pin<Box<Sleep>>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The client was told to reconnect elsewhere; what it had asked for is still answered.
    Draining,
}

/// Why a session ends.
#[derive(Debug, thiserror::Error)]
enum Ending {
    #[error("closed by the hub: {}", _0.reason())]
    Close(CloseCode),
    #[error("dead: {_0:?}")]
    Dead(Death),
    #[error("closed by the other side")]
    Gone,
    #[error("the socket failed: {_0}")]
    Io(io::Error),
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin + Send> Session<'a, S> {
    fn new(
        hub: &'a Hub,
        guard: &SessionGuard<'_>,
        socket: WebSocketStream<FrameStream<S>>,
        principal: Principal,
    ) -> Self {
        let now = Instant::now();
        let heartbeat = Heartbeat::new(hub.limits().heartbeat, now);
        let timer = Box::pin(sleep_until(heartbeat.deadline(hub.limits())));
        Self {
            hub,
            state: Arc::clone(&guard.state),
            principal,
            socket,
            subscriptions: Subscriptions::default(),
            outbox: Outbox::default(),
            requests: Requests::default(),
            bad_frames: BadFrames::new(now),
            heartbeat,
            pace: Pace::new(now),
            timer,
            phase: Phase::Open,
        }
    }

    /// All there is to do now, in the order of its priority.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        self.state.ready.register(cx.waker());
        let now = Instant::now();
        self.pace.tick(now);
        loop {
            // Answers that are ready make room for new requests, and end lanes that others wait in.
            self.poll_requests(cx);
            if let Poll::Ready(ending) = self.poll_read(cx, now) {
                return Poll::Ready(ending);
            }
            // What was just read may have an answer at once.
            self.poll_requests(cx);
            if self.pace.is_blocked() {
                self.poll_reading(cx, None);
            }
            if let Poll::Ready(ending) = self.poll_drain() {
                return Poll::Ready(ending);
            }
            match self.heartbeat.check(self.hub.limits(), now) {
                Beat::Wait => {}
                Beat::Ping => self.stream().push(|own| own.extend_from_slice(&PING)),
                Beat::Dead(death) => return Poll::Ready(Ending::Dead(death)),
            }
            self.take_ready();
            let has_unanswered = !self.may_answer();
            if let Err(error) = self.poll_write(cx, now) {
                return Poll::Ready(Ending::Io(error));
            }
            // Answering and reading go on if what was answered or written made room.
            let answers_on = has_unanswered && self.may_answer();
            let reads_on = self.heartbeat.is_paused() && self.may_read();
            if !answers_on && !reads_on {
                break;
            }
        }
        self.poll_timer(cx);
        self.count();
        Poll::Pending
    }

    /// Sees to it that the heartbeat is checked, and the next round begun, when it is due.
    fn poll_timer(&mut self, cx: &mut Context<'_>) {
        // A deadline that moved away is found out when the timer fires; only an earlier one has to be set.
        let heartbeat = self.heartbeat.deadline(self.hub.limits());
        let deadline = self
            .pace
            .deadline()
            .map_or(heartbeat, |round| heartbeat.min(round));
        if deadline < self.timer.deadline() || self.timer.is_elapsed() {
            self.timer.as_mut().reset(deadline);
        }
        if self.timer.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }

    /// Tells the client once that the node goes away, and ends when all it had asked for is answered.
    fn poll_drain(&mut self) -> Poll<Ending> {
        if self.state.is_draining() && self.phase == Phase::Open {
            self.phase = Phase::Draining;
            self.push_own(|out| write_draining(out, reconnect_after_ms()));
        }
        if self.phase == Phase::Draining && self.requests.is_empty() {
            return Poll::Ready(Ending::Close(CloseCode::Draining));
        }
        Poll::Pending
    }

    fn welcome(&mut self) {
        let limits = self.hub.limits();
        let welcome = Welcome {
            connection: self.state.connection.to_string(),
            protocol: SUBPROTOCOL.into(),
            node: self.hub.node().0.to_string(),
            heartbeat_ms: u64::try_from(limits.heartbeat.as_millis()).unwrap_or(u64::MAX),
            limits: limits.into(),
        };
        self.push_own(|out| write_welcome(out, &welcome));
    }

    fn stream(&mut self) -> &mut FrameStream<S> {
        self.socket.get_mut()
    }

    /// Queues a frame of the session's own.
    fn push_own(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.stream().push(|own| push_frame(own, write));
    }

    fn push_error(&mut self, id: Option<&RequestId>, error: &ErrorBody) {
        self.push_own(|out| write_error(out, id, error));
    }

    /// Puts the counters where others can read them.
    fn count(&mut self) {
        let held = self.stream().held_bytes() + self.outbox.held_bytes();
        self.state.held_bytes.store(held, Ordering::Relaxed);
        self.state
            .is_blocked
            .store(self.pace.is_blocked(), Ordering::Relaxed);
        self.state
            .subscriptions
            .store(self.subscriptions.count(), Ordering::Relaxed);
    }
}
