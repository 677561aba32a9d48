//! Consecutive events on their way to fewer.
//!
//! An event is merged into an earlier one of its item only if it could as well have come right
//! behind that one: if everything between the two does the same in either order. Each event that
//! stays says which items take nothing over it any more.
//!
//! Invariant: at any time the events kept, with what was merged into them, do what all events taken
//! so far did, from whatever fold they start.

use std::borrow::Cow;
use std::collections::HashMap;

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::json::RawJson;

use crate::compaction::activity::ActivityJoin;
use crate::compaction::change::Change;
use crate::compaction::delta::{Delta, DeltaJoin, DeltaKind};
use crate::compaction::slot::Slot;
use crate::compaction::state::{StateJoin, StrayDeltas};

/// What is known of the patch in the last event of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastPatch {
    Applied,
    /// It may turn out to have failed, or failed where AG-UI's reference client does not.
    Unsure,
    /// It is one of an activity's content, which it left as it was.
    ActivityFailed,
    /// It is one of the state, which it left as it was.
    StateFailed,
}

#[derive(Debug, Default)]
pub(super) struct Piece<'a> {
    slots: Vec<Slot>,
    deltas: Vec<DeltaJoin<'a>>,
    activities: Vec<ActivityJoin<'a>>,
    states: Vec<StateJoin<'a>>,
    /// All kinds of messages share one list, so an id has one item that may be merged into.
    messages: HashMap<Cow<'a, str>, Open>,
    /// Places in `deltas`.
    calls: HashMap<Cow<'a, str>, usize>,
    /// Whether the last of `states` takes more.
    is_state_open: bool,
    /// Items that begin before these slots take nothing more.
    items_from: usize,
    calls_from: usize,
}

/// A message that may be merged into, with its place.
#[derive(Clone, Copy, Debug)]
enum Open {
    Text(usize),
    Activity(usize),
}

impl<'a> Piece<'a> {
    pub(super) fn take(&mut self, json: &'a RawJson) {
        self.take_last(json, LastPatch::Applied);
    }

    /// Takes the last event.
    pub(super) fn take_last(&mut self, json: &'a RawJson, last: LastPatch) {
        let slot = self.slots.len();
        self.slots.push(Slot::Kept);
        if let Some((id, delta)) = Delta::read(json) {
            return self.take_delta(slot, id, delta);
        }
        match Event::from_raw(json.clone()) {
            // What is translated as it is read is not what a viewer is sent.
            Ok(event) if event.json == *json => self.take_event(slot, json, event, last),
            Ok(_) | Err(_) => self.close_all(),
        }
    }

    /// What became of each event.
    pub(super) fn finish(mut self, strays: StrayDeltas) -> Vec<Slot> {
        for join in self.deltas {
            join.finish(&mut self.slots);
        }
        for join in self.activities {
            join.finish(&mut self.slots);
        }
        for join in self.states {
            join.finish(strays, &mut self.slots);
        }
        self.slots
    }

    fn take_delta(&mut self, slot: usize, id: Cow<'a, str>, delta: Delta<'a>) {
        let known = match delta.kind {
            DeltaKind::Arguments => self.calls.get(&id).copied(),
            DeltaKind::Reasoning | DeltaKind::Text => match self.messages.get(&id) {
                Some(Open::Text(place)) => Some(*place),
                Some(Open::Activity(_)) | None => None,
            },
        };
        let from = match delta.kind {
            DeltaKind::Arguments => self.calls_from.max(self.items_from),
            DeltaKind::Reasoning | DeltaKind::Text => self.items_from,
        };
        let join = known.and_then(|place| self.deltas.get_mut(place));
        if let Some(join) = join.filter(|join| join.first_slot() >= from && join.takes(&delta)) {
            join.push(delta);
            self.slots[slot] = Slot::Gone;
            return;
        }
        let place = self.deltas.len();
        match delta.kind {
            DeltaKind::Arguments => drop(self.calls.insert(id, place)),
            DeltaKind::Reasoning | DeltaKind::Text => {
                self.messages.insert(id, Open::Text(place));
            }
        }
        self.deltas.push(DeltaJoin::new(slot, delta));
    }

