//! The messages of a thread in order, found by id.
//!
//! A list linked by places in a vector: a tool result goes into the middle without moving what
//! follows. Messages leave only when a snapshot restates all of them, which builds the list anew.
//!
//! Messages, places and ids are shared between copies of the list, so that a copy costs a small
//! part of what it is to fold the list, and no copy of what the messages say.
//!
//! Invariant: `by_id` and `by_call` name the first message, in list order, that has the id or holds
//! the call; `bytes` is the length of all messages as JSON.

use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::message::{Message, MessageBody, ToolCall};

use crate::conversation::held::Held;
use crate::conversation::nodes::{Node, Nodes};
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
    /// Whether some call may stand in two messages, so that taking one away makes the other the
    /// first.
    has_repeated_calls: bool,
}

#[derive(Clone, Copy, Debug)]
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

    /// Length of the list as JSON.
    pub(super) fn bytes(&self) -> usize {
        "[]".len() + self.bytes + self.nodes.len().saturating_sub(1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Message> {
        self.iter_held().map(Held::message)
    }

    pub(super) fn iter_held(&self) -> impl Iterator<Item = &Held> {
        // The first message is never taken away and nothing goes before it.
        let first = (self.nodes.len() > 0).then(|| &self.nodes[0]);
        std::iter::successors(first, |node| Some(&self.nodes[node.next?])).map(|node| &node.held)
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

    /// The message that holds the call.
    pub(super) fn holder(&self, call: &ToolCallId) -> Option<&Message> {
        let place = self.by_call.get(call)?;
        Some(self.message(place.node))
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

    fn append_held(&mut self, held: Held) {
        let message = held.message();
        let node = self.nodes.len();
        if let Some(last) = self.last.replace(node) {
            self.nodes.node_mut(last).next = Some(node);
        }
        if self.by_id.get(&message.id).is_none() {
            self.by_id.insert(message.id.clone(), node);
        }
        for (call, tool_call) in message.tool_calls().iter().enumerate() {
            match self.by_call.get(&tool_call.id) {
                None => self
                    .by_call
                    .insert(tool_call.id.clone(), CallPlace { node, call }),
                Some(first) => self.has_repeated_calls |= first.node != node,
            }
        }
        self.bytes += held.bytes();
        self.nodes.push(Node {
            held,
            next: None,
            last_result: None,
        });
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

    /// Puts a result behind the message that holds the call and the tool messages that follow it;
    /// at the end if no message holds it.
    pub(super) fn insert_result(&mut self, call: &ToolCallId, message: Message) {
        let Some(place) = self.by_call.get(call) else {
            return self.append(message);
        };
        let before = self.last_result_of(place.node);
        self.nodes.node_mut(place.node).last_result = Some(self.nodes.len());
        if self.last == Some(before) {
            return self.append(message);
        }
        let node = self.nodes.len();
        let known = self.by_id.get(&message.id);
        if known.is_none_or(|known| self.is_behind(before, known)) {
            self.by_id.insert(message.id.clone(), node);
        }
        let next = self.nodes.node_mut(before).next.replace(node);
        let held = Held::from(message);
        self.bytes += held.bytes();
        self.nodes.push(Node {
            held,
            next,
            last_result: None,
        });
    }

    /// The last of the tool messages right behind `holder`, or `holder` itself.
    fn last_result_of(&self, holder: usize) -> usize {
        let is_result = |node: &usize| matches!(self.message(*node).body, MessageBody::Tool { .. });
        let mut last = self.nodes[holder].last_result.unwrap_or(holder);
        while let Some(next) = self.nodes[last].next.filter(is_result) {
            last = next;
        }
        last
    }

    /// Whether `wanted` comes after `node`; walks the rest of the list, for a repeated id only.
    fn is_behind(&self, node: usize, wanted: usize) -> bool {
        let next = |node: &usize| self.nodes[*node].next;
        std::iter::successors(next(&node), next).any(|node| node == wanted)
    }

    /// Puts a message without calls in the place of the first one with its id.
    pub(super) fn replace(&mut self, message: Message) {
        let Some(node) = self.by_id.get(&message.id) else {
            return;
        };
        let new = Held::from(message);
        self.bytes += new.bytes();
        let gone = std::mem::replace(&mut self.nodes.node_mut(node).held, new);
        self.bytes -= gone.bytes();
        let gone = gone.message();
        if matches!(gone.body, MessageBody::Tool { .. }) {
            // It may have stood in the middle of a row of results, which ends in front of it now.
            for node in 0..self.nodes.len() {
                self.nodes.node_mut(node).last_result = None;
            }
        }
        for call in gone.tool_calls() {
            if self
                .by_call
                .get(&call.id)
                .is_some_and(|place| place.node == node)
            {
                self.by_call.remove(&call.id);
            }
        }
        if self.has_repeated_calls && !gone.tool_calls().is_empty() {
            *self = Self::of(self.iter_held().cloned());
        }
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
