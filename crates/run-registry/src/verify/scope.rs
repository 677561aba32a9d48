//! What a run has opened, closed and owned so far.

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::{MessageId, RunId, StepName, SubagentRunId, ThreadId, ToolCallId};

use crate::verify::open::Open;
use crate::verify::owners::{Owner, Owners};
use crate::verify::subagents::Subagents;

/// One open run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunScope {
    pub(crate) thread: ThreadId,
    pub(crate) run: RunId,
    pub(crate) calls: Open<ToolCallId>,
    pub(crate) messages: Open<MessageId>,
    pub(crate) owners: Owners,
    pub(crate) reasoning_messages: Open<MessageId>,
    pub(crate) spans: Open<MessageId>,
    /// By owner and name: a subagent may have a step of the same name as its parent.
    pub(crate) steps: Open<(Owner, StepName)>,
    pub(crate) subagents: Subagents,
}

impl RunScope {
    pub(super) fn new(thread: ThreadId, run: RunId) -> Self {
        Self {
            thread,
            run,
            calls: Open::default(),
            messages: Open::default(),
            owners: Owners::default(),
            reasoning_messages: Open::default(),
            spans: Open::default(),
            steps: Open::default(),
            subagents: Subagents::default(),
        }
    }

    pub(super) fn advance(&mut self, event: &Event) {
        let owner = &event.owner;
        let owners = &mut self.owners;
        match &event.body {
            EventBody::TextMessageStart { message, .. } => {
                self.messages.insert(message.clone());
                owners
                    .messages
                    .entry(message.clone())
                    .or_insert_with(|| owner.clone());
            }
            EventBody::TextMessageEnd { message } => self.messages.remove(message),
            EventBody::ToolCallStart { call, parent, .. } => {
                self.calls.insert(call.clone());
                let inherited = parent
                    .as_ref()
                    .and_then(|parent| owners.messages.get(parent))
                    .cloned()
                    .flatten();
                owners
                    .calls
                    .entry(call.clone())
                    .or_insert_with(|| owner.clone().or(inherited));
            }
            EventBody::ToolCallEnd { call } => self.calls.remove(call),
            EventBody::ToolCallResult { message, .. } => {
                owners.messages.insert(message.clone(), owner.clone());
            }
            EventBody::ReasoningStart { span } => {
                self.spans.insert(span.clone());
                owners
                    .reasoning
                    .entry(span.clone())
                    .or_insert_with(|| owner.clone());
            }
            EventBody::ReasoningEnd { span } => self.spans.remove(span),
            EventBody::ReasoningMessageStart { message } => {
                self.reasoning_messages.insert(message.clone());
                owners
                    .reasoning
                    .entry(message.clone())
                    .or_insert_with(|| owner.clone());
            }
            EventBody::ReasoningMessageEnd { message } => self.reasoning_messages.remove(message),
            EventBody::StepStarted { step } => self.steps.insert((owner.clone(), step.clone())),
            EventBody::StepFinished { step } => self.steps.remove(&(owner.clone(), step.clone())),
            EventBody::ActivitySnapshot {
                message, replace, ..
            } if *replace || !owners.activities.contains_key(message) => {
                owners.activities.insert(message.clone(), owner.clone());
            }
            EventBody::MessagesSnapshot { messages } => owners.seed_all(messages),
            EventBody::SubagentStarted { .. } => self.with_subagent(event, Subagents::start),
            EventBody::SubagentFinished { .. } | EventBody::SubagentError { .. } => {
                self.with_subagent(event, Subagents::end);
            }
            _ => {}
        }
    }

    fn with_subagent(&mut self, event: &Event, change: fn(&mut Subagents, &SubagentRunId, &Event)) {
        if let Some(subagent) = &event.owner {
            change(&mut self.subagents, subagent, event);
        }
    }
}
