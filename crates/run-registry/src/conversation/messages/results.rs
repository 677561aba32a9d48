//! What changes the middle of the list: results, which go behind their call, and activities in
//! place of other messages. Neither costs more on a long thread than on a short one.

use threadcast_agui::ids::ToolCallId;
use threadcast_agui::message::{Message, MessageBody};

use super::{CallPlace, Messages};
use crate::conversation::held::Held;
use crate::conversation::nodes::{Node, ORDER_STEP};

/// How far behind the one in front of it a message goes into the middle, while there is room.
const RESULT_STEP: u64 = 1 << 16;

impl Messages {
    /// Puts a result behind the message that holds the call and the tool messages that follow it;
    /// at the end if no message holds it.
    pub(in crate::conversation) fn insert_result(&mut self, call: &ToolCallId, message: Message) {
        let Some(CallPlace { node: holder, .. }) = self.by_call.get(call) else {
            return self.append(message);
        };
        let before = self.last_result_of(holder);
        let node = self.nodes.len();
        match self.nodes[before].next {
            None => self.append(message),
            Some(next) => self.insert(message, before, next),
        }
        self.nodes.node_mut(node).answers = Some(holder);
        self.nodes.node_mut(holder).last_result = Some(node);
    }

    fn insert(&mut self, message: Message, before: usize, next: usize) {
        let node = self.nodes.len();
        let order = self.order_between(before, next);
        let known = self.by_id.get(&message.id);
        if known.is_none_or(|known| self.nodes[known].order > order) {
            self.by_id.insert(message.id.clone(), node);
        }
        self.nodes.node_mut(before).next = Some(node);
        self.nodes.node_mut(next).previous = Some(node);
        let held = Held::from(message);
        self.bytes += held.bytes();
        self.nodes.push(Node {
            next: Some(next),
            ..Node::new(held, Some(before), order)
        });
    }

    fn order_between(&mut self, before: usize, next: usize) -> u64 {
        let room = |list: &Self| list.nodes[next].order - list.nodes[before].order;
        if room(self) < 2 {
            self.spread();
        }
        self.nodes[before].order + RESULT_STEP.min(room(self) / 2)
    }

    /// Makes room between all messages; thousands of results go into one place before it is needed.
    fn spread(&mut self) {
        let mut next = (self.nodes.len() > 0).then_some(0);
        let mut order = 0;
        while let Some(node) = next {
            let node = self.nodes.node_mut(node);
            node.order = order;
            order += ORDER_STEP;
            next = node.next;
        }
    }

    /// The last of the tool messages right behind `holder`, or `holder` itself.
    fn last_result_of(&mut self, holder: usize) -> usize {
        let mut last = self.nodes[holder].last_result.unwrap_or(holder);
        while let Some(next) = self.nodes[last].next
            && matches!(self.message(next).body, MessageBody::Tool { .. })
        {
            self.nodes.node_mut(next).answers = Some(holder);
            last = next;
        }
        last
    }

    /// Puts a message without calls in the place of the first one with its id.
    pub(in crate::conversation) fn replace(&mut self, message: Message) {
        let Some(node) = self.by_id.get(&message.id) else {
            return;
        };
        let new = Held::from(message);
        self.bytes += new.bytes();
        let gone = std::mem::replace(&mut self.nodes.node_mut(node).held, new);
        self.bytes -= gone.bytes();
        self.end_results_before(node);
        for call in gone.message().tool_calls() {
            self.move_on(&call.id, node);
        }
    }

    /// What is no tool message any more ends the results it stood among.
    fn end_results_before(&mut self, node: usize) {
        let Some(holder) = self.nodes.node_mut(node).answers.take() else {
            return;
        };
        let (last, previous) = (self.nodes[holder].last_result, self.nodes[node].previous);
        if last.is_some_and(|last| self.nodes[last].order >= self.nodes[node].order) {
            self.nodes.node_mut(holder).last_result = previous.filter(|one| *one != holder);
        }
    }

    /// A call is gone from `node`: if that was its first place, its next one is the first now.
    fn move_on(&mut self, call: &ToolCallId, node: usize) {
        let first = self.by_call.get(call).filter(|first| first.node == node);
        let Some(mut place) = first else {
            return;
        };
        while let Some(next) = self.next_place.get(&place) {
            self.next_place.remove(&place);
            let calls = self.message(next.node).tool_calls();
            if calls.get(next.call).is_some_and(|found| found.id == *call) {
                return self.by_call.insert(call.clone(), next);
            }
            place = next;
        }
        self.by_call.remove(call);
        self.last_place.remove(call);
    }
}
