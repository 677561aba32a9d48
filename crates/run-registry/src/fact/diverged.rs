//! Facts about patches that do not apply.

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{MessageId, RunId};
use threadcast_thread_log::principal::Principal;

use crate::ending::quoted;
use crate::patch::PatchFailure;

/// `activity.diverged`: the `ACTIVITY_DELTA` before it does not apply and left its activity's
/// content as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityDiverged {
    pub by: Principal,
    pub run_id: RunId,
    /// The activity.
    pub message_id: MessageId,
    #[serde(flatten)]
    pub failure: FailedOperation,
}

/// `state.diverged`: the `STATE_DELTA` before it does not apply and changed nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateDiverged {
    pub by: Principal,
    pub run_id: RunId,
    #[serde(flatten)]
    pub failure: FailedOperation,
}

/// The operation for which a patch does not apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedOperation {
    /// Its index in the patch, from 0.
    pub operation: usize,
    pub path: Box<str>,
    pub reason: Box<str>,
    /// Whether AG-UI's reference client would have done it, so that plain viewers do not hold what
    /// the fold holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stricter: bool,
}

impl FailedOperation {
    pub(crate) fn new(failure: &PatchFailure) -> Self {
        Self {
            operation: failure.operation,
            path: quoted(&failure.path).into(),
            reason: quoted(&failure.problem.to_string()).into(),
            stricter: failure.is_stricter,
        }
    }
}
