//! The record of one run.

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;

use crate::agent_name::AgentName;
use crate::checkpoint::CheckpointError;
use crate::fingerprint::Fingerprint;
use crate::registry::{CancelRequest, Diverged, Ended, Failure, RunRecord, Took};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StoredRun {
    id: RunId,
    agent: AgentName,
    by: Principal,
    accepted: Seq,
    at: Millis,
    fingerprint: Fingerprint,
    status: RunStatus,
    #[serde(default, skip_serializing_if = "is_false")]
    is_dispatched: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    is_heard: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started: Option<Seq>,
    /// The first and the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    diverged: Option<(Seq, Seq)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancel: Option<StoredCancel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<StoredEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<StoredFailure>,
    #[serde(default, skip_serializing_if = "is_false")]
    in_doubt: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    took: Option<StoredTook>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<Fingerprint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inherits: Option<Seq>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCancel {
    by: Principal,
    at: Millis,
    seq: Seq,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredEnd {
    seq: Seq,
    at: Millis,
    #[serde(default, skip_serializing_if = "is_false")]
    by_error: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFailure {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<Box<str>>,
    message: Box<str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredTook {
    of: RunId,
    interrupts: Vec<InterruptId>,
}

impl StoredRun {
    pub(super) fn of(run: &RunRecord) -> Self {
        Self {
            id: run.id.clone(),
            agent: run.agent.clone(),
            by: run.by.clone(),
            accepted: run.accepted,
            at: run.at,
            fingerprint: run.fingerprint,
            status: run.status,
            is_dispatched: run.is_dispatched,
            is_heard: run.is_heard,
            started: run.started,
            diverged: run.diverged.map(|seqs| (seqs.first, seqs.last)),
            cancel: run.cancel.as_ref().map(|cancel| StoredCancel {
                by: cancel.by.clone(),
                at: cancel.at,
                seq: cancel.seq,
            }),
            ended: run.ended.map(|ended| StoredEnd {
                seq: ended.seq,
                at: ended.at,
                by_error: ended.by_error,
            }),
            failure: run.failure.as_ref().map(|failure| StoredFailure {
                code: failure.code.clone(),
                message: failure.message.clone(),
            }),
            in_doubt: run.in_doubt,
            took: run.took.as_ref().map(|took| StoredTook {
                of: took.of.clone(),
                interrupts: took.interrupts.clone(),
            }),
            answers: run.answers,
            inherits: run.inherits,
        }
    }

    /// All that it names lies at or before `head`.
    pub(super) fn read(self, head: Seq) -> Result<RunRecord, CheckpointError> {
        if let Some(beyond) = self.seqs().into_iter().flatten().find(|seq| *seq > head) {
            let problem =
                format_args!("run `{}` names entry {beyond}, its head is {head}", self.id);
            return Err(CheckpointError::unreadable(problem));
        }
        Ok(RunRecord {
            id: self.id,
            agent: self.agent,
            by: self.by,
            accepted: self.accepted,
            at: self.at,
            fingerprint: self.fingerprint,
            status: self.status,
            is_dispatched: self.is_dispatched,
            is_heard: self.is_heard,
            started: self.started,
            diverged: self.diverged.map(|(first, last)| Diverged { first, last }),
            cancel: self.cancel.map(|cancel| CancelRequest {
                by: cancel.by,
                at: cancel.at,
                seq: cancel.seq,
            }),
            ended: self.ended.map(|ended| Ended {
                seq: ended.seq,
                at: ended.at,
                by_error: ended.by_error,
            }),
            failure: self.failure.map(|failure| Failure {
                code: failure.code,
                message: failure.message,
            }),
            in_doubt: self.in_doubt,
            took: self.took.map(|took| Took {
                of: took.of,
                interrupts: took.interrupts,
            }),
            answers: self.answers,
            inherits: self.inherits,
        })
    }

    fn seqs(&self) -> [Option<Seq>; 7] {
        [
            Some(self.accepted),
            self.started,
            self.diverged.map(|(first, _)| first),
            self.diverged.map(|(_, last)| last),
            self.cancel.as_ref().map(|cancel| cancel.seq),
            self.ended.as_ref().map(|ended| ended.seq),
            self.inherits,
        ]
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
