//! How a run ends when its agent does not end it, and under which code that is told.

use std::fmt;

/// Most bytes of an agent's text that the hub repeats in words of its own.
pub const QUOTED_BYTES_MAX: usize = 2048;

/// The codes of `RUN_ERROR` events that the hub writes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// It was cancelled, and the agent did not say so itself in time.
    Abort,
    /// What called the agent is gone: its node, or the run's owner alone.
    AgentLost,
    /// The agent answered with a status other than success, before any event.
    AgentRefused,
    /// Nothing came for too long.
    AgentTimeout,
    /// The stream ended without a terminal event.
    AgentTruncated,
    /// Nothing was sent to the agent.
    AgentUnreached,
    /// The log was away for too long.
    EngineUnavailable,
    /// Events that were acknowledged are missing from the log.
    LogDiverged,
    /// An event broke a rule of the protocol.
    ProtocolViolation,
    /// An event is larger than allowed.
    TooLarge,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [Self; 10] = [
        Self::Abort,
        Self::AgentLost,
        Self::AgentRefused,
        Self::AgentTimeout,
        Self::AgentTruncated,
        Self::AgentUnreached,
        Self::EngineUnavailable,
        Self::LogDiverged,
        Self::ProtocolViolation,
        Self::TooLarge,
    ];

    /// The `code` member; `abort` is the reference client's own.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Abort => "abort",
            Self::AgentLost => "AGENT_LOST",
            Self::AgentRefused => "AGENT_REFUSED",
            Self::AgentTimeout => "AGENT_TIMEOUT",
            Self::AgentTruncated => "AGENT_TRUNCATED",
            Self::AgentUnreached => "AGENT_UNREACHED",
            Self::EngineUnavailable => "ENGINE_UNAVAILABLE",
            Self::LogDiverged => "LOG_DIVERGED",
            Self::ProtocolViolation => "PROTOCOL_VIOLATION",
            Self::TooLarge => "TOO_LARGE",
        }
    }

    /// Whether a run that ended with `code` is known either to have had an answer or never to have
    /// reached its agent.
    pub(crate) fn means_answer(code: &str) -> bool {
        let answered = [
            Self::AgentRefused,
            Self::AgentUnreached,
            Self::ProtocolViolation,
            Self::TooLarge,
        ];
        answered.iter().any(|known| known.as_str() == code)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a run ends that its agent did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was cancelled and the grace time is over.
    Abort,
    /// The engine was away past its limit.
    EngineUnavailable,
    /// The log lost events that were acknowledged.
    LogDiverged,
    /// Its owner is gone.
    Lost,
    /// The agent answered with this HTTP status; `body` is the beginning of what it said.
    Refused { status: u16, body: Box<str> },
    /// The agent was silent; `waited_for` says for what, such as `the response head`.
    Timeout { waited_for: Box<str> },
    /// The stream is larger than a limit allows; `what` names it.
    TooLarge { what: Box<str> },
    /// The stream ended or broke; `reason` says how.
    Truncated { reason: Box<str> },
    /// No byte was sent; `reason` says why.
    Unreached { reason: Box<str> },
    /// What the agent sends is no stream of AG-UI events; `reason` says why.
    Violation { reason: Box<str> },
}

impl Ending {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Abort => ErrorCode::Abort,
            Self::EngineUnavailable => ErrorCode::EngineUnavailable,
            Self::LogDiverged => ErrorCode::LogDiverged,
            Self::Lost => ErrorCode::AgentLost,
            Self::Refused { .. } => ErrorCode::AgentRefused,
            Self::Timeout { .. } => ErrorCode::AgentTimeout,
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::Truncated { .. } => ErrorCode::AgentTruncated,
            Self::Unreached { .. } => ErrorCode::AgentUnreached,
            Self::Violation { .. } => ErrorCode::ProtocolViolation,
        }
    }

    /// The `message` member: what people read, at most [`QUOTED_BYTES_MAX`] of what the agent sent.
    pub fn message(&self) -> String {
        match self {
            Self::Abort => "the run was cancelled".into(),
            Self::EngineUnavailable => "the log store was unavailable for too long".into(),
            Self::LogDiverged => "the log lost events of this run".into(),
            Self::Lost => "what called the agent is gone, so its stream is lost".into(),
            Self::Refused { status, body } if body.is_empty() => {
                format!("the agent answered with status {status}")
            }
            Self::Refused { status, body } => {
                format!("the agent answered with status {status}: {}", quoted(body))
            }
            Self::Timeout { waited_for } => {
                format!("the agent was silent for too long while waiting for {waited_for}")
            }
            Self::TooLarge { what } => format!("the agent sent too much: {}", quoted(what)),
            Self::Truncated { reason } => {
                format!(
                    "the agent's stream ended before its run did: {}",
                    quoted(reason)
                )
            }
            Self::Unreached { reason } => {
                format!("the agent was not reached: {}", quoted(reason))
            }
            Self::Violation { reason } => quoted(reason).to_owned(),
        }
    }
}

/// What of an agent's own words goes into the hub's.
pub(crate) fn quoted(text: &str) -> &str {
    &text[..text.floor_char_boundary(QUOTED_BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct() {
        let mut codes = ErrorCode::ALL.map(ErrorCode::as_str).to_vec();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorCode::ALL.len());
    }
}
