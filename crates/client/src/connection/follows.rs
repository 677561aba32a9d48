//! The threads a client follows: which are subscribed, which are to be asked for, and when.

use std::collections::{HashMap, VecDeque};

use threadcast_agui::ids::ThreadId;
use threadcast_wire::client_frame::{ClientFrame, ClientOp, RequestId};
use threadcast_wire::hub_frame::HubFrame;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::backoff::{Backoff, Failures};
use crate::client::Options;
use crate::error::Error;
use crate::subscription::machine::{Machine, Step};
use crate::subscription::{Delivery, Feed};
use crate::update::Start;

mod endings;

/// `subscribe`s in flight; the hub stops reading at 32 requests, of which others need some.
const ASKED_MAX: usize = 16;

#[derive(Debug)]
pub(super) struct Follows {
    backoff: Backoff,
    joined_bytes: usize,
    threads: HashMap<ThreadId, Follow>,
    /// To be subscribed when a place is free; a thread may stand here that is not followed any
    /// more, or asked for already.
    due: VecDeque<ThreadId>,
    /// To be subscribed later, likewise: the hub cannot serve them for now.
    later: Vec<(Instant, ThreadId)>,
    asked: HashMap<RequestId, (ThreadId, Instant)>,
    /// Subscribed on this connection, and no longer to be.
    unwanted: Vec<ThreadId>,
}

#[derive(Debug)]
struct Follow {
    machine: Machine,
    feed: Feed,
    /// Refusals since the last entry.
    failures: Failures,
}

impl Follows {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            backoff: options.backoff,
            joined_bytes: options.joined_bytes,
            threads: HashMap::new(),
            due: VecDeque::new(),
            later: Vec::new(),
            asked: HashMap::new(),
            unwanted: Vec::new(),
        }
    }

    /// Follows a thread from now on, unless a reader follows it already.
    pub(super) fn add(&mut self, thread: ThreadId, start: Start, feed: Feed) -> bool {
        if self
            .threads
            .get(&thread)
            .is_some_and(|follow| follow.feed.has_reader())
        {
            return false;
        }
        let follow = Follow {
            machine: Machine::new(thread.clone(), start, self.joined_bytes),
            feed,
            failures: Failures::new(self.backoff),
        };
        self.threads.insert(thread.clone(), follow);
        self.due.push_back(thread);
        true
    }

    /// Forgets threads without a reader; gives them.
    pub(super) fn forget_unread(&mut self) -> Vec<ThreadId> {
        self.threads
            .extract_if(|_, follow| !follow.feed.has_reader())
            .map(|(thread, _)| thread)
            .collect()
    }

    pub(super) fn disconnect(&mut self) {
        self.asked.clear();
        self.later.clear();
        self.due.clear();
        self.unwanted.clear();
        for follow in self.threads.values_mut() {
            follow.machine.disconnect();
        }
        self.due.extend(self.threads.keys().cloned());
    }

    /// The threads that the hub is to be told nobody wants any more.
    pub(super) fn unwanted(&mut self) -> impl Iterator<Item = ThreadId> {
        self.unwanted.drain(..)
    }

    /// The next `subscribe` that may be sent now.
    pub(super) fn ask(
        &mut self,
        now: Instant,
        next_id: impl FnOnce() -> RequestId,
    ) -> Option<String> {
        if self.asked.len() >= ASKED_MAX {
            return None;
        }
        let (thread, follow) = loop {
            let thread = self.due.pop_front()?;
            if let Some(follow) = self.threads.get_mut(&thread)
                && follow.machine.is_offline()
            {
                break (thread, follow);
            }
        };
        let id = next_id();
        let start = follow.machine.ask(id.clone());
        self.asked.insert(id.clone(), (thread.clone(), now));
        Some(
            ClientFrame {
                id: Some(id),
                op: ClientOp::Subscribe { thread, start },
            }
            .write(),
        )
    }

    /// Takes one frame about `thread`; gives what to deliver to whom. `retry_at` says when to ask
    /// again for what the hub stopped serving for now.
    ///
    /// # Errors
    /// The connection is of no use any more.
    pub(super) fn frame(
        &mut self,
        thread: &ThreadId,
        frame: HubFrame,
        text: Utf8Bytes,
        retry_at: impl FnOnce(&mut Failures) -> Instant,
    ) -> Result<Option<(Feed, Delivery)>, Error> {
        if let HubFrame::Subscribed(subscribed) = &frame
            && let Some(id) = &subscribed.id
        {
            self.asked.remove(id);
        }
        let Some(follow) = self.threads.get_mut(thread) else {
            return Ok(None);
        };
        let (update, text) = match follow.machine.frame(frame) {
            Step::Ignored => return Ok(None),
            Step::Update(update) => (update, text),
            Step::Joined { update, frame } => (update, frame.into()),
            Step::Resubscribe { reason } => {
                tracing::warn!(%thread, reason, "subscription is out of order");
                self.due.push_back(thread.clone());
                return Ok(None);
            }
            Step::Retry(error) => {
                let at = retry_at(&mut follow.failures);
                tracing::debug!(%thread, %error, "subscription was ended for now");
                self.later.push((at, thread.clone()));
                return Ok(None);
            }
            Step::Broken(error) => return Err(error),
            Step::Ended(error) => {
                self.end(thread, error);
                return Ok(None);
            }
            Step::TooLarge(error) => {
                self.end(thread, error);
                self.unwanted.push(thread.clone());
                return Ok(None);
            }
        };
        if update.range().is_some() {
            follow.failures.reset();
        }
        let position = follow.machine.position().cloned();
        let delivery = Delivery::new(update, Some(text), position);
        Ok(Some((follow.feed.clone(), delivery)))
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.later.iter().map(|(at, _)| *at).min()
    }

    /// Makes those due whose time to be tried again has come.
    pub(super) fn retry(&mut self, now: Instant) {
        let due = self
            .later
            .extract_if(.., |(at, _)| *at <= now)
            .map(|(_, thread)| thread);
        self.due.extend(due);
    }

    /// Does not count the time since `since` as waiting for an answer.
    pub(super) fn excuse(&mut self, since: Instant, now: Instant) {
        for (_, asked) in self.asked.values_mut() {
            *asked += now.saturating_duration_since(since.max(*asked));
        }
    }

    /// When the oldest `subscribe` without an answer was sent.
    pub(super) fn oldest_asked(&self) -> Option<Instant> {
        self.asked.values().map(|(_, at)| *at).min()
    }
}
