//! Whether a command is allowed, and what is appended if it is.
//!
//! A plain function over a fold: the same fold, command, verdicts and asking give the same
//! decision. Every decision is a conditional append; when it is refused, the caller folds what it
//! missed and decides again from the start.
//!
//! Invariant: of all who decide over one fold, exactly one append is admitted: each names the
//! `control` version.

use std::sync::Arc;

use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::{Interrupt, ResumeEntry};
use threadcast_agui::run_input::RunInput;
use threadcast_thread_log::engine::{Append, Durability, Guard};
use threadcast_thread_log::entry::{Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::lease::{LeaseChange, LeaseToken, NodeId};
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;

use crate::agent_name::AgentName;
use crate::fact::{AttemptId, Fact};
use crate::fold::Fold;
use crate::registry::RunRecord;
use crate::schema::PayloadError;
use crate::thread_record::StoredRecord;

mod cancel;
mod resume;
mod run;
mod verdicts;

pub use run::MESSAGES_BYTES_MAX;
pub use verdicts::{Unjudged, Verdicts};

/// Who asks, and all that a decision may not make up itself.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    pub by: &'a Principal,
    pub now: Millis,
    /// Random; one for each try to append.
    pub attempt: &'a AttemptId,
    /// Random; the lease of the run that a decision starts.
    pub lease: &'a LeaseToken,
    /// The node that owns a run that a decision starts.
    pub node: &'a NodeId,
    /// Random; the run that a cancellation of an interrupted run starts.
    pub fresh_run: &'a RunId,
}

/// What someone wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Cancel(CancelCommand),
    Resume(ResumeCommand),
    Run(RunCommand),
}

/// Stop a run.
#[derive(Clone, Debug, PartialEq)]
pub struct CancelCommand {
    pub run: RunId,
    pub reason: Option<String>,
}

/// Answer all open interrupts of run `of` and let run `run` take the answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumeCommand {
    pub of: RunId,
    pub run: RunId,
    pub entries: Vec<ResumeEntry>,
}

/// Start the run of `input`; its `resume` entries name interrupts of the latest interrupted run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCommand {
    pub agent: AgentName,
    pub input: RunInput,
}

/// What is done about a command that is allowed.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    Append(Box<Proposal>),
    /// Nothing is to be written: it was done before.
    Settled(Answer),
}

/// An append that makes a command happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    pub append: Append,
    /// The answer once it is appended.
    pub answer: Answer,
    /// The run to be started then, by whoever appended.
    pub starts: Option<RunId>,
}

/// The answer to a command that was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub run: RunId,
    pub status: RunStatus,
    /// Whether it had been done before.
    pub duplicate: bool,
}

impl Answer {
    fn known(run: &RunRecord) -> Self {
        Self {
            run: run.id.clone(),
            status: run.status,
            duplicate: true,
        }
    }
}

/// Why a command is not allowed; an outcome, not a failure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("interrupt `{interrupt}` of run `{of}` was answered otherwise by `{}`", by.id)]
    AlreadyResolved {
        of: RunId,
        interrupt: InterruptId,
        by: Principal,
        at: Millis,
        run: RunId,
    },
    #[error("run `{of}` asked through agent `{expected}`, its answers cannot go to `{found}`")]
    ForeignAgent {
        of: RunId,
        expected: AgentName,
        found: AgentName,
    },
    #[error("`{at}` cannot be held: {reason}")]
    InputInvalid { at: &'static str, reason: Box<str> },
    #[error("interrupt `{interrupt}` expired at {expires_at}, it can only be cancelled")]
    InterruptExpired {
        interrupt: InterruptId,
        expires_at: Box<str>,
    },
    #[error("the latest interrupted run of the thread did not raise interrupt `{interrupt}`")]
    InterruptUnknown { interrupt: InterruptId },
    #[error("run `{of}` waits for answers to {} interrupts", interrupts.len())]
    InterruptsOpen {
        of: RunId,
        interrupts: Vec<Interrupt>,
    },
    #[error("the payload for interrupt `{interrupt}` is not what it asks for")]
    PayloadInvalid {
        interrupt: InterruptId,
        errors: Vec<PayloadError>,
    },
    #[error("interrupt `{interrupt}` is answered twice in one request")]
    ResumeDuplicate { interrupt: InterruptId },
    #[error("{} interrupts are left without an answer", missing.len())]
    ResumeIncomplete { missing: Vec<InterruptId> },
    #[error("run `{run}` was submitted with another input before")]
    RunConflict { run: RunId },
    #[error("the thread has no run `{run}`")]
    RunUnknown { run: RunId },
    #[error("run `{run}` is active")]
    ThreadBusy { run: RunId },
    #[error("{what} has {found} bytes, at most {limit} are allowed")]
    TooLarge {
        what: &'static str,
        limit: usize,
        found: usize,
    },
}

/// Decides over `command`.
///
/// `verdicts` are what [`Verdicts::judge`] judged before; a payload that [`Verdicts::unjudged`]
/// would still name is judged here.
///
/// # Errors
/// The first reason against it.
pub fn decide(
    fold: &Fold,
    command: &Command,
    verdicts: &Verdicts,
    asking: &Asking<'_>,
) -> Result<Decision, Refusal> {
    match command {
        Command::Cancel(command) => cancel::decide(fold, command, asking),
        Command::Resume(command) => resume::decide(fold, command, verdicts, asking),
        Command::Run(command) => run::decide(fold, command, verdicts, asking),
    }
}

/// Entries of one decision, in order.
#[derive(Debug)]
struct Draft<'a> {
    fold: &'a Fold,
    asking: &'a Asking<'a>,
    guard: Guard,
    entries: Vec<NewEntry>,
}

impl<'a> Draft<'a> {
    fn new(fold: &'a Fold, asking: &'a Asking<'a>) -> Self {
        let guard = Guard {
            lease: None,
            control: Some(fold.versions().control),
            state: None,
        };
        Self {
            fold,
            asking,
            guard,
            entries: Vec::new(),
        }
    }

    fn push(&mut self, class: Class, run: &RunId, fact: &Fact) {
        self.entries.push(NewEntry {
            class,
            record: Arc::new(Record {
                at: self.asking.now,
                run: Some(run.clone()),
                origin: Origin::Principal(self.asking.by.clone()),
                body: fact.to_body(),
            }),
        });
    }

    /// The append; `record` describes the thread after it.
    fn into_append(self, lease: LeaseChange, may_create: bool, record: StoredRecord) -> Append {
        let record = record.at(self.fold, self.entries.len());
        Append {
            thread: self.fold.thread().clone(),
            known: self.fold.position().clone(),
            may_create,
            guard: self.guard,
            lease,
            source: None,
            entries: self.entries,
            record: Some(record.to_bytes()),
            durability: Durability::Durable,
        }
    }
}
