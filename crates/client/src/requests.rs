//! Requests without an answer: their ids, deadlines and what to repeat on a new connection.
//!
//! Invariant: every request taken is answered exactly once, by the hub, its deadline, the bound on
//! frames or the end of the client.

use std::collections::BTreeMap;
use std::time::Duration;

use threadcast_wire::client_frame::{ClientFrame, ClientOp, RequestId};
use threadcast_wire::hub_frame::AnswerText;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::error::{Cause, Error};

/// The hub stops reading at 32 in flight; half of them stay for `subscribe`.
const IN_FLIGHT_MAX: usize = 16;

pub(crate) type Reply = oneshot::Sender<Result<AnswerText, Error>>;

#[derive(Debug, Default)]
pub(crate) struct Requests {
    last_id: i64,
    /// In the order they were made, which is kept when they are repeated.
    waiting: BTreeMap<i64, Waiting>,
    /// Longest frame the hub takes: a longer one would cost the connection. `None` before the first
    /// `welcome`.
    frame_bytes_max: Option<u64>,
}

/// When a request's time is over, and how much it had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    pub(crate) after: Duration,
}

#[derive(Debug)]
struct Waiting {
    op: ClientOp,
    deadline: Deadline,
    reply: Reply,
}

impl Requests {
    /// An id that no request of this client had before.
    pub(crate) fn next_id(&mut self) -> RequestId {
        self.last_id += 1;
        RequestId::Number(self.last_id)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < IN_FLIGHT_MAX
    }

    /// Keeps a request until its answer; gives its frame, unless the hub would not take it.
    pub(crate) fn add(&mut self, op: ClientOp, deadline: Deadline, reply: Reply) -> Option<String> {
        self.last_id += 1;
        let waiting = Waiting {
            op,
            deadline,
            reply,
        };
        self.offer(self.last_id, waiting)
    }

    /// The frames of all requests whose outcome is unknown, for a new connection to a hub that
    /// takes `frame_bytes_max`; forgets whom nobody waits for.
    pub(crate) fn repeat(&mut self, frame_bytes_max: u64) -> Vec<String> {
        self.frame_bytes_max = Some(frame_bytes_max);
        let asked = std::mem::take(&mut self.waiting).into_iter();
        asked
            .filter(|(_, waiting)| !waiting.reply.is_closed())
            .filter_map(|(id, waiting)| self.offer(id, waiting))
            .collect()
    }

    /// Keeps the request and gives its frame, or answers it: it is longer than the hub takes.
    fn offer(&mut self, id: i64, waiting: Waiting) -> Option<String> {
        let frame = frame(id, &waiting.op);
        let found = frame.len();
        match self.frame_bytes_max {
            Some(max) if found as u64 > max => {
                let what = waiting.op.name();
                let refusal = Cause::TooLarge { what, found, max };
                let _caller_may_have_gone = waiting.reply.send(Err(refusal.into()));
                None
            }
            _ => {
                self.waiting.insert(id, waiting);
                Some(frame)
            }
        }
    }

    /// Hands an answer to who waits for it; whether someone did.
    pub(crate) fn answer(&mut self, id: &RequestId, answer: Result<AnswerText, Error>) -> bool {
        let waiting = match id {
            RequestId::Number(id) => self.waiting.remove(id),
            RequestId::Text(_) => None,
        };
        let is_known = waiting.is_some();
        if let Some(waiting) = waiting {
            let _caller_may_have_gone = waiting.reply.send(answer);
        }
        is_known
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.waiting
            .values()
            .map(|waiting| waiting.deadline.at)
            .min()
    }

    /// Answers those whose time is over; `last` is why there is no connection, if there is none.
    pub(crate) fn expire(&mut self, now: Instant, last: Option<&Error>) {
        let over = |_: &i64, waiting: &mut Waiting| waiting.deadline.at <= now;
        for (_, waiting) in self.waiting.extract_if(.., over) {
            let after = waiting.deadline.after;
            let error = Cause::Timeout {
                what: waiting.op.name(),
                after,
                last: last.cloned(),
            };
            let _caller_may_have_gone = waiting.reply.send(Err(error.into()));
        }
    }

    /// Answers all: the client has ended.
    pub(crate) fn fail(&mut self, error: &Error) {
        for waiting in std::mem::take(&mut self.waiting).into_values() {
            let _caller_may_have_gone = waiting.reply.send(Err(error.clone()));
        }
    }
}

fn frame(id: i64, op: &ClientOp) -> String {
    ClientFrame {
        id: Some(RequestId::Number(id)),
        op: op.clone(),
    }
    .write()
}
