//! The messages of a thread in order, found by id.
//!
//! A list linked by places in a vector: a tool result goes into the middle without moving what
//! follows. Messages leave only when a snapshot restates all of them, which builds the list anew.
//!
//! Messages, places and ids are shared between copies of the list, so that a copy costs a small
//! part of what it is to fold the list, and no copy of what the messages say.
//!
//! Invariant: `by_id` and `by_call` name the first message, in list order, that has the id or holds
//! the call; the orders of nodes rise along the list; `bytes` is the length of all messages as
//! JSON.

mod results;

use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::message::{Message, MessageBody, ToolCall};

use crate::conversation::held::Held;
use crate::conversation::nodes::{Node, Nodes, ORDER_STEP};
use crate::conversation::shared_map::SharedMap;
use crate::conversation::size::{Growth, call_bytes, new_element, new_member};

#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    nodes: Nodes,
    last: Option<usize>,
    /// Of all messages, without what stands between them.
    bytes: usize,
    by_id: SharedMap<MessageId, usize>,
    by_call: SharedMap<ToolCallId, CallPlace>,
    /// Of a call that stands in several messages: from each place to the next, and the last. Only
    /// messages at the end bring such calls, so places come in list order. Some may be gone.
    next_place: SharedMap<CallPlace, CallPlace>,
    last_place: SharedMap<ToolCallId, CallPlace>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CallPlace {
    node: usize,
    call: usize,
}

impl Messages {
    /// A list of `messages`, repeated ids and all.
    pub(super) fn of(messages: impl IntoIterator<Item = Held>) -> Self {
        let mut list = Self::default();
        for message in messages {
            list.append_held(message);
        }
        list
    }