    fn take_event(&mut self, slot: usize, json: &'a RawJson, event: Event, last: LastPatch) {
        match &event.body {
            EventBody::MessagesSnapshot { .. } => self.close_items(),
            EventBody::Custom { .. } | EventBody::Raw { .. } => self.is_state_open = false,
            EventBody::TextMessageStart { message, .. }
            | EventBody::TextMessageContent { message, .. }
            | EventBody::TextMessageEnd { message }
            | EventBody::ReasoningStart { span: message }
            | EventBody::ReasoningEnd { span: message }
            | EventBody::ReasoningMessageStart { message }
            | EventBody::ReasoningMessageContent { message, .. }
            | EventBody::ReasoningMessageEnd { message }
            | EventBody::ToolCallResult { message, .. } => self.close_message(message.as_str()),
            EventBody::ToolCallStart { call, parent, .. } => {
                self.close_call(call.as_str());
                // It may bring a message with the id of either.
                self.close_message(call.as_str());
                if let Some(parent) = parent {
                    self.close_message(parent.as_str());
                }
            }
            EventBody::ToolCallArgs { call, .. } | EventBody::ToolCallEnd { call } => {
                self.close_call(call.as_str());
            }
            EventBody::StateDelta { .. } if last == LastPatch::StateFailed => {
                self.drop_failed(slot, &event);
            }
            EventBody::ActivityDelta { .. } if last == LastPatch::ActivityFailed => {
                self.drop_failed(slot, &event);
            }
            EventBody::ActivitySnapshot { .. } | EventBody::ActivityDelta { .. } => {
                self.take_activity(slot, json, event);
            }
            EventBody::StateDelta { .. } if last == LastPatch::Unsure => {}
            EventBody::StateSnapshot { .. } | EventBody::StateDelta { .. } => {
                self.take_state(slot, json, event);
            }
            // They touch neither messages nor state, and name no item.
            EventBody::StepStarted { .. }
            | EventBody::StepFinished { .. }
            | EventBody::SubagentStarted { .. }
            | EventBody::SubagentFinished { .. }
            | EventBody::SubagentError { .. }
            // It sets a member of its own, which text does not touch.
            | EventBody::ReasoningEncryptedValue { .. } => {}
            EventBody::RunStarted { .. }
            | EventBody::RunFinished { .. }
            | EventBody::RunError { .. }
            | EventBody::TextMessageChunk { .. }
            | EventBody::ToolCallChunk { .. }
            | EventBody::ReasoningMessageChunk { .. }
            | EventBody::Unknown { .. } => self.close_all(),
        }
    }

    /// The last event, a patch that changed nothing; its metadata counts all the same.
    fn drop_failed(&mut self, slot: usize, event: &Event) {
        if event.metadata.is_none() && !holds_more(event) {
            self.slots[slot] = Slot::Gone;
        }
    }

    fn take_state(&mut self, slot: usize, json: &'a RawJson, event: Event) {
        let Some(change) = Change::of(slot, json, event) else {
            self.is_state_open = false;
            return;
        };
        match self.states.last_mut() {
            Some(join) if self.is_state_open && join.owner() == change.owner.as_ref() => {
                join.push(change);
            }
            _ => self.states.push(StateJoin::new(change)),
        }
        self.is_state_open = true;
    }

    fn take_activity(&mut self, slot: usize, json: &'a RawJson, event: Event) {
        let (id, replaces, is_delta) = match &event.body {
            EventBody::ActivitySnapshot {
                message, replace, ..
            } => (message.clone(), *replace, false),
            EventBody::ActivityDelta { message, .. } => (message.clone(), false, true),
            _ => return,
        };
        let change = (replaces || is_delta).then(|| Change::of(slot, json, event));
        let mut change = change.flatten();
        if let Some(later) = change.take() {
            match self.activity_of(id.as_str(), &later, is_delta) {
                Some(join) => return join.push(later),
                None => change = Some(later).filter(|_| replaces),
            }
        }
        if replaces {
            // It may take the place of a message that holds calls.
            self.calls_from = self.slots.len();
        }
        match change {
            Some(first) => {
                let id = id.as_str().to_owned().into();
                let place = self.activities.len();
                self.messages.insert(id, Open::Activity(place));
                self.activities.push(ActivityJoin::new(first));
            }
            None => self.close_message(id.as_str()),
        }
    }

    /// The activity `id`, if it takes `change`.
    fn activity_of(
        &mut self,
        id: &str,
        change: &Change<'a>,
        is_delta: bool,
    ) -> Option<&mut ActivityJoin<'a>> {
        let Open::Activity(place) = *self.messages.get(id)? else {
            return None;
        };
        let join = self.activities.get_mut(place)?;
        let is_its = join.owner() == change.owner.as_ref() || (is_delta && change.owner.is_none());
        (is_its && join.first_slot() >= self.items_from).then_some(join)
    }

    fn close_message(&mut self, id: &str) {
        self.messages.remove(id);
    }

    fn close_call(&mut self, id: &str) {
        self.calls.remove(id);
    }

    fn close_items(&mut self) {
        self.items_from = self.slots.len();
    }

    fn close_all(&mut self) {
        self.close_items();
        self.is_state_open = false;
    }
}

/// Whether the event has members that a merged one would lose.
fn holds_more(event: &Event) -> bool {
    let mut members = threadcast_agui::json::members(event.json.as_str());
    members.any(|(name, _)| name == "rawEvent") || !event.undescribed_members().is_empty()
}
