//! Requests in flight: those for one thread one after the other, answers in the order in which they are ready.
//!
//! Invariant: a thread has a lane exactly while one of its requests is in flight; the others wait in it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::decide::Command;
use threadcast_wire::client_frame::{RequestId, SubscribeStart};

use super::answers::Finished;

#[derive(Default)]
pub(super) struct Requests {
    in_flight: Vec<InFlight>,
    lanes: Vec<Lane>,
    waiting: usize,
    bytes: usize,
}

pub(super) struct InFlight {
    pub(super) thread: ThreadId,
    pub(super) id: Option<RequestId>,
    /// How long the request was.
    pub(super) bytes: usize,
    pub(super) work: BoxFuture<'static, Finished>,
}

struct Lane {
    thread: ThreadId,
    waiting: VecDeque<Request>,
}

/// A request for one thread.
pub(super) struct Request {
    pub(super) id: Option<RequestId>,
    pub(super) bytes: usize,
    pub(super) asked: Asked,
}

pub(super) enum Asked {
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

    /// How long they were, all together.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
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

    /// Lets a request wait for those before it; gives it back if there are none.
    pub(super) fn wait(&mut self, thread: &ThreadId, request: Request) -> Option<Request> {
        let Some(lane) = self.lane(thread) else {
            return Some(request);
        };
        let bytes = request.bytes;
        lane.waiting.push_back(request);
        self.waiting += 1;
        self.bytes += bytes;
        None
    }

    /// Begins a request whose turn in its lane has come.
    pub(super) fn begin(&mut self, request: InFlight) {
        if self.lane(&request.thread).is_none() {
            self.lanes.push(Lane {
                thread: request.thread.clone(),
                waiting: VecDeque::new(),
            });
        }
        self.bytes += request.bytes;
        self.in_flight.push(request);
    }

    /// The request whose turn has come, if none of this thread is in flight; the lane ends with the last.
    pub(super) fn next_in_lane(&mut self, thread: &ThreadId) -> Option<Request> {
        if self
            .in_flight
            .iter()
            .any(|request| request.thread == *thread)
        {
            return None;
        }
        let next = self.lane(thread)?.waiting.pop_front();
        match &next {
            Some(request) => {
                self.waiting -= 1;
                self.bytes -= request.bytes;
            }
            None => self.lanes.retain(|lane| lane.thread != *thread),
        }
        next
    }

    /// One that has ended, and what came of it.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Option<(InFlight, Finished)> {
        let finished = self
            .in_flight
            .iter_mut()
            .enumerate()
            .find_map(|(at, request)| match Pin::new(&mut request.work).poll(cx) {
                Poll::Ready(finished) => Some((at, finished)),
                Poll::Pending => None,
            });
        finished.map(|(at, finished)| {
            let request = self.in_flight.remove(at);
            self.bytes -= request.bytes;
            (request, finished)
        })
    }

    fn lane(&mut self, thread: &ThreadId) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.thread == *thread)
    }
}
