//! Changes of one thing, the shared state or an activity, and the one event that stands for them.
//!
//! What a snapshot and the patches behind it amount to is worked out as long as it can come to
//! something: an outcome longer than the changes is not written, and patches that walk more than
//! their text are not followed far. So the work is a matter of the length of the changes.

use std::ops::Range;

use serde_json::Value;
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::SubagentRunId;
use threadcast_agui::json::{self, RawJson};
use threadcast_agui::patch::Patch;

use crate::compaction::slot::Slot;
use crate::compaction::written;
use crate::patch::{Document, StateLimits};

/// What patches may walk of a document beside their own text, for every byte of the changes.
const WALKED_PER_BYTE: usize = 8;

#[derive(Debug)]
enum Action {
    Patch(Patch),
    Set(Value),
}

/// A change that holds nothing but what AG-UI describes.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) slot: usize,
    /// Length of its event.
    pub(super) bytes: usize,
    action: Action,
    pub(super) owner: Option<SubagentRunId>,
    members: Members<'a>,
}

/// Values as they stand.
#[derive(Clone, Copy, Debug, Default)]
struct Members<'a> {
    activity_type: Option<&'a str>,
    content: &'a str,
    message: Option<&'a str>,
    metadata: Option<&'a str>,
    owner: Option<&'a str>,
    timestamp: Option<&'a str>,
}

impl<'a> Members<'a> {
    /// `None` if there are others, which a merged event would lose.
    fn read(json: &'a RawJson, content_name: &str) -> Option<Self> {
        let mut members = Self::default();
        for (name, value) in json::members(json.as_str()) {
            match name.as_ref() {
                "type" => {}
                "metadata" => members.metadata = Some(value),
                "subagentRunId" => members.owner = Some(value),
                "timestamp" => members.timestamp = Some(value),
                "activityType" if is_of_activity(content_name) => {
                    members.activity_type = Some(value);
                }
                "messageId" if is_of_activity(content_name) => members.message = Some(value),
                "replace" if content_name == "content" => {}
                name if name == content_name => members.content = value,
                _ => return None,
            }
        }
        Some(members)
    }
}

fn is_of_activity(content_name: &str) -> bool {
    matches!(content_name, "content" | "patch")
}

impl<'a> Change<'a> {
    /// `None` is an event of another kind, or one that holds more.
    pub(super) fn of(slot: usize, json: &'a RawJson, event: Event) -> Option<Self> {
        let (content_name, action) = match event.body {
            EventBody::ActivityDelta { patch, .. } => ("patch", Action::Patch(patch)),
            EventBody::ActivitySnapshot { content, .. } => ("content", Action::Set(content.into())),
            EventBody::StateDelta { delta } => ("delta", Action::Patch(delta)),
            EventBody::StateSnapshot { snapshot } => ("snapshot", Action::Set(snapshot)),
            _ => return None,
        };
        Some(Self {
            slot,
            bytes: json.as_str().len(),
            action,
            owner: event.owner,
            members: Members::read(json, content_name)?,
        })
    }

    fn take_snapshot(&mut self) -> Option<Value> {
        match &mut self.action {
            Action::Patch(_) => None,
            Action::Set(snapshot) => Some(std::mem::take(snapshot)),
        }
    }

    pub(super) fn patch(&self) -> Option<&Patch> {
        match &self.action {
            Action::Patch(patch) => Some(patch),
            Action::Set(_) => None,
        }
    }

    /// What it sets, or the operations of its patch, as they stand.
    pub(super) fn content(&self) -> &'a str {
        self.members.content
    }
}

/// What kind of event stands for changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) event_type: &'static str,
    /// The member that says what becomes of the thing.
    pub(super) content_name: &'static str,
    /// Longest such event.
    pub(super) bytes_max: usize,
}

/// What a document has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    /// A patch that leaves something else does not apply.
    Object,
}

impl Form {
    /// Writes one event for `changes` up to the last snapshot and, if that is worth it, for the
    /// patches behind it that apply; tells which patches stand as they are, each known to apply.
    pub(super) fn replace(
        self,
        changes: &mut [Change<'_>],
        kind: Kind,
        slots: &mut [Slot],
    ) -> Range<usize> {
        let last = changes.iter_mut().enumerate().rev();
        let last = last.filter_map(|(at, change)| Some((at, change.take_snapshot()?)));
        let Some((at, snapshot)) = { last }.next() else {
            return 0..changes.len();
        };
        let behind = at + 1;
        let mut known = changes.len();
        if behind < changes.len() {
            let bytes_max = bytes_of(changes);
            let outcome = work_out(snapshot, &changes[behind..], kind, bytes_max);
            if let Some((applied, document)) = outcome {
                known = behind + applied;
                let content = document.into_value().to_string();
                if applied > 0 && self.write(&content, &changes[..known], slots) {
                    return known..known;
                }
            }
        }
        self.write(changes[at].content(), &changes[..behind], slots);
        behind..known
    }

    /// Writes one event for `changes` in the place of the first, unless they are shorter as they
    /// are or it would be too long; tells whether it stands for them.
    pub(super) fn write(self, content: &str, changes: &[Change<'_>], slots: &mut [Slot]) -> bool {
        let [first, .., last] = changes else {
            return false;
        };
        let bytes_max = bytes_of(changes).min(self.bytes_max);
        if content.len() > bytes_max {
            return false;
        }
        let all_metadata = changes.iter().filter_map(|change| change.members.metadata);
        let metadata = written::metadata(all_metadata);
        let made = written::event(
            self.event_type,
            &[
                ("messageId", first.members.message),
                ("activityType", last.members.activity_type),
                (self.content_name, Some(content)),
                ("timestamp", first.members.timestamp),
                ("metadata", metadata.as_deref()),
                ("subagentRunId", first.members.owner),
            ],
        );
        if made.as_str().len() > bytes_max {
            return false;
        }
        for change in changes {
            slots[change.slot] = Slot::Gone;
        }
        slots[first.slot] = Slot::Made(made);
        true
    }
}

/// Length of the events of `changes`.
fn bytes_of(changes: &[Change<'_>]) -> usize {
    changes.iter().map(|change| change.bytes).sum()
}

/// The document after all patches of `changes` up to one that does not apply, and how many those
/// are; `None` if it would be longer than `bytes_max`, or more work than so many bytes are worth.
fn work_out(
    snapshot: Value,
    changes: &[Change<'_>],
    kind: Kind,
    bytes_max: usize,
) -> Option<(usize, Document)> {
    let mut document = Document::new(snapshot);
    let limits = StateLimits::default();
    let mut applied = 0;
    for patch in changes.iter().map_while(Change::patch) {
        let done = match kind {
            Kind::Any => document.apply(patch, &limits),
            Kind::Object => document.apply_to_object(patch, &limits),
        };
        if done.is_err() {
            break;
        }
        applied += 1;
        if document.bytes() > bytes_max || document.walked() / WALKED_PER_BYTE > bytes_max {
            return None;
        }
    }
    Some((applied, document))
}
