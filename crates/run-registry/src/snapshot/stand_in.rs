//! Messages and results that stand for what a client shall know without holding it.
//!
//! Only ids, owners and roles count in them; what they say is empty.

use std::collections::{BTreeMap, HashMap, HashSet};

use threadcast_agui::content::Content;
use threadcast_agui::event::Event;
use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::json::Metadata;
use threadcast_agui::make;
use threadcast_agui::message::{Message, MessageBody, ToolCall};
use threadcast_agui::text::Escaped;

use crate::snapshot::List;
use crate::verify::{Owner, Owners};

/// A run's input that tells `owners` to a client that holds `list`, and changes nothing else.
///
/// Left out is what no message in `list` can carry.
pub(super) fn input(owners: &Owners, list: &List<'_>) -> Vec<Message> {
    let held: HashSet<_> = list.iter().map(|message| &message.id).collect();
    let mut input = Vec::new();
    for (id, owner) in sorted(&owners.messages).filter(|(id, _)| held.contains(id)) {
        input.push(assistant(id, owner, Vec::new()));
    }
    // A client believes what it is told first, so the owner of the carrier stays.
    let carrier = input.first().map(|message: &Message| message.id.clone());
    for (id, owner) in sorted(&owners.activities).filter(|(id, _)| held.contains(id)) {
        input.push(activity(id, owner));
    }
    for (id, owner) in sorted(&owners.reasoning).filter(|(id, _)| held.contains(id)) {
        input.push(reasoning(id, owner));
    }
    let mut calls: BTreeMap<&Owner, Vec<ToolCall>> = BTreeMap::new();
    for (id, owner) in sorted(&owners.calls) {
        calls.entry(owner).or_default().push(call(id));
    }
    if let Some(carrier) = carrier {
        let calls = calls.into_iter();
        input.extend(calls.map(|(owner, calls)| assistant(&carrier, owner, calls)));
    }
    input
}

/// In the order of ids, so that a snapshot has the same bytes on every node.
fn sorted<K: Ord>(owners: &HashMap<K, Owner>) -> impl Iterator<Item = (&K, &Owner)> {
    owners.iter().collect::<BTreeMap<_, _>>().into_iter()
}

pub(super) fn assistant(id: &MessageId, owner: &Owner, calls: Vec<ToolCall>) -> Message {
    let body = MessageBody::Assistant {
        content: Some(Escaped::new()),
        tool_calls: (!calls.is_empty()).then_some(calls),
        name: None,
        encrypted_value: None,
    };
    message(id, owner, body)
}

fn activity(id: &MessageId, owner: &Owner) -> Message {
    let body = MessageBody::Activity {
        activity_type: "".into(),
        content: Metadata::new(),
    };
    message(id, owner, body)
}

fn reasoning(id: &MessageId, owner: &Owner) -> Message {
    let body = MessageBody::Reasoning {
        content: Escaped::new(),
        encrypted_value: None,
    };
    message(id, owner, body)
}

fn message(id: &MessageId, owner: &Owner, body: MessageBody) -> Message {
    Message {
        id: id.clone(),
        owner: owner.clone(),
        metadata: None,
        body,
        extra: Vec::new(),
    }
}

pub(super) fn call(id: &ToolCallId) -> ToolCall {
    ToolCall {
        id: id.clone(),
        name: "".into(),
        arguments: Escaped::new(),
        encrypted_value: None,
        metadata: None,
        extra: Vec::new(),
    }
}

/// Marks a call as answered.
pub(super) fn result(message: &MessageId, call: &ToolCallId) -> Event {
    make::tool_call_result(message, call, &Content::Text(Escaped::new()), None, None)
}
