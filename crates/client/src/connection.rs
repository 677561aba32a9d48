//! The task behind a client: connects, serves one socket until it breaks, waits, connects again.
//!
//! It owns everything that changes: the requests without an answer and the followed threads. It
//! never holds back a command for long: while it connects or waits, commands are taken and
//! deadlines kept.
//!
//! Invariant: while an update waits for its reader ([`Connection::parked`]), nothing is read from
//! any socket.

use std::future::pending;
use std::sync::Arc;

use threadcast_agui::ids::ThreadId;
use threadcast_wire::client_frame::ClientOp;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::backoff::Failures;
use crate::client::Options;
use crate::error::{Cause, Error};
use crate::requests::{Deadline, Reply, Requests};
use crate::socket::{self, HubAddress};
use crate::subscription::{Delivery, Feed};
use crate::update::{Start, Update};

mod follows;
mod frames;
mod serve;
mod timers;

use follows::Follows;

/// What handles ask of the connection.
#[derive(Debug)]
pub(crate) enum Command {
    Request {
        op: ClientOp,
        deadline: Deadline,
        reply: Reply,
    },
    Subscribe {
        thread: ThreadId,
        start: Start,
        feed: Feed,
        reply: oneshot::Sender<Result<(), Error>>,
    },
}

/// What handles see of the connection.
#[derive(Debug)]
pub(crate) enum State {
    /// Not heard of the hub yet.
    Connecting,
    Connected,
    /// Will be tried again.
    Lost(Error),
    /// Will not.
    Ended(Error),
}

#[derive(Debug)]
pub(crate) struct Connection {
    address: HubAddress,
    options: Arc<Options>,
    commands: mpsc::Receiver<Command>,
    dropped: Arc<Notify>,
    state: watch::Sender<State>,
    requests: Requests,
    follows: Follows,
    /// An update whose reader has no room; survives the connection it came by.
    parked: Option<Parked>,
    failures: Failures,
    /// When the hub that went away wanted this client back.
    return_at: Option<Instant>,
}

/// An update that waits for its reader.
#[derive(Debug)]
struct Parked {
    feed: Feed,
    /// Taken when the reader has room.
    delivery: Option<Delivery>,
    since: Instant,
}

impl Connection {
    pub(crate) fn new(
        address: HubAddress,
        options: Arc<Options>,
        commands: mpsc::Receiver<Command>,
        dropped: Arc<Notify>,
        state: watch::Sender<State>,
    ) -> Self {
        let failures = Failures::new(options.backoff);
        let follows = Follows::new(&options);
        Self {
            address,
            options,
            commands,
            dropped,
            state,
            requests: Requests::default(),
            follows,
            parked: None,
            failures,
            return_at: None,
        }
    }

    /// Ends when no handle is left, or when the hub's close code forbids to come back.
    pub(crate) async fn run(mut self) {
        loop {
            let connecting = socket::connect(self.address.clone(), self.options.connect_timeout);
            let Some(connected) = self.meanwhile(connecting).await else {
                return;
            };
            let error = match connected {
                Ok((socket, welcome)) => self.serve(socket, &welcome).await,
                Err(error) => error,
            };
            self.follows.disconnect();
            let Some(wait) = self.wait_after(&error) else {
                return self.end(&error);
            };
            tracing::debug!(%error, wait_ms = wait.as_millis(), "connection lost");
            self.follows
                .tell_lost(self.parked.as_ref().map(|parked| &parked.feed), || {
                    Update::Lost {
                        error: error.clone(),
                        retry_in: wait,
                    }
                });
            self.state.send_replace(State::Lost(error));
            if self.meanwhile(tokio::time::sleep(wait)).await.is_none() {
                return;
            }
        }
    }

    fn end(&mut self, error: &Error) {
        self.state.send_replace(State::Ended(error.clone()));
        self.requests.fail(error);
        self.follows.end_all(error);
    }

    /// Does `work` without a socket, and what handles ask meanwhile; `None` when no handle is left.
    async fn meanwhile<F: Future>(&mut self, work: F) -> Option<F::Output> {
        tokio::pin!(work);
        loop {
            let deadline = self.requests.next_deadline();
            tokio::select! {
                biased;
                output = &mut work => return Some(output),
                command = self.commands.recv(), if self.requests.has_room() => {
                    let _sent_when_connected = self.take(command?);
                }
                () = self.dropped.notified() => {
                    let _nobody_to_tell = self.follows.forget_unread();
                }
                () = at(deadline) => self.expire(),
                () = deliver(&mut self.parked), if self.parked.is_some() => self.parked = None,
            }
        }
    }

    /// Takes a command; gives the frame to send, if it is one for now.
    fn take(&mut self, command: Command) -> Option<String> {
        match command {
            Command::Request {
                op,
                deadline,
                reply,
            } => self.requests.add(op, deadline, reply),
            Command::Subscribe {
                thread,
                start,
                feed,
                reply,
            } => {
                let taken = if self.follows.add(thread.clone(), start, feed) {
                    Ok(())
                } else {
                    Err(Cause::AlreadySubscribed { thread }.into())
                };
                let _caller_may_have_gone = reply.send(taken);
                None
            }
        }
    }
}

/// Cancel safe, as [`Feed::deliver`].
async fn deliver(parked: &mut Option<Parked>) {
    match parked {
        Some(parked) => parked.feed.deliver(&mut parked.delivery).await,
        None => pending().await,
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => pending().await,
    }
}
