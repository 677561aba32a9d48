//! Changes of one activity that become one snapshot of it.
//!
//! A snapshot that replaces leaves an activity of known content under its id, so the later ones of
//! that id, and deltas that apply, can be worked out here.

use threadcast_agui::ids::SubagentRunId;

use crate::compaction::change::{Change, Form, Kind};
use crate::compaction::slot::Slot;
use crate::event_bounds::EVENT_BYTES_MAX;

const SNAPSHOT: Form = Form {
    event_type: "ACTIVITY_SNAPSHOT",
    content_name: "content",
    bytes_max: EVENT_BYTES_MAX,
};

/// A snapshot that replaces, and what follows of the same activity.
#[derive(Debug)]
pub(super) struct ActivityJoin<'a> {
    changes: Vec<Change<'a>>,
}

impl<'a> ActivityJoin<'a> {
    pub(super) fn new(first: Change<'a>) -> Self {
        Self {
            changes: vec![first],
        }
    }

    pub(super) fn first_slot(&self) -> usize {
        self.changes.first().map_or(0, |first| first.slot)
    }

    pub(super) fn owner(&self) -> Option<&SubagentRunId> {
        self.changes.first().and_then(|first| first.owner.as_ref())
    }

    pub(super) fn push(&mut self, change: Change<'a>) {
        self.changes.push(change);
    }

    /// A delta that does not apply stands as it is, and so does what follows it.
    pub(super) fn finish(mut self, slots: &mut [Slot]) {
        SNAPSHOT.replace(&mut self.changes, Kind::Object, slots);
    }
}
