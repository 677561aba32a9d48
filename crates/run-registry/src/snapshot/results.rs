//! Telling a client which calls the open run has answered.
//!
//! Only a result tells it, and a result makes a message. So results that would land where they
//! stand are left out of the list and given as they came.

use std::borrow::Cow;
use std::collections::HashSet;

use threadcast_agui::event::Event;
use threadcast_agui::ids::ToolCallId;
use threadcast_agui::make;
use threadcast_agui::message::{Message, MessageBody};

use crate::conversation::Conversation;
use crate::snapshot::List;
use crate::verify::{Owners, RunScope};

/// Results that are given instead of listed.
pub(super) struct Results<'a> {
    /// In list order.
    given: Vec<&'a Message>,
    /// Everything else, in list order; each with its place, for a list can hold one message in
    /// several.
    listed: Vec<(usize, &'a Message)>,
    /// The calls that `given` answers.
    answered: HashSet<&'a ToolCallId>,
}

impl<'a> Results<'a> {
    pub(super) fn of(conversation: &'a Conversation, scope: &RunScope) -> Self {
        let messages: Vec<_> = conversation.placed_messages().collect();
        let result_at = |at: usize| messages.get(at).and_then(|(_, message)| call_of(message));
        let mut results = Self {
            given: Vec::new(),
            listed: Vec::new(),
            answered: HashSet::new(),
        };
        let mut at = 0;
        while let Some(placed) = messages.get(at) {
            results.listed.push(*placed);
            at += 1;
            if result_at(at - 1).is_none() || result_at(at).is_some() {
                continue;
            }
            results.give_tail(conversation, scope, at == messages.len());
        }
        let given = results.given.iter().copied();
        results.answered = given.filter_map(call_of).collect();
        results
    }

    /// Every message is listed.
    pub(super) fn none(conversation: &'a Conversation) -> Self {
        Self {
            given: Vec::new(),
            listed: conversation.placed_messages().collect(),
            answered: HashSet::new(),
        }
    }

    /// Of the tool messages at the end of what is listed, moves the last ones over to what is
    /// given, as far as each would land there: behind its call and the tool messages that follow.
    fn give_tail(&mut self, conversation: &'a Conversation, scope: &RunScope, is_end: bool) {
        let is_result = |(_, message): &&(usize, &Message)| call_of(message).is_some();
        let group = self.listed.iter().rev().take_while(is_result).count();
        let begin = self.listed.len() - group;
        let holder = begin
            .checked_sub(1)
            .and_then(|at| self.listed.get(at))
            .map(|(place, _)| *place);
        let lands = |message: &Message| match call_of(message) {
            Some(call) if conversation.runs().is_answered(call) => {
                let own = conversation.tool_call_holder(call);
                let is_here = match (own, holder) {
                    (Some(own), Some(holder)) => own == holder,
                    (None, _) => is_end,
                    (Some(_), None) => false,
                };
                is_here
                    && is_plain(message)
                    && scope.owners.messages.get(&message.id) == Some(&message.owner)
            }
            _ => false,
        };
        let tail = self.listed.iter().rev().take(group);
        let count = tail.take_while(|(_, message)| lands(message)).count();
        let given = self.listed.split_off(self.listed.len() - count);
        self.given
            .extend(given.into_iter().map(|(_, message)| message));
    }

    /// Whether what is given tells of the call.
    pub(super) fn is_answered(&self, call: &ToolCallId) -> bool {
        self.answered.contains(call)
    }

    /// Whether what is given tells of every call that the run has answered.
    pub(super) fn is_complete(&self, conversation: &Conversation) -> bool {
        let mut answered = conversation.runs().answered();
        answered.all(|call| self.is_answered(call))
    }

    /// What is listed.
    pub(super) fn list(&self) -> List<'a> {
        let listed = self.listed.iter();
        listed.map(|(_, message)| Cow::Borrowed(*message)).collect()
    }

    /// Notes the owners that what is given tells.
    pub(super) fn tell(&self, told: &mut Owners) {
        for message in &self.given {
            told.messages
                .insert(message.id.clone(), message.owner.clone());
        }
    }

    pub(super) fn events(&self) -> impl Iterator<Item = Event> {
        self.given.iter().filter_map(|message| match &message.body {
            MessageBody::Tool { content, call, .. } => Some(make::tool_call_result(
                &message.id,
                call,
                content,
                message.owner.as_ref(),
                message.metadata.as_ref(),
            )),
            _ => None,
        })
    }
}

fn call_of(message: &Message) -> Option<&ToolCallId> {
    match &message.body {
        MessageBody::Tool { call, .. } => Some(call),
        _ => None,
    }
}

/// Whether a result event can say all of it.
fn is_plain(message: &Message) -> bool {
    let is_plain_body = matches!(
        message.body,
        MessageBody::Tool {
            error: None,
            encrypted_value: None,
            ..
        }
    );
    is_plain_body && message.extra.is_empty()
}
