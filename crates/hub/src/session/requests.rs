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
use threadcast_wire::answer::{Done, HelloAnswer};
use threadcast_wire::client_frame::{ClientFrame, ClientOp, OnBusy, RequestId, SubscribeStart};
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::hub_frame::write_ok;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::Session;
use super::answers::{Finished, carry_out, find, status};
use crate::decisions::engine_error_body;

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
    waiting: VecDeque<Request>,
}

/// A request for one thread.
struct Request {
    id: Option<RequestId>,
    asked: Asked,
}

enum Asked {
    Command(Command),
    /// Of a run, or of the thread.
    Status(Option<RunId>),
    Subscribe(SubscribeStart),
    Unsubscribe,
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
                .any(|lane| lane.waiting.iter().any(|request| is_it(&request.id)))
    }

    fn lane(&mut self, thread: &ThreadId) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.thread == *thread)
    }

    fn next_in_lane(&mut self, thread: &ThreadId) -> Option<Request> {
        let request = self.lane(thread)?.waiting.pop_front()?;
        self.waiting -= 1;
        Some(request)
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
        let ClientFrame { id, op } = frame;
        let (thread, asked) = match op {
            ClientOp::Cancel {
                thread,
                run,
                reason,
            } => (
                thread,
                Asked::Command(Command::Cancel(CancelCommand { run, reason })),
            ),
            ClientOp::Hello {
                heartbeat_ms,
                client,
            } => {
                tracing::debug!(session = %self.state.connection, client = %client.name, version = %client.version, "hello");
                return self.take_hello(id.as_ref(), heartbeat_ms, now);
            }
            ClientOp::Ping => return self.push_ok(id.as_ref(), &Done {}),
            ClientOp::Resume {
                thread,
                of,
                run,
                entries,
            } => (
                thread,
                Asked::Command(Command::Resume(ResumeCommand { of, run, entries })),
            ),
            ClientOp::Run {
                agent,
                input,
                on_busy: OnBusy::Reject,
            } => match AgentName::new(agent) {
                Ok(agent) => (
                    input.thread.clone(),
                    Asked::Command(Command::Run(RunCommand { agent, input })),
                ),
                Err(error) => {
                    let error = ErrorBody::new(ErrorCode::AgentUnknown, error.to_string());
                    return self.push_error(id.as_ref(), &error);
                }
            },
            ClientOp::Status { thread, run } => (thread, Asked::Status(run)),
            ClientOp::Subscribe { thread, start } => (thread, Asked::Subscribe(start)),
            ClientOp::Unsubscribe { thread } => (thread, Asked::Unsubscribe),
        };
        let request = Request { id, asked };
        match self.requests.lane(&thread) {
            Some(lane) => {
                lane.waiting.push_back(request);
                self.requests.waiting += 1;
            }
            None => self.begin(thread, request),
        }
    }

    fn take_hello(&mut self, id: Option<&RequestId>, asked_ms: Option<u64>, now: Instant) {
        let limits = self.hub.limits();
        let interval = asked_ms.map_or(limits.heartbeat, |asked| limits.heartbeat_for(asked));
        self.heartbeat.set_interval(interval, now);
        let heartbeat_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        self.push_ok(id, &HelloAnswer { heartbeat_ms });
    }

    /// Begins a request whose turn in its lane has come.
    fn begin(&mut self, thread: ThreadId, request: Request) {
        let Request { id, asked } = request;
        let hub = self.hub.clone();
        let work: BoxFuture<'static, Finished> = match asked {
            Asked::Command(command) => {
                let by = self.principal.clone();
                Box::pin(carry_out(hub, thread.clone(), by, command, id.clone()))
            }
            Asked::Status(run) => Box::pin(status(hub, thread.clone(), run, id.clone())),
            Asked::Subscribe(start) => Box::pin(find(hub, thread.clone(), start)),
            Asked::Unsubscribe => {
                self.unsubscribe(&thread);
                return self.push_ok(id.as_ref(), &Done {});
            }
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
