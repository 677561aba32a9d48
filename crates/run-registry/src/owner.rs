//! The owner's side of a run: an agent's stream in, appends out.
//!
//! Without I/O: it is fed what the agent sends, and asked for the next append whenever none is
//! under way. It reads and judges each event, expands chunks, puts the hub's own input into
//! RUN_STARTED, closes what was left open before RUN_FINISHED, and ends the run when the agent does
//! not. It keeps no state of the thread: what depends on that (whether a patch applies, whether the
//! thread's messages become too large) is worked out against the fold when the append is made.
//!
//! ```text
//! feed, end ──▶ queue of groups ──next_append──▶ engine ──appended──▶ gone from the queue
//!                     ▲                             │
//!                     └────────── refused ──────────┘
//! ```
//!
//! Invariant: groups are numbered without a gap and leave the queue in order when the log has them,
//! so that an append whose outcome was unknown is never written twice; the group that ends the run
//! is its last.

use std::collections::VecDeque;

use threadcast_agui::event::RunStartedInput;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::json::RawJson;
use threadcast_thread_log::engine::Append;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::lease::LeaseToken;
use threadcast_thread_log::position::Seq;

use crate::ending::Ending;
use crate::fact::RunAccepted;
use crate::fold::Fold;
use crate::registry::Took;

mod ahead;
mod batch;
mod draft;
mod group;
mod late;
mod mending;
mod outcome;
mod start;
mod stream;

use group::Group;
pub use group::REPAIRED_LISTED_MAX;
use late::Late;
pub use late::TRAILING_MAX;
pub use mending::{LEFT_OPEN, MENDED_MAX};
pub use outcome::Retry;
use start::read_messages;
pub use start::{AgentPolicy, OwnerStart};
use stream::Stream;

/// Most events of one append.
pub const BATCH_EVENTS_MAX: usize = 256;

/// Most bytes of one append, but for a single event that is larger.
pub const BATCH_BYTES_MAX: usize = 256 << 10;

/// What became of a piece of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fed {
    /// The run goes on.
    Queued,
    /// The run's end is queued; what follows is late.
    Ended,
}

/// The owner of one run.
#[derive(Debug)]
pub struct Owner {
    thread: ThreadId,
    run: RunId,
    lease: LeaseToken,
    took: Option<Took>,
    stream: Stream,
    phase: Phase,
    queue: VecDeque<Group>,
    /// Bytes and events of the queue.
    queued_bytes: usize,
    queued_events: usize,
    /// The number of the latest group.
    newest: u64,
    /// The number of the latest group that the log is known to have.
    acknowledged: u64,
    in_flight: Option<InFlight>,
    late: Late,
    is_dispatched: bool,
    /// The latest time it was told.
    now: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The end is queued.
    Ending,
    /// The end is in the log.
    Ended {
        terminal: Seq,
    },
    Fenced,
}

/// The append that was asked for last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InFlight {
    /// Groups up to this number.
    Batch {
        to: u64,
        ends: bool,
    },
    LateError,
    Trailing {
        facts: usize,
    },
}

impl Owner {
    pub fn new(start: OwnerStart) -> Self {
        let OwnerStart {
            thread,
            accepted,
            lease,
            policy,
        } = start;
        let run = accepted.run_id;
        let input = RunStartedInput::new(&thread, &run, read_messages(accepted.messages.as_str()));
        Self {
            stream: Stream::new(thread.clone(), run.clone(), input, policy),
            thread,
            run,
            lease,
            took: accepted.resume.as_ref().map(Took::new),
            phase: Phase::Open,
            queue: VecDeque::new(),
            queued_bytes: 0,
            queued_events: 0,
            newest: 0,
            acknowledged: 0,
            in_flight: None,
            late: Late::new(policy),
            is_dispatched: false,
            now: Millis(0),
        }
    }

    /// The owner of an active run whose first owner could not begin or is gone: it has not read the
    /// agent's stream, so all it can do is [`end`](Self::end) the run. `None` for a run that has
    /// ended.
    ///
    /// `source` is the number of the latest group in the log; `messages` are those of the run's
    /// `run.accepted`, for a run that has not started.
    pub fn of_orphan(
        fold: &Fold,
        run: &RunId,
        lease: LeaseToken,
        source: u64,
        messages: RawJson,
    ) -> Option<Self> {
        let record = fold.registry().run(run)?;
        if record.ended.is_some() {
            return None;
        }
        let mut owner = Self::new(OwnerStart {
            thread: fold.thread().clone(),
            accepted: RunAccepted {
                by: record.by.clone(),
                run_id: run.clone(),
                agent: record.agent.clone(),
                messages,
                resume: None,
            },
            lease,
            policy: AgentPolicy::default(),
        });
        owner.took.clone_from(&record.took);
        owner.is_dispatched = record.is_dispatched;
        owner.stream.start_over(record.status);
        (owner.newest, owner.acknowledged) = (source, source);
        Some(owner)
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The append that says the agent may be reached from now on; to be durable before the first
    /// byte is sent.
    ///
    /// If its outcome is unknown, [`next_append`](Self::next_append) gives it again.
    pub fn dispatched(&mut self, fold: &Fold, now: Millis) -> Append {
        let fact = Group::dispatched(&self.run, now);
        self.is_dispatched = true;
        self.push(fact);
        self.next_append(fold, now).expect("a group is queued")
    }

    /// Takes one event's JSON from the agent's stream.
    pub fn feed(&mut self, data: &str, now: Millis) -> Fed {
        if self.phase != Phase::Open {
            self.late.take(data, &self.run, now);
            return Fed::Ended;
        }
        let taken = self.stream.take(data, now);
        let ends = taken.group.ends();
        self.push(taken.group);
        match taken.ending {
            Some(ending) => self.end(&ending, now),
            None if ends => self.phase = Phase::Ending,
            None => return Fed::Queued,
        }
        Fed::Ended
    }

    /// Ends the run for a reason that did not come through the stream; nothing happens if it has
    /// ended.
    pub fn end(&mut self, ending: &Ending, now: Millis) {
        if self.phase != Phase::Open {
            return;
        }
        let mut group = self.stream.end(ending, now);
        let is_untouched = match ending {
            Ending::Unreached { .. } => true,
            Ending::Abort => !self.is_dispatched,
            _ => false,
        };
        if let Some(took) = self.took.as_ref().filter(|_| is_untouched) {
            group.reopens = Some(took.clone());
        }
        self.push(group);
        self.phase = Phase::Ending;
    }

    fn push(&mut self, group: Group) {
        debug_assert!(
            !self.queue.back().is_some_and(Group::ends),
            "the end of a run is its last group"
        );
        if group.entries.is_empty() {
            return;
        }
        self.newest += 1;
        self.queued_bytes += group.bytes();
        self.queued_events += group.entries.len();
        self.queue.push_back(group);
    }

    /// Whether a whole batch waits: the agent is not to be read until the log took one.
    pub fn is_full(&self) -> bool {
        self.queued_events >= BATCH_EVENTS_MAX || self.queued_bytes >= BATCH_BYTES_MAX
    }

    /// Whether something waits for an append.
    pub fn has_work(&self) -> bool {
        match self.phase {
            Phase::Open | Phase::Ending => !self.queue.is_empty(),
            Phase::Ended { .. } => self.late.has_work(),
            Phase::Fenced => false,
        }
    }

    /// Whether the end of the run is in the log.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. })
    }
}
