//! The fact about what an agent left open.

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{RunId, SubagentRunId};
use threadcast_thread_log::principal::Principal;

/// `stream.repaired`: the hub closed what an agent left open before its RUN_FINISHED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamRepaired {
    pub by: Principal,
    pub run_id: RunId,
    /// In the order in which they were closed.
    pub closed: Vec<ClosedItem>,
    /// How many were closed that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
}

/// An item that the hub closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosedItem {
    pub kind: ClosedKind,
    /// Of a step its name.
    pub id: Box<str>,
    /// Whose it was; none for the parent agent's, and for a subagent itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_run_id: Option<SubagentRunId>,
}

/// What the hub may close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClosedKind {
    ReasoningMessage,
    ReasoningSpan,
    Step,
    Subagent,
    TextMessage,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