    /// Makes room for so many messages more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.by_id.reserve(more);
    }

    /// Length of the list as JSON.
    pub(super) fn bytes(&self) -> usize {
        "[]".len() + self.bytes + self.nodes.len().saturating_sub(1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Message> {
        self.iter_held().map(Held::message)
    }

    pub(super) fn iter_held(&self) -> impl Iterator<Item = &Held> {
        self.iter_places().map(|node| &self.nodes[node].held)
    }

    /// Each with its place, by which copies of one message are told apart.
    pub(super) fn iter_placed(&self) -> impl Iterator<Item = (usize, &Message)> {
        self.iter_places().map(|node| (node, self.message(node)))
    }

    fn iter_places(&self) -> impl Iterator<Item = usize> {
        // The first message is never taken away and nothing goes before it.
        let first = (self.nodes.len() > 0).then_some(0);
        std::iter::successors(first, |node| self.nodes[*node].next)
    }

    pub(super) fn get(&self, id: &MessageId) -> Option<&Message> {
        self.by_id.get(id).map(|node| self.message(node))
    }

    pub(super) fn held(&self, id: &MessageId) -> Option<&Held> {
        self.by_id.get(id).map(|node| &self.nodes[node].held)
    }

    fn message(&self, node: usize) -> &Message {
        self.nodes[node].held.message()
    }

    /// Changes the first message with this id, but for its id, role and calls.
    pub(super) fn change(&mut self, id: &MessageId, change: impl FnOnce(&mut Message) -> Growth) {
        self.change_held(id, |held| held.change(change));
    }

    /// The same, for what must know more of the message; `None` if there is none.
    pub(super) fn change_held<T>(
        &mut self,
        id: &MessageId,
        change: impl FnOnce(&mut Held) -> T,
    ) -> Option<T> {
        let node = self.by_id.get(id)?;
        Some(self.change_node(node, change))
    }

    fn change_node<T>(&mut self, node: usize, change: impl FnOnce(&mut Held) -> T) -> T {
        let held = &mut self.nodes.node_mut(node).held;
        self.bytes -= held.bytes();
        let changed = change(held);
        self.bytes += held.bytes();
        changed
    }

    pub(super) fn call(&self, call: &ToolCallId) -> Option<&ToolCall> {
        let place = self.by_call.get(call)?;
        self.message(place.node).tool_calls().get(place.call)
    }

    /// The place of the message that holds the call.
    pub(super) fn holder(&self, call: &ToolCallId) -> Option<usize> {
        self.by_call.get(call).map(|place| place.node)
    }

    /// Changes a call that stands in some message, but for its id.
    pub(super) fn change_call(
        &mut self,
        call: &ToolCallId,
        change: impl FnOnce(&mut ToolCall) -> Growth,
    ) {
        let Some(place) = self.by_call.get(call) else {
            return;
        };
        self.change_node(place.node, |held| {
            held.change(|message| match &mut message.body {
                MessageBody::Assistant {
                    tool_calls: Some(calls),
                    ..
                } => calls.get_mut(place.call).map_or(Growth::NONE, change),
                _ => Growth::NONE,
            });
        });
    }

    pub(super) fn append(&mut self, message: Message) {
        self.append_held(message.into());
    }

    pub(super) fn append_held(&mut self, held: Held) {
        let message = held.message();
        let node = self.nodes.len();
        let previous = self.last.replace(node);
        if let Some(previous) = previous {
            self.nodes.node_mut(previous).next = Some(node);
        }
        if self.by_id.get(&message.id).is_none() {
            self.by_id.insert(message.id.clone(), node);
        }
        for (call, tool_call) in message.tool_calls().iter().enumerate() {
            self.place_call(&tool_call.id, CallPlace { node, call });
        }
        self.bytes += held.bytes();
        let order = previous.map_or(0, |previous| self.nodes[previous].order + ORDER_STEP);
        self.nodes.push(Node::new(held, previous, order));
    }

    /// Notes that a call stands in a message at the end.
    fn place_call(&mut self, call: &ToolCallId, place: CallPlace) {
        let Some(first) = self.by_call.get(call) else {
            return self.by_call.insert(call.clone(), place);
        };
        let last = self.last_place.get(call).unwrap_or(first);
        // What a message repeats itself goes with it.
        if last.node != place.node {
            self.next_place.insert(last, place);
            self.last_place.insert(call.clone(), place);
        }
    }

    /// Appends those whose ids are not here yet, as the echo of a run's input does.
    pub(super) fn append_new(&mut self, messages: &[Message]) {
        for message in messages {
            if self.by_id.get(&message.id).is_none() {
                self.append(message.clone());
            }
        }
    }

    /// Adds a call that stands in no message yet to the assistant message `holder`.
    pub(super) fn add_call(&mut self, holder: &MessageId, tool_call: ToolCall) {
        let Some(node) = self.by_id.get(holder) else {
            return;
        };
        self.push_call(node, tool_call);
    }

    /// The same for the message appended last, which may not be the first with its id.
    pub(super) fn add_call_to_last(&mut self, tool_call: ToolCall) {
        if let Some(node) = self.last {
            self.push_call(node, tool_call);
        }
    }

    fn push_call(&mut self, node: usize, tool_call: ToolCall) {
        let MessageBody::Assistant { tool_calls, .. } = &self.message(node).body else {
            return;
        };
        let call = tool_calls.as_ref().map_or(0, Vec::len);
        self.by_call
            .insert(tool_call.id.clone(), CallPlace { node, call });
        self.change_node(node, |held| {
            held.change(|message| push_call(message, tool_call));
        });
    }
}

fn push_call(message: &mut Message, tool_call: ToolCall) -> Growth {
    let MessageBody::Assistant { tool_calls, .. } = &mut message.body else {
        return Growth::NONE;
    };
    let begins = match tool_calls {
        None => new_member("toolCalls", "[]".len()),
        Some(_) => Growth::NONE,
    };
    let calls = tool_calls.get_or_insert_default();
    let growth = begins.and(new_element(calls.len(), call_bytes(&tool_call)));
    calls.push(tool_call);
    growth
}

#[cfg(test)]
mod tests;
