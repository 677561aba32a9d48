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

/// Most bytes of an error message that a record keeps; the log has all of it.
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

/// Where a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The seq of its terminal event; of `RUN_FINISHED` if a late `RUN_ERROR` followed.
    pub seq: Seq,
    pub at: Millis,
    /// Whether that event was RUN_ERROR.
    pub by_error: bool,
}

/// How a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: Option<Box<str>>,
    /// Its first kibibyte.
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

    /// Whether it ended in failure, so that its answers may be sent once more.
    pub fn has_failed(&self) -> bool {
        self.status == RunStatus::Error
    }

    pub(super) fn finish(&mut self, entry: &Entry, status: RunStatus) {
        self.status = status;
        self.ended = Some(Ended {
            seq: entry.seq,
            at: entry.record.at,
            by_error: false,
        });
    }

    /// Takes in a `RUN_ERROR`: the run's end, or a failure that came to light after it.
    pub(super) fn fail(&mut self, entry: &Entry, message: &str, code: Option<&str>) {
        let status = if self.cancel.is_some() && self.ended.is_none() {
            RunStatus::Cancelled
        } else {
            RunStatus::Error
        };
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
            code: code.map(Into::into),
            message: message[..message.floor_char_boundary(FAILURE_BYTES_MAX)].into(),
        });
    }
}
