//! What is known of one run.

use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_thread_log::entry::{Entry, Millis, Origin};
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;

use crate::agent_name::AgentName;
use crate::ending::ErrorCode;
use crate::fact::AcceptedResume;
use crate::fingerprint::Fingerprint;

/// Most bytes of an error's message, and of its code, that a record keeps; the log has all of it.
pub const FAILURE_BYTES_MAX: usize = 1024;

/// One run; kept for the life of its thread.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    pub id: RunId,
    pub agent: AgentName,
    /// Who asked for it.
    pub by: Principal,
    /// The seq of its `run.accepted`.
    pub accepted: Seq,
    /// When it was accepted, by the hub's clock.
    pub at: Millis,
    /// Of what was submitted.
    pub fingerprint: Fingerprint,
    pub status: RunStatus,
    /// Whether the agent may have been reached.
    pub is_dispatched: bool,
    /// Whether the agent itself started it in the log.
    pub is_heard: bool,
    /// The seq of its `RUN_STARTED`.
    pub started: Option<Seq>,
    /// Where plain clients may have come to hold something else than the fold.
    pub diverged: Option<Diverged>,
    pub cancel: Option<CancelRequest>,
    pub ended: Option<Ended>,
    pub failure: Option<Failure>,
    /// Whether nobody knows what its agent did: the request was sent and no answer came.
    pub in_doubt: bool,
    /// The questions it answers.
    pub took: Option<Took>,
    /// Of what it answers them, by [`Fingerprint::of_answers`].
    pub answers: Option<Fingerprint>,
    /// The seq of the `run.accepted` whose tools and context it carries on, if its submission held
    /// answers alone.
    pub inherits: Option<Seq>,
}

/// Who wanted a run to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelRequest {
    pub by: Principal,
    pub at: Millis,
    pub seq: Seq,
}

/// The facts about patches of a run that were refused although AG-UI's reference client does them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// The seq of the first.
    pub first: Seq,
    /// The seq of the last.
    pub last: Seq,
}

impl Diverged {
    pub(super) fn note(diverged: &mut Option<Self>, seq: Seq) {
        diverged
            .get_or_insert(Self {
                first: seq,
                last: seq,
            })
            .last = seq;
    }
}

/// Where a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The seq of its terminal event; of `RUN_FINISHED` if a late `RUN_ERROR` followed.
    pub seq: Seq,
    pub at: Millis,
    /// Whether that event was RUN_ERROR.
    pub by_error: bool,
}

/// How a run failed: the first kibibyte of what the error says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: Option<Box<str>>,
    pub message: Box<str>,
}

/// The questions a run answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Took {
    /// The run that raised them.
    pub of: RunId,
    pub interrupts: Vec<InterruptId>,
}

impl Took {
    pub(crate) fn new(resume: &AcceptedResume) -> Self {
        Self {
            of: resume.of.clone(),
            interrupts: resume
                .entries
                .iter()
                .map(|entry| entry.interrupt_id.clone())
                .collect(),
        }
    }
}

impl RunRecord {
    /// The seq of the `run.accepted` whose submission holds the tools and context of this run.
    pub fn input(&self) -> Seq {
        self.inherits.unwrap_or(self.accepted)
    }

    /// Whether its agent may have been called: a run that began without being dispatched lost the
    /// entry that said so.
    pub fn may_have_been_called(&self) -> bool {
        self.is_dispatched || self.started.is_some()
    }

    /// Whether it ended in failure, so that its answers may be sent once more.
    pub fn has_failed(&self) -> bool {
        self.status == RunStatus::Error
    }

    /// Whether its terminal event stands at or before `seq`.
    pub fn has_ended_by(&self, seq: Seq) -> bool {
        self.ended.is_some_and(|ended| ended.seq <= seq)
    }

    /// Whether it ended by a RUN_FINISHED that says it was cancelled.
    pub fn has_finished_cancelled(&self) -> bool {
        self.status == RunStatus::Cancelled && self.ended.is_some_and(|ended| !ended.by_error)
    }

    pub(super) fn finish(&mut self, entry: &Entry, status: RunStatus) {
        self.status = status;
        self.ended = Some(Ended {
            seq: entry.seq,
            at: entry.record.at,
            by_error: false,
        });
    }

    /// What a `RUN_ERROR` makes of it: who stopped a run does not care how it came down.
    pub(crate) fn status_after_error(&self) -> RunStatus {
        let is_cancelled = match self.ended {
            None => self.cancel.is_some(),
            Some(_) => self.status == RunStatus::Cancelled,
        };
        if is_cancelled {
            RunStatus::Cancelled
        } else {
            RunStatus::Error
        }
    }

    /// Takes in a `RUN_ERROR`: the run's end, or a failure that came to light after it.
    pub(super) fn fail(&mut self, entry: &Entry, message: &str, code: Option<&str>) {
        let status = self.status_after_error();
        if self.ended.is_none() {
            let was_answered = self.is_heard || code.is_some_and(ErrorCode::means_answer);
            self.in_doubt =
                self.is_dispatched && entry.record.origin == Origin::Hub && !was_answered;
            self.ended = Some(Ended {
                seq: entry.seq,
                at: entry.record.at,
                by_error: true,
            });
        }
        self.status = status;
        self.failure = Some(Failure {
            code: code.map(|code| beginning(code).into()),
            message: beginning(message).into(),
        });
    }
}

/// What of an error's text a record keeps.
pub(crate) fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(FAILURE_BYTES_MAX)]
}
