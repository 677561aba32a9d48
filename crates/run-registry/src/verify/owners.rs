//! Who began each item of a run: the parent agent, or a subagent.
//!
//! Ids are unique per kind only, so there is a table a kind; reasoning spans and messages share
//! one, as they share ids. What is not in a table is unknown, which agrees with everybody; the
//! parent agent is an owner like any other.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

use threadcast_agui::ids::{MessageId, SubagentRunId, ToolCallId};
use threadcast_agui::message::{Message, MessageBody};

/// `None` is the parent agent.
pub(crate) type Owner = Option<SubagentRunId>;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Owners {
    pub(crate) activities: HashMap<MessageId, Owner>,
    pub(crate) calls: HashMap<ToolCallId, Owner>,
    pub(crate) messages: HashMap<MessageId, Owner>,
    pub(crate) reasoning: HashMap<MessageId, Owner>,
}

impl Owners {
    /// Owners of a history that is only repeated: what is known already stays.
    pub(crate) fn seed_unknown(&mut self, messages: &[Message]) {
        for message in messages {
            self.of_role(message)
                .entry(message.id.clone())
                .or_insert_with(|| message.owner.clone());
            for call in message.tool_calls() {
                self.calls
                    .entry(call.id.clone())
                    .or_insert_with(|| message.owner.clone());
            }
        }
    }

    /// Owners of a history that replaces what was there; a call belongs to whom its message
    /// belongs.
    pub(crate) fn seed_all<'m>(&mut self, messages: impl IntoIterator<Item = &'m Message>) {
        for message in messages {
            self.of_role(message)
                .insert(message.id.clone(), message.owner.clone());
            for call in message.tool_calls() {
                self.calls.insert(call.id.clone(), message.owner.clone());
            }
        }
    }

    /// Whether `whole` says all that is said here.
    pub(crate) fn is_part_of(&self, whole: &Self) -> bool {
        is_part(&self.activities, &whole.activities)
            && is_part(&self.calls, &whole.calls)
            && is_part(&self.messages, &whole.messages)
            && is_part(&self.reasoning, &whole.reasoning)
    }

    fn of_role(&mut self, message: &Message) -> &mut HashMap<MessageId, Owner> {
        match message.body {
            MessageBody::Activity { .. } => &mut self.activities,
            MessageBody::Reasoning { .. } => &mut self.reasoning,
            MessageBody::Assistant { .. }
            | MessageBody::Developer { .. }
            | MessageBody::System { .. }
            | MessageBody::Tool { .. }
            | MessageBody::User { .. } => &mut self.messages,
        }
    }
}

fn is_part<K: Eq + Hash>(part: &HashMap<K, Owner>, whole: &HashMap<K, Owner>) -> bool {
    part.iter().all(|(id, owner)| whole.get(id) == Some(owner))
}

/// An owner in words.
pub(super) struct Named<'a>(pub(super) Option<&'a SubagentRunId>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(subagent) => write!(f, "subagent `{subagent}`"),
            None => f.write_str("the parent agent"),
        }
    }
}
