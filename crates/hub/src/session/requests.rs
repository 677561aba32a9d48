//! Requests in flight: those for one thread one after the other, answers in the order in which they are ready.
//!
//! Invariant: a thread has a lane exactly while one of its requests is in flight; the others wait in it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{CancelCommand, Command, ResumeCommand, RunCommand};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Position, PositionVerdict};
use threadcast_thread_log::run_status::RunStatus;
use threadcast_wire::answer::{Done, HelloAnswer, RunAnswer, ThreadAnswer};
use threadcast_wire::client_frame::{ClientFrame, ClientOp, RequestId, SubscribeStart};
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::hub_frame::{write_error, write_ok};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::Session;
use crate::decisions::engine_error_body;
use crate::frame::push_frame;
use crate::hub::Hub;
use crate::live_thread::LiveThread;
use crate::view;

#[derive(Default)]
pub(super) struct Requests {
    in_flight: Vec<InFlight>,
    lanes: Vec<Lane>,
    waiting: usize,
}

struct InFlight {
    thread: ThreadId,
    id: Option<RequestId>,
    work: BoxFuture<'static, Finished>,
}

struct Lane {
    thread: ThreadId,
    waiting: VecDeque<ClientFrame>,
}

/// What came of a request that had to wait for something.
enum Finished {
    /// Complete frames, or none.
    Answer(Vec<u8>),
    Subscribe {
        start: SubscribeStart,
        found: Result<Found, EngineError>,
    },
}

/// The thread that is to be subscribed.
pub(super) struct Found {
    pub(super) live: LiveThread,
    /// What the position is worth, if one was given.
    pub(super) verdict: Option<PositionVerdict>,
}

impl Requests {
    /// Requests without an answer yet.
    pub(super) fn count(&self) -> usize {
        self.in_flight.len() + self.waiting
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    pub(super) fn has(&self, id: &RequestId) -> bool {
        let is_it = |other: &Option<RequestId>| other.as_ref() == Some(id);
        self.in_flight.iter().any(|request| is_it(&request.id))
            || self
                .lanes
                .iter()
                .any(|lane| lane.waiting.iter().any(|frame| is_it(&frame.id)))
    }

    fn lane(&mut self, thread: &ThreadId) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.thread == *thread)
    }

    fn next_in_lane(&mut self, thread: &ThreadId) -> Option<ClientFrame> {
        let frame = self.lane(thread)?.waiting.pop_front()?;
        self.waiting -= 1;
        Some(frame)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Option<(InFlight, Finished)> {
        let finished = self
            .in_flight
            .iter_mut()
            .enumerate()
            .find_map(|(at, request)| match Pin::new(&mut request.work).poll(cx) {
                Poll::Ready(finished) => Some((at, finished)),
                Poll::Pending => None,
            });
        finished.map(|(at, finished)| (self.in_flight.remove(at), finished))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Takes a request whose id is not in flight.
    pub(super) fn take_request(&mut self, frame: ClientFrame, now: Instant) {
        let thread = match &frame.op {
            ClientOp::Hello {
                heartbeat_ms,
                client,
            } => {
                tracing::debug!(session = %self.state.connection, client = %client.name, version = %client.version, "hello");
                let limits = self.hub.limits();
                let interval =
                    heartbeat_ms.map_or(limits.heartbeat, |asked| limits.heartbeat_for(asked));
                self.heartbeat.set_interval(interval, now);
                let heartbeat_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
                return self.push_ok(frame.id.as_ref(), &HelloAnswer { heartbeat_ms });
            }
            ClientOp::Ping => return self.push_ok(frame.id.as_ref(), &Done {}),
            ClientOp::Run { input, .. } => &input.thread,
            ClientOp::Cancel { thread, .. }
            | ClientOp::Resume { thread, .. }
            | ClientOp::Status { thread, .. }
            | ClientOp::Subscribe { thread, .. }
            | ClientOp::Unsubscribe { thread } => thread,
        };
        let thread = thread.clone();
        match self.requests.lane(&thread) {
            Some(lane) => {
                lane.waiting.push_back(frame);
                self.requests.waiting += 1;
            }
            None => self.begin(thread, frame),
        }
    }

    /// Begins a request whose turn in its lane has come.
    fn begin(&mut self, thread: ThreadId, frame: ClientFrame) {
        let ClientFrame { id, op } = frame;
        if matches!(op, ClientOp::Unsubscribe { .. }) {
            self.unsubscribe(&thread);
            return self.push_ok(id.as_ref(), &Done {});
        }
        let hub = self.hub.clone();
        let work: BoxFuture<'static, Finished> = match op {
            ClientOp::Subscribe { start, .. } => Box::pin(find(hub, thread.clone(), start)),
            ClientOp::Status { run, .. } => Box::pin(status(hub, thread.clone(), run, id.clone())),
            op => match command(op) {
                Ok(command) => {
                    let by = self.principal.clone();
                    Box::pin(carry_out(hub, thread.clone(), by, command, id.clone()))
                }
                Err(error) => return self.push_error(id.as_ref(), &error),
            },
        };
        if self.requests.lane(&thread).is_none() {
            self.requests.lanes.push(Lane {
                thread: thread.clone(),
                waiting: VecDeque::new(),
            });
        }
        self.requests.in_flight.push(InFlight { thread, id, work });
    }

    /// Takes in what has ended, and begins what waited for it.
    pub(super) fn poll_requests(&mut self, cx: &mut Context<'_>) {
        while let Some((request, finished)) = self.requests.poll(cx) {
            let InFlight { thread, id, .. } = request;
            match finished {
                Finished::Answer(frames) => {
                    self.stream().push(|own| own.extend_from_slice(&frames))
                }
                Finished::Subscribe {
                    start,
                    found: Ok(found),
                } => self.subscribe(id, &start, found),
                Finished::Subscribe {
                    found: Err(error), ..
                } => {
                    self.push_error(id.as_ref(), &engine_error_body(&error));
                }
            }
            while !self
                .requests
                .in_flight
                .iter()
                .any(|request| request.thread == thread)
            {
                let Some(next) = self.requests.next_in_lane(&thread) else {
                    self.requests.lanes.retain(|lane| lane.thread != thread);
                    break;
                };
                self.begin(thread.clone(), next);
            }
        }
    }

    pub(super) fn push_ok(&mut self, id: Option<&RequestId>, answer: &impl serde::Serialize) {
        if let Some(id) = id {
            self.push_own(|out| write_ok(out, id, answer));
        }
    }
}

