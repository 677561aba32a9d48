//! The client: a cheap handle on one connection, which is made again by itself whenever it breaks.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::run_input::RunInput;
use threadcast_wire::answer::{CommandAnswer, Done, RunAnswer, ThreadAnswer};
use threadcast_wire::client_frame::{ClientName, ClientOp, OnBusy};
use threadcast_wire::hub_frame::AnswerText;
use threadcast_wire::limits::JOINED_BYTES_MAX;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::connection::{Command, Connection, State};
use crate::error::{Cause, Disconnect, Error};
use crate::requests::Deadline;
use crate::socket::HubAddress;
use crate::subscription::{self, Subscription};
use crate::update::Start;

/// How a client behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who connects, for the hub's log; default `threadcast-client` and its version.
    pub client: ClientName,
    /// Waits between connection attempts.
    pub backoff: Backoff,
    /// From the first packet to the hub's `welcome`; default 10 s.
    pub connect_timeout: Duration,
    /// How long a request may take, breaks of the connection included; default 30 s.
    pub request_timeout: Duration,
    /// How long the socket may take no byte before it is given up; default 120 s.
    pub write_timeout: Duration,
    /// Heartbeat to ask for; the hub's own by default.
    pub heartbeat: Option<Duration>,
    /// Bytes of frames that may wait for the reader of one subscription; default 1 MiB.
    pub subscription_bytes: usize,
    /// Longest frame that is put together from parts, in bytes; a subscription that needs a longer
    /// one ends with `too_large`. Default 80 MiB.
    pub joined_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client: ClientName {
                name: env!("CARGO_PKG_NAME").to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            backoff: Backoff::default(),
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(120),
            heartbeat: None,
            subscription_bytes: 1 << 20,
            joined_bytes: JOINED_BYTES_MAX,
        }
    }
}

/// Commands that wait for the connection to take them; when full, callers wait (within their
/// timeout).
const COMMANDS_MAX: usize = 32;

/// A handle on one connection; copies share it. The connection ends with the last handle and
/// subscription.
///
/// Requests and subscriptions outlive breaks: the client connects again with jitter, subscribes
/// from its positions and repeats what has no answer. That is safe, since the hub knows a `run`,
/// `resume` or `cancel` by its run id.
#[derive(Clone, Debug)]
pub struct Client {
    commands: mpsc::Sender<Command>,
    dropped: Arc<Notify>,
    state: watch::Receiver<State>,
    options: Arc<Options>,
}

impl Client {
    /// Connects to a hub, for example `ws://127.0.0.1:7878/ws`, and waits for its `welcome`.
    ///
    /// # Errors
    /// The URL is not usable (`bad_url`, `unsupported`), or the first attempt failed
    /// (`disconnected`, `handshake`, `closed`, `protocol`, `timeout`). Later failures are tried
    /// again without end, except those the hub's close code forbids.
    pub async fn connect(url: &str, options: Options) -> Result<Self, Error> {
        let mut client = Self::connect_in_background(url, options)?;
        client
            .state
            .wait_for(|state| !matches!(state, State::Connecting))
            .await
            .map_err(|_| Disconnect::Unused)?;
        match &*client.state.borrow() {
            State::Connected | State::Connecting => {}
            State::Ended(error) | State::Lost(error) => return Err(error.clone()),
        }
        Ok(client)
    }

    /// The same without waiting: the first attempt is tried again like any other.
    ///
    /// # Errors
    /// The URL is not usable (`bad_url`, `unsupported`).
    ///
    /// # Panics
    /// Called outside a tokio runtime.
    pub fn connect_in_background(url: &str, options: Options) -> Result<Self, Error> {
        let address = HubAddress::parse(url)?;
        let options = Arc::new(options);
        let (commands, received) = mpsc::channel(COMMANDS_MAX);
        let (told, state) = watch::channel(State::Connecting);
        let dropped = Arc::new(Notify::new());
        let connection = Connection::new(address, options.clone(), received, dropped.clone(), told);
        tokio::spawn(connection.run());
        Ok(Self {
            commands,
            dropped,
            state,
            options,
        })
    }

