//! Why a command did not happen, and how that is told: the same on the socket and over HTTP.

use serde_json::{Value, json};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::Refusal;
use threadcast_thread_log::error::EngineError;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use tokio::task::JoinError;

/// Why a command did not happen.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("no agent `{agent}` is configured")]
    AgentUnknown { agent: AgentName },
    /// The engine failed; the command may have happened. The same command again is safe.
    #[error("the log store failed")]
    Engine(#[from] EngineError),
    #[error("others were faster {tries} times")]
    Overloaded { tries: u32 },
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The task that carried the command was ended, because the program is stopping, or failed.
    #[error("the command was not carried to its end")]
    Lost(#[from] JoinError),
}

impl CommandError {
    /// What the one who asked is told, on the socket and over HTTP.
    pub fn to_body(&self) -> ErrorBody {
        match self {
            Self::AgentUnknown { .. } => ErrorBody::new(ErrorCode::AgentUnknown, self.to_string()),
            Self::Engine(error) => engine_error_body(error),
            Self::Overloaded { .. } => ErrorBody::new(ErrorCode::Overloaded, self.to_string()),
            Self::Refused(refusal) => refusal_body(refusal),
            Self::Lost(error) => {
                let code = if error.is_panic() {
                    ErrorCode::Internal
                } else {
                    ErrorCode::Unavailable
                };
                ErrorBody::new(code, self.to_string())
            }
        }
    }
}

/// What is told when the engine failed; the operator gets the cause.
pub fn engine_error_body(error: &EngineError) -> ErrorBody {
    tracing::warn!(error = %error, cause = ?std::error::Error::source(error), "the engine failed");
    let code = match error {
        EngineError::Unavailable(_) => ErrorCode::Unavailable,
        EngineError::Corrupt { .. }
        | EngineError::NoCheckpoint { .. }
        | EngineError::RecordTooLong { .. } => ErrorCode::Internal,
    };
    ErrorBody::new(code, error.to_string())
}

fn refusal_body(refusal: &Refusal) -> ErrorBody {
    let (code, details) = match refusal {
        Refusal::AlreadyResolved { by, at, run, .. } => (
            ErrorCode::AlreadyResolved,
            json!({ "by": by, "at": at, "runId": run }),
        ),
        Refusal::ForeignAgent { .. } => (ErrorCode::Forbidden, Value::Null),
        Refusal::InputInvalid { .. } => (ErrorCode::BadFrame, Value::Null),
        Refusal::InterruptExpired {
            interrupt,
            expires_at,
        } => (
            ErrorCode::InterruptExpired,
            json!({ "interruptId": interrupt, "expiresAt": expires_at }),
        ),
        Refusal::InterruptUnknown { interrupt } => (
            ErrorCode::InterruptUnknown,
            json!({ "interruptId": interrupt }),
        ),
        Refusal::InterruptsOpen { of, interrupts } => {
            let objects: Vec<_> = interrupts.iter().map(|interrupt| &interrupt.json).collect();
            (
                ErrorCode::InterruptsOpen,
                json!({ "of": of, "interrupts": objects }),
            )
        }
        Refusal::PayloadInvalid { interrupt, errors } => {
            let errors: Vec<_> = errors
                .iter()
                .map(|error| json!({ "path": error.path, "message": error.message }))
                .collect();
            (
                ErrorCode::PayloadInvalid,
                json!({ "interruptId": interrupt, "errors": errors }),
            )
        }
        Refusal::ResumeDuplicate { interrupt } => (
            ErrorCode::ResumeDuplicate,
            json!({ "interruptId": interrupt }),
        ),
        Refusal::ResumeIncomplete { missing } => {
            (ErrorCode::ResumeIncomplete, json!({ "missing": missing }))
        }
        Refusal::RunConflict { run } => (ErrorCode::RunConflict, json!({ "runId": run })),
        Refusal::RunUnknown { .. } => (ErrorCode::NotFound, Value::Null),
        Refusal::ThreadBusy { run } => (ErrorCode::ThreadBusy, json!({ "runId": run })),
        Refusal::TooLarge { limit, .. } => (ErrorCode::TooLarge, json!({ "limit": limit })),
    };
    let body = ErrorBody::new(code, refusal.to_string());
    if details.is_null() {
        body
    } else {
        body.with_details(details)
    }
}
