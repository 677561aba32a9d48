//! The messages of a thread in order, found by id.
//!
//! A list linked by places in a vector: a tool result goes into the middle without moving what
//! follows. Messages leave only when a snapshot restates all of them, which builds the list anew.
//!
//! Each message is shared, so that a copy of the list costs no copy of what they say.
//!
//! Invariant: `by_id` and `by_call` name the first message, in list order, that has the id or holds
//! the call.

use std::collections::HashMap;
use std::sync::Arc;

use threadcast_agui::ids::{MessageId, ToolCallId};
use threadcast_agui::message::{Message, MessageBody, ToolCall};

#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    nodes: Vec<Node>,
    last: Option<usize>,
    by_id: HashMap<MessageId, usize>,
    by_call: HashMap<ToolCallId, CallPlace>,
    /// Whether some call may stand in two messages, so that taking one away makes the other the
    /// first.
    has_repeated_calls: bool,
}

#[derive(Clone, Debug)]
struct Node {
    message: Arc<Message>,
    next: Option<usize>,
    /// Of a message that got results: the last tool message known to follow it without a gap.
    last_result: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct CallPlace {
    node: usize,
    call: usize,
}

impl Messages {
    /// A list of `messages`, repeated ids and all.
    pub(super) fn of(messages: impl IntoIterator<Item = Message>) -> Self {
        let mut list = Self::default();
        for message in messages {
            list.append(message);
        }
        list
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Message> {
        // The first message is never taken away and nothing goes before it.
        std::iter::successors(self.nodes.first(), |node| self.nodes.get(node.next?))
            .map(|node| &*node.message)
    }

    pub(super) fn into_vec(self) -> Vec<Message> {
        let mut next = self.nodes.first().map(|_| 0);
        let mut nodes: Vec<_> = self.nodes.into_iter().map(Some).collect();
        let take = || {
            let node = nodes.get_mut(next?)?.take()?;
            next = node.next;
            Some(Arc::unwrap_or_clone(node.message))
        };
        std::iter::from_fn(take).collect()
    }

    pub(super) fn get(&self, id: &MessageId) -> Option<&Message> {
        self.by_id.get(id).map(|node| &*self.nodes[*node].message)
    }

    /// Its id, role and calls must stay.
    pub(super) fn get_mut(&mut self, id: &MessageId) -> Option<&mut Message> {
        self.by_id
            .get(id)
            .map(|node| Arc::make_mut(&mut self.nodes[*node].message))
    }

    pub(super) fn call(&self, call: &ToolCallId) -> Option<&ToolCall> {
        let place = self.by_call.get(call)?;
        self.nodes[place.node].message.tool_calls().get(place.call)
    }

    /// The message that holds the call.
    pub(super) fn holder(&self, call: &ToolCallId) -> Option<&Message> {
        let place = self.by_call.get(call)?;
        Some(&*self.nodes[place.node].message)
    }

    pub(super) fn call_mut(&mut self, call: &ToolCallId) -> Option<&mut ToolCall> {
        let place = self.by_call.get(call)?;
        match &mut Arc::make_mut(&mut self.nodes[place.node].message).body {
            MessageBody::Assistant {
                tool_calls: Some(calls),
                ..
            } => calls.get_mut(place.call),
            _ => None,
        }
    }

    pub(super) fn append(&mut self, message: Message) {
        let node = self.nodes.len();
        if let Some(last) = self.last.replace(node) {
            self.nodes[last].next = Some(node);
        }
        self.by_id.entry(message.id.clone()).or_insert(node);
        for (call, tool_call) in message.tool_calls().iter().enumerate() {
            let first = *self
                .by_call
                .entry(tool_call.id.clone())
                .or_insert(CallPlace { node, call });
            self.has_repeated_calls |= first.node != node;
        }
        self.nodes.push(Node {
            message: message.into(),
            next: None,
            last_result: None,
        });
    }

    /// Appends those whose ids are not here yet, as the echo of a run's input does.
    pub(super) fn append_new(&mut self, messages: &[Message]) {
        for message in messages {
            if !self.by_id.contains_key(&message.id) {
                self.append(message.clone());
            }
        }
    }

    /// Adds a call that stands in no message yet to the assistant message `holder`.
    pub(super) fn add_call(&mut self, holder: &MessageId, tool_call: ToolCall) {
        let Some(node) = self.by_id.get(holder).copied() else {
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
        let message = Arc::make_mut(&mut self.nodes[node].message);
        if let MessageBody::Assistant { tool_calls, .. } = &mut message.body {
            let calls = tool_calls.get_or_insert_default();
            self.by_call.insert(
                tool_call.id.clone(),
                CallPlace {
                    node,
                    call: calls.len(),
                },
            );
            calls.push(tool_call);
        }
    }

    /// Puts a result behind the message that holds the call and the tool messages that follow it;
    /// at the end if no message holds it.
    pub(super) fn insert_result(&mut self, call: &ToolCallId, message: Message) {
        let Some(place) = self.by_call.get(call) else {
            return self.append(message);
        };
        let before = self.last_result_of(place.node);
        self.nodes[place.node].last_result = Some(self.nodes.len());
        if self.last == Some(before) {
            return self.append(message);
        }
        let node = self.nodes.len();
        let known = self.by_id.get(&message.id).copied();
        if known.is_none_or(|known| self.is_behind(before, known)) {
            self.by_id.insert(message.id.clone(), node);
        }
        let next = self.nodes[before].next.replace(node);
        self.nodes.push(Node {
            message: message.into(),
            next,
            last_result: None,
        });
    }

    /// The last of the tool messages right behind `holder`, or `holder` itself.
    fn last_result_of(&self, holder: usize) -> usize {
        let is_result =
            |node: &usize| matches!(self.nodes[*node].message.body, MessageBody::Tool { .. });
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
        let Some(node) = self.by_id.get(&message.id).copied() else {
            return;
        };
        let gone = std::mem::replace(&mut self.nodes[node].message, message.into());
        if matches!(gone.body, MessageBody::Tool { .. }) {
            // It may have stood in the middle of a row of results, which ends in front of it now.
            for node in &mut self.nodes {
                node.last_result = None;
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
            *self = Self::of(std::mem::take(self).into_vec());
        }
    }
}
