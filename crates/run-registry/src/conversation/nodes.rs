//! The places of a list: numbered, added to, never taken away.
//!
//! They stand in pieces that copies of the list share, so that a copy costs a small part of the
//! list and a change of a copy one piece.
//!
//! Invariant: every piece but the last is full.

use std::ops::Index;
use std::sync::Arc;

use crate::conversation::held::Held;

const PIECE: usize = 128;

/// How far apart messages are that came one behind the other.
pub(super) const ORDER_STEP: u64 = 1 << 32;

#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    pieces: Vec<Arc<Vec<Node>>>,
    len: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) held: Held,
    pub(super) next: Option<usize>,
    pub(super) previous: Option<usize>,
    /// Rises along the list.
    pub(super) order: u64,
    /// Of a tool message that is known to follow a message with calls, but for other tool messages
    /// between them: that message.
    pub(super) answers: Option<usize>,
    /// Of a message that got results: the last tool message known to follow it without a gap.
    pub(super) last_result: Option<usize>,
}

impl Node {
    /// The last of a list.
    pub(super) fn new(held: Held, previous: Option<usize>, order: u64) -> Self {
        Self {
            held,
            next: None,
            previous,
            order,
            answers: None,
            last_result: None,
        }
    }
}

impl Nodes {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, node: Node) {
        if self.len.is_multiple_of(PIECE) {
            self.pieces.push(Arc::default());
        }
        let last = self.pieces.last_mut().expect("there is room");
        Arc::make_mut(last).push(node);
        self.len += 1;
    }

    pub(super) fn node_mut(&mut self, node: usize) -> &mut Node {
        &mut Arc::make_mut(&mut self.pieces[node / PIECE])[node % PIECE]
    }
}

impl Index<usize> for Nodes {
    type Output = Node;

    fn index(&self, node: usize) -> &Node {
        &self.pieces[node / PIECE][node % PIECE]
    }
}

#[cfg(test)]
mod tests;
