//! What an `ok` says beside its `id`, and the bodies of the HTTP paths that say the same
//! (docs/protocol.md §3, §13).

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_thread_log::position::{Epoch, Seq};
use threadcast_thread_log::run_status::RunStatus;

use crate::view::{RunView, ThreadView};

/// Of `unsubscribe` and `ping`: nothing but that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {}

/// Of `hello`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelloAnswer {
    /// The interval that is kept: the asked one, moved inside the hub's bounds.
    pub heartbeat_ms: u64,
}

/// Of `run`, `resume` and `cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandAnswer {
    #[serde(rename = "threadId")]
    pub thread: ThreadId,
    #[serde(rename = "runId")]
    pub run: RunId,
    /// Where the command's effect stands; its frame may come before or after this answer.
    pub seq: Seq,
    pub status: RunStatus,
    /// Whether the command had been given before and caused nothing now.
    pub duplicate: bool,
}

/// Of `status` for a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadAnswer {
    #[serde(rename = "threadId")]
    pub id: ThreadId,
    pub epoch: Epoch,
    /// The head that the answer holds for.
    pub seq: Seq,
    /// As in `thread`, for who looks no further.
    pub status: RunStatus,
    pub thread: ThreadView,
}

/// Of `status` for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunAnswer {
    #[serde(rename = "threadId")]
    pub thread: ThreadId,
    #[serde(rename = "runId")]
    pub id: RunId,
    pub epoch: Epoch,
    /// The head that the answer holds for.
    pub seq: Seq,
    /// `unknown` when the thread has no record of the run.
    pub status: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunView>,
}
