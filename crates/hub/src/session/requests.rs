//! What requests ask for: what needs no waiting is answered at once, the rest goes into its thread's lane.

use std::task::Context;

use futures::future::BoxFuture;
use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{CancelCommand, Command, ResumeCommand, RunCommand};
use threadcast_wire::answer::{Done, HelloAnswer};
use threadcast_wire::client_frame::{ClientFrame, ClientOp, OnBusy, RequestId};
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::hub_frame::write_ok;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::Session;
use super::answers::{Finished, carry_out, find, status};
use super::lanes::{Asked, InFlight, Request};
use crate::decisions::engine_error_body;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Takes a request of `bytes` bytes whose id is not in flight.
    pub(super) fn take_request(&mut self, frame: ClientFrame, bytes: usize, now: Instant) {
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
        if let Some(request) = self.requests.wait(&thread, Request { id, bytes, asked }) {
            self.begin(thread, request);
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
        let Request { id, bytes, asked } = request;
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
        self.requests.begin(InFlight {
            thread,
            id,
            bytes,
            work,
        });
    }

    /// Takes in what has ended, as far as there is room for answers, and begins what waited for it. An answer is made only
    /// then: what has not ended is no more than a request.
    pub(super) fn poll_requests(&mut self, cx: &mut Context<'_>) {
        while self.may_answer()
            && let Some((request, finished)) = self.requests.poll(cx)
        {
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
            while let Some(next) = self.requests.next_in_lane(&thread) {
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
