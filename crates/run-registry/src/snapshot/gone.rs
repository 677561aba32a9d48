//! What the open run has told of, though its message is gone: the agent restated its messages
//! without it, or an activity took its place.

use std::collections::BTreeSet;

use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::message::Message;

use crate::conversation::Conversation;
use crate::snapshot::reopen::Reopening;
use crate::snapshot::stand_in;

pub(super) struct Gone {
    /// Sorted, so that a snapshot has the same bytes on every node.
    messages: BTreeSet<MessageId>,
    is_empty: bool,
    is_begun: bool,
}

impl Gone {
    pub(super) fn of(conversation: &Conversation, reopening: &Reopening<'_>) -> Self {
        let scope = reopening.scope();
        let owners = &scope.owners;
        let is_gone = |id: &&MessageId| conversation.message(id).is_none();
        let is_gone_call = |id: &ToolCallId| conversation.tool_call_name(id).is_none();
        let open = scope.messages.in_order().into_iter();
        let open = open.chain(scope.reasoning_messages.in_order());
        let mut messages: BTreeSet<_> = open.filter(is_gone).cloned().collect();
        let is_begun =
            !messages.is_empty() || reopening.calls().iter().any(|call| is_gone_call(&call.id));
        let closed = owners.messages.keys().chain(owners.activities.keys());
        messages.extend(closed.filter(is_gone).cloned());
        let is_empty = messages.is_empty() && !owners.calls.keys().any(is_gone_call);
        Self {
            messages,
            is_empty,
            is_begun,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Whether some of it is open, or pending, so that a client cannot do without.
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// A message with the id of each.
    pub(super) fn stand_ins(&self) -> impl Iterator<Item = Message> {
        let messages = self.messages.iter();
        messages.map(|id| stand_in::assistant(id, &None, Vec::new()))
    }
}
