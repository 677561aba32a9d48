//! What is found about a stream.

use std::process::ExitCode;

use serde::Serialize;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::ending::ErrorCode;
use threadcast_run_registry::verify::Rule;
use threadcast_thread_log::run_status::RunStatus;

use super::warnings::Warning;
use crate::cli::file::{Format, Violation};

/// How the stream is.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Legal,
    Broken(Violation),
    /// It breaks off, and why that is no end.
    Unfinished(String),
}

/// The verdict, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Verdict {
    /// `legal`, `broken` or `unfinished`.
    verdict: &'static str,
    pub(super) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format>,
    /// Legal events; of a log also those that stand for others.
    pub(super) events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) violation: Option<Told>,
    /// Why the stream is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unfinished: Option<Unfinished>,
    pub(super) runs: Vec<RunFound>,
    pub(super) messages: Vec<Count>,
    pub(super) pending_tool_calls: Vec<PendingCall>,
    pub(super) pending_interrupts: Vec<RawInterrupt>,
    pub(super) warnings: Vec<Warning>,
    /// Warnings of kinds that are not listed.
    pub(super) more_warnings: u64,
}

/// A violation and its place.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Told {
    pub(super) line: u64,
    pub(super) place: String,
    pub(super) rule: &'static str,
    pub(super) describes: &'static str,
    pub(super) message: String,
    /// Whether a hub mends it for an agent that is not configured to be strict.
    pub(super) is_mended: bool,
    pub(super) json: Box<str>,
}

/// A stream that stops where it may not.
#[derive(Debug, Serialize)]
pub(super) struct Unfinished {
    /// As which the hub ends such a run.
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// One run of the stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunFound {
    /// Absent for a refusal without a start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_id: Option<String>,
    pub(super) status: RunStatus,
    /// Its first event or entry, from 1.
    pub(super) from: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<RunFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct RunFailure {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    pub(super) message: String,
}

/// How many messages a role has.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Count {
    pub(super) role: &'static str,
    pub(super) count: u64,
}

/// A tool call without a result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PendingCall {
    pub(super) tool_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
}

/// An agent's interrupt, as it wrote it.
#[derive(Debug)]
pub(super) struct RawInterrupt(pub(super) RawJson);

impl Serialize for RawInterrupt {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.as_raw_value().serialize(to)
    }
}

impl Verdict {
    /// A verdict that nothing is told of yet but the outcome.
    pub(super) fn new(file: String, format: Option<Format>, outcome: Outcome) -> Self {
        let (verdict, violation, unfinished) = match outcome {
            Outcome::Legal => ("legal", None, None),
            Outcome::Broken(violation) => ("broken", Some(Told::of(violation)), None),
            Outcome::Unfinished(message) => {
                let code = ErrorCode::AgentTruncated.as_str();
                ("unfinished", None, Some(Unfinished { code, message }))
            }
        };
        Self {
            verdict,
            file,
            format,
            events: 0,
            violation,
            unfinished,
            runs: Vec::new(),
            messages: Vec::new(),
            pending_tool_calls: Vec::new(),
            pending_interrupts: Vec::new(),
            warnings: Vec::new(),
            more_warnings: 0,
        }
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        if self.violation.is_none() && self.unfinished.is_none() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

impl Told {
    fn of(violation: Violation) -> Self {
        Self {
            line: violation.line,
            place: violation.place.to_string(),
            rule: violation.rule.as_str(),
            describes: violation.rule.describes(),
            message: violation.message,
            is_mended: is_mended(violation.rule),
            json: violation.json,
        }
    }
}

/// Whether the hub closes what is left open (docs/protocol.md §8.5).
fn is_mended(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::MessageLeftOpen
            | Rule::ReasoningMessageLeftOpen
            | Rule::ReasoningSpanLeftOpen
            | Rule::StepLeftOpen
            | Rule::SubagentLeftOpen
    )
}
