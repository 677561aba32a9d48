//! The fact with which the log of a fork begins.

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_thread_log::position::{Epoch, Seq};
use threadcast_thread_log::principal::Principal;

/// `thread.forked`: this log begins with what another thread held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadForked {
    pub by: Principal,
    pub from: ForkedFrom,
    /// The made-up run that brings in what was held; nobody asked for it, and it has ended.
    pub run_id: RunId,
}

/// A thread, and the entry behind which it was copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    pub thread_id: ThreadId,
    pub epoch: Epoch,
    pub seq: Seq,
}
