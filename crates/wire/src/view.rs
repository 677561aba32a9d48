//! The hub's own view of a thread: what no AG-UI event says (docs/protocol.md §4.5).

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;

/// Most runs a view lists, the latest ones.
pub const RUNS_MAX: usize = 50;

/// A thread at some seq.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadView {
    /// Of the active run, else of the latest one; `unknown` before the first.
    pub status: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_run: Option<RunId>,
    /// At most [`RUNS_MAX`], oldest first.
    pub runs: Vec<RunView>,
    /// In the order the agent raised them.
    pub interrupts: Vec<InterruptView>,
    /// Shared state, only where no event could carry it; it replaces what the events gave.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub state: Option<RawJson>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    #[serde(rename = "runId")]
    pub run: RunId,
    pub status: RunStatus,
    /// Name of the agent.
    pub agent: String,
    pub by: Principal,
    /// Where it was accepted.
    pub seq: Seq,
    /// When it was accepted.
    pub at: Millis,
    /// Where it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_seq: Option<Seq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunErrorView>,
    /// Whether the agent may have acted although no answer came.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_doubt: bool,
}

/// How a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunErrorView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    pub message: String,
}

/// One open interrupt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterruptView {
    /// The run that raised it.
    pub of: RunId,
    /// The agent's own object.
    pub interrupt: RawJson,
    /// Whether it can only be cancelled.
    #[serde(default, skip_serializing_if = "is_false")]
    pub expired: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A null state is a state.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<RawJson>, D::Error> {
    RawJson::deserialize(from).map(Some)
}
