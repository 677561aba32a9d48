//! Changes of the shared state that become one, or few.
//!
//! A snapshot makes the state before it irrelevant, so what follows it can be worked out here.
//! Without one the state is not known, and operations are only strung together.

use threadcast_agui::ids::SubagentRunId;
use threadcast_agui::patch::{Patch, PatchOp};

use crate::compaction::change::{Change, Form, Kind};
use crate::compaction::slot::Slot;
use crate::event_bounds::{EVENT_BYTES_MAX, STATE_SNAPSHOT_BYTES_MAX};
use crate::patch::StateLimits;

const DELTA: Form = Form {
    event_type: "STATE_DELTA",
    content_name: "delta",
    bytes_max: EVENT_BYTES_MAX,
};

const SNAPSHOT: Form = Form {
    event_type: "STATE_SNAPSHOT",
    content_name: "snapshot",
    bytes_max: STATE_SNAPSHOT_BYTES_MAX,
};

/// Whether deltas whose state is not known may be strung together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrayDeltas {
    /// They are known to have applied; one that fails would take the others with it.
    Join,
    Keep,
}

/// The changes of state between two points where someone may look at it.
#[derive(Debug)]
pub(super) struct StateJoin<'a> {
    changes: Vec<Change<'a>>,
}

impl<'a> StateJoin<'a> {
    pub(super) fn new(first: Change<'a>) -> Self {
        Self {
            changes: vec![first],
        }
    }

    pub(super) fn owner(&self) -> Option<&SubagentRunId> {
        self.changes.first().and_then(|first| first.owner.as_ref())
    }

    pub(super) fn push(&mut self, change: Change<'a>) {
        self.changes.push(change);
    }

    /// A delta that does not apply stands as it is, and so does what follows it.
    pub(super) fn finish(mut self, strays: StrayDeltas, slots: &mut [Slot]) {
        let rest = SNAPSHOT.replace(&mut self.changes, Kind::Any, slots);
        if strays == StrayDeltas::Join {
            string_together(&self.changes[rest], slots);
        }
    }
}

/// Joins the operations of deltas that follow each other, as far as one patch may go.
fn string_together(deltas: &[Change<'_>], slots: &mut [Slot]) {
    let mut rest = deltas;
    while !rest.is_empty() {
        let (mut operations, mut bytes) = (0, 0);
        let fits = rest.iter().take_while(|change| {
            let Some(patch) = change.patch() else {
                return false;
            };
            operations += patch.0.len();
            bytes += change.bytes;
            operations <= StateLimits::default().operations_max
                && bytes <= DELTA.bytes_max
                && !copies(patch)
        });
        let (joined, behind) = rest.split_at(fits.count().max(1));
        rest = behind;
        if joined.len() > 1 {
            DELTA.write(&operations_of(joined, bytes), joined, slots);
        }
    }
}

/// All operations as one array; `bytes` is at least its length.
fn operations_of(deltas: &[Change<'_>], bytes: usize) -> String {
    let mut operations = String::with_capacity(bytes);
    operations.push('[');
    for delta in deltas {
        let patch = delta.content();
        let patch = patch[1..patch.len() - 1].trim();
        if operations.len() > 1 && !patch.is_empty() {
            operations.push(',');
        }
        operations.push_str(patch);
    }
    operations.push(']');
    operations
}

/// What one patch may copy is bounded, so such a patch cannot grow.
fn copies(patch: &Patch) -> bool {
    let mut operations = patch.0.iter();
    operations.any(|operation| matches!(operation, PatchOp::Copy { .. }))
}