    /// Starts a run of `agent`. The answer comes when the run is accepted; its events come by
    /// subscription.
    ///
    /// # Errors
    /// As the hub says; `too_large`, also said without asking the hub: longer inputs go by HTTP;
    /// `timeout`; `disconnected` when the client has ended.
    pub async fn run(
        &self,
        agent: impl Into<String>,
        input: RunInput,
    ) -> Result<CommandAnswer, Error> {
        self.ask(ClientOp::Run {
            agent: agent.into(),
            input,
            on_busy: OnBusy::Reject,
        })
        .await
    }

    /// Answers all open interrupts of the run `of` and starts the run `run`, which takes them.
    ///
    /// # Errors
    /// As the hub says, for example `already_resolved`; `too_large`, also said without asking the
    /// hub; `timeout`; `disconnected` when the client has ended.
    pub async fn resume(
        &self,
        thread: ThreadId,
        of: RunId,
        run: RunId,
        entries: Vec<ResumeEntry>,
    ) -> Result<CommandAnswer, Error> {
        self.ask(ClientOp::Resume {
            thread,
            of,
            run,
            entries,
        })
        .await
    }

    /// Asks a run to stop. The answer comes when the request is durable, the end in the log.
    ///
    /// # Errors
    /// As the hub says; `timeout`; `disconnected` when the client has ended.
    pub async fn cancel(
        &self,
        thread: ThreadId,
        run: RunId,
        reason: Option<String>,
    ) -> Result<CommandAnswer, Error> {
        self.ask(ClientOp::Cancel {
            thread,
            run,
            reason,
        })
        .await
    }

    /// What the hub knows of a thread.
    ///
    /// # Errors
    /// As the hub says; `timeout`; `disconnected` when the client has ended.
    pub async fn thread_status(&self, thread: ThreadId) -> Result<ThreadAnswer, Error> {
        self.ask(ClientOp::Status { thread, run: None }).await
    }

    /// What the hub knows of a run.
    ///
    /// # Errors
    /// As the hub says; `timeout`; `disconnected` when the client has ended.
    pub async fn run_status(&self, thread: ThreadId, run: RunId) -> Result<RunAnswer, Error> {
        self.ask(ClientOp::Status {
            thread,
            run: Some(run),
        })
        .await
    }

    /// Asks the hub for a sign of life.
    ///
    /// # Errors
    /// `timeout`; `disconnected` when the client has ended.
    pub async fn ping(&self) -> Result<(), Error> {
        self.ask::<Done>(ClientOp::Ping).await.map(|Done {}| ())
    }

    /// Follows a thread. One subscription a thread and client; copies of the client count as one.
    ///
    /// Returns at once; whether the hub serves it is told by the subscription's first update.
    ///
    /// # Errors
    /// `already_subscribed`; `disconnected` when the client has ended.
    pub async fn subscribe(&self, thread: ThreadId, start: Start) -> Result<Subscription, Error> {
        let (reply, answer) = oneshot::channel();
        let bytes = self.options.subscription_bytes;
        let (feed, subscription) = subscription::subscription(
            thread.clone(),
            bytes,
            self.commands.clone(),
            self.dropped.clone(),
        );
        let command = Command::Subscribe {
            thread,
            start,
            feed,
            reply,
        };
        self.commands
            .send(command)
            .await
            .map_err(|_| self.ended())?;
        answer.await.map_err(|_| self.ended())??;
        Ok(subscription)
    }

    async fn ask<T: DeserializeOwned>(&self, op: ClientOp) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let after = self.options.request_timeout;
        let deadline = Deadline {
            at: Instant::now() + after,
            after,
        };
        let what = op.name();
        let send = self.commands.send(Command::Request {
            op,
            deadline,
            reply,
        });
        // Only the way to the connection is timed here: it keeps the deadline of what it has taken.
        match tokio::time::timeout_at(deadline.at, send).await {
            Ok(sent) => sent.map_err(|_| self.ended())?,
            Err(_) => {
                return Err(Cause::Timeout {
                    what,
                    after,
                    last: None,
                }
                .into());
            }
        }
        let answer: AnswerText = answer.await.map_err(|_| self.ended())??;
        answer.read().map_err(|error| {
            Cause::Protocol(format!("the answer to `{what}` is none: {error}")).into()
        })
    }

    /// Why the connection takes no more commands.
    fn ended(&self) -> Error {
        match &*self.state.borrow() {
            State::Ended(error) => error.clone(),
            State::Connected | State::Connecting | State::Lost(_) => Disconnect::Unused.into(),
        }
    }
}