async fn find(hub: Hub, thread: ThreadId, start: SubscribeStart) -> Finished {
    let found = async {
        let live = hub.live(&thread).await?;
        let verdict = match &start {
            SubscribeStart::Position(position) => Some(live.verdict(position).await?),
            SubscribeStart::Keep
            | SubscribeStart::Log
            | SubscribeStart::Snapshot
            | SubscribeStart::Tail => None,
        };
        Ok(Found { live, verdict })
    };
    let found = found.await;
    Finished::Subscribe { start, found }
}

async fn status(hub: Hub, thread: ThreadId, run: Option<RunId>, id: Option<RequestId>) -> Finished {
    let answer = hub.live(&thread).await.map(|live| {
        live.with_fold(|fold| {
            let Position { epoch, seq } = fold.position().clone();
            match run {
                Some(run) => {
                    let found = view::run_view(fold, &run);
                    let status = found.as_ref().map_or(RunStatus::Unknown, |run| run.status);
                    ok(
                        id.as_ref(),
                        &RunAnswer {
                            thread,
                            id: run,
                            epoch,
                            seq,
                            status,
                            run: found,
                        },
                    )
                }
                None => {
                    let view = view::thread_view(fold);
                    ok(
                        id.as_ref(),
                        &ThreadAnswer {
                            id: thread,
                            epoch,
                            seq,
                            status: view.status,
                            thread: view,
                        },
                    )
                }
            }
        })
    });
    Finished::Answer(
        answer.unwrap_or_else(|failure| error(id.as_ref(), &engine_error_body(&failure))),
    )
}

async fn carry_out(
    hub: Hub,
    thread: ThreadId,
    by: threadcast_thread_log::principal::Principal,
    command: Command,
    id: Option<RequestId>,
) -> Finished {
    Finished::Answer(match hub.command(thread, &by, command).await {
        Ok(answer) => ok(id.as_ref(), &answer),
        Err(refused) => error(id.as_ref(), &refused.to_body()),
    })
}

fn ok(id: Option<&RequestId>, answer: &impl serde::Serialize) -> Vec<u8> {
    let mut frame = Vec::new();
    if let Some(id) = id {
        push_frame(&mut frame, |out| write_ok(out, id, answer));
    }
    frame
}

fn error(id: Option<&RequestId>, error: &ErrorBody) -> Vec<u8> {
    let mut frame = Vec::new();
    push_frame(&mut frame, |out| write_error(out, id, error));
    frame
}

/// The command of an op that is one.
fn command(op: ClientOp) -> Result<Command, ErrorBody> {
    Ok(match op {
        ClientOp::Cancel { run, reason, .. } => Command::Cancel(CancelCommand { run, reason }),
        ClientOp::Resume {
            of, run, entries, ..
        } => Command::Resume(ResumeCommand { of, run, entries }),
        ClientOp::Run { agent, input, .. } => {
            let agent = AgentName::new(agent)
                .map_err(|error| ErrorBody::new(ErrorCode::AgentUnknown, error.to_string()))?;
            Command::Run(RunCommand { agent, input })
        }
        ClientOp::Hello { .. }
        | ClientOp::Ping
        | ClientOp::Status { .. }
        | ClientOp::Subscribe { .. }
        | ClientOp::Unsubscribe { .. } => unreachable!("handled before"),
    })
}
