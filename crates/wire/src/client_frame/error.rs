//! Why a client's frame is not served.

use std::fmt;

use threadcast_agui::fields::ReadError;
use threadcast_agui::json::JsonError;

use super::RequestId;
use crate::error_body::ErrorBody;
use crate::error_code::ErrorCode;
use crate::limits::{AGENT_NAME_BYTES_MAX, REASON_BYTES_MAX};

/// A refused frame, with the request it would have answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameError {
    /// `None` when the frame had none or it could not be read.
    pub id: Option<RequestId>,
    pub problem: FrameProblem,
}

/// What is wrong with a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameProblem {
    #[error("`agent` is {found} bytes long, at most {AGENT_NAME_BYTES_MAX} are allowed")]
    AgentNameTooLong { found: usize },
    #[error("{0}")]
    Field(ReadError),
    #[error("a position is `after` and `epoch` together, found only `{found}`")]
    HalfPosition { found: &'static str },
    #[error("{0}")]
    Json(JsonError),
    #[error("a frame must be a JSON object, found {found}")]
    NotAnObject { found: &'static str },
    #[error("`onBusy` `{found}` is not served yet by this version, only `reject` is")]
    OnBusyNotServed { found: Box<str> },
    #[error("`reason` is {found} bytes long, at most {REASON_BYTES_MAX} are allowed")]
    ReasonTooLong { found: usize },
    #[error("with a position `start` can only be `log`, found `{found}`")]
    StartAndPosition { found: &'static str },
    #[error("op `{op}` is not served by this version")]
    UnknownOp { op: Box<str> },
}

impl FrameError {
    /// `bad_frame` or `unknown_op`.
    pub fn code(&self) -> ErrorCode {
        match &self.problem {
            FrameProblem::UnknownOp { .. } => ErrorCode::UnknownOp,
            FrameProblem::AgentNameTooLong { .. }
            | FrameProblem::Field(_)
            | FrameProblem::HalfPosition { .. }
            | FrameProblem::Json(_)
            | FrameProblem::NotAnObject { .. }
            | FrameProblem::OnBusyNotServed { .. }
            | FrameProblem::ReasonTooLong { .. }
            | FrameProblem::StartAndPosition { .. } => ErrorCode::BadFrame,
        }
    }

    /// What the client is told.
    pub fn to_body(&self) -> ErrorBody {
        ErrorBody::new(self.code(), self.problem.to_string())
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for FrameError {}

impl From<ReadError> for FrameProblem {
    fn from(error: ReadError) -> Self {
        Self::Field(error)
    }
}
