//! The rules on the events of an open run.

use std::fmt;

use threadcast_agui::event::{EncryptedEntity, Event, EventBody};
use threadcast_agui::ids::{MessageId, ToolCallId};

use crate::verify::demand::{
    MESSAGE, REASONING, SPAN, TOOL_CALL, left_open, must_be_closed, must_be_empty, must_be_open,
    must_be_unique, must_name, must_own,
};
use crate::verify::owners::Named;
use crate::verify::scope::RunScope;
use crate::verify::{Rule, Violation};

impl RunScope {
    pub(super) fn judge(&self, event: &Event) -> Result<(), Violation> {
        let owners = &self.owners;
        match &event.body {
            EventBody::TextMessageStart { message, .. } => {
                must_be_closed(event, &self.messages, message, MESSAGE)?;
                must_own(event, owners.messages.get(message), MESSAGE.name, message)
            }
            EventBody::TextMessageContent { message, .. }
            | EventBody::TextMessageEnd { message } => {
                must_be_open(event, &self.messages, message, MESSAGE)?;
                must_own(event, owners.messages.get(message), MESSAGE.name, message)
            }
            EventBody::ToolCallStart { call, parent, .. } => {
                self.judge_call_start(event, call, parent.as_ref())
            }
            EventBody::ToolCallArgs { call, .. } | EventBody::ToolCallEnd { call } => {
                must_be_open(event, &self.calls, call, TOOL_CALL)?;
                must_own(event, owners.calls.get(call), TOOL_CALL.name, call)
            }
            EventBody::ReasoningStart { .. }
            | EventBody::ReasoningEnd { .. }
            | EventBody::ReasoningMessageStart { .. }
            | EventBody::ReasoningMessageContent { .. }
            | EventBody::ReasoningMessageEnd { .. }
            | EventBody::ReasoningEncryptedValue { .. } => self.judge_reasoning(event),
            EventBody::ActivityDelta { message, .. } => {
                must_own(event, owners.activities.get(message), "activity", message)
            }
            EventBody::StepStarted { .. }
            | EventBody::StepFinished { .. }
            | EventBody::SubagentStarted { .. }
            | EventBody::SubagentFinished { .. }
            | EventBody::SubagentError { .. } => self.judge_bracket(event),
            EventBody::RunFinished {
                thread,
                run,
                outcome,
                ..
            } => {
                must_name(event, (thread, run), &self.thread, &self.run)?;
                self.judge_finish(event)?;
                must_be_unique(event, outcome)
            }
            // Results, state, snapshots, activities, RAW and CUSTOM are legal anywhere inside a
            // run; chunks are judged in expanded form.
            _ => Ok(()),
        }
    }

    fn judge_reasoning(&self, event: &Event) -> Result<(), Violation> {
        let owners = &self.owners;
        match &event.body {
            EventBody::ReasoningStart { span } => {
                must_be_closed(event, &self.spans, span, SPAN)?;
                must_own(event, owners.reasoning.get(span), SPAN.name, span)
            }
            EventBody::ReasoningEnd { span } => {
                must_be_open(event, &self.spans, span, SPAN)?;
                must_own(event, owners.reasoning.get(span), SPAN.name, span)
            }
            EventBody::ReasoningMessageStart { message } => {
                must_be_closed(event, &self.reasoning_messages, message, REASONING)?;
                must_own(
                    event,
                    owners.reasoning.get(message),
                    REASONING.name,
                    message,
                )
            }
            EventBody::ReasoningMessageContent { message, .. }
            | EventBody::ReasoningMessageEnd { message } => {
                must_be_open(event, &self.reasoning_messages, message, REASONING)?;
                must_own(
                    event,
                    owners.reasoning.get(message),
                    REASONING.name,
                    message,
                )
            }
            EventBody::ReasoningEncryptedValue { entity, .. } => match entity {
                EncryptedEntity::Message(message) => {
                    let owner = owners
                        .messages
                        .get(message)
                        .or_else(|| owners.reasoning.get(message));
                    must_own(event, owner, MESSAGE.name, message)
                }
                EncryptedEntity::ToolCall(call) => {
                    must_own(event, owners.calls.get(call), TOOL_CALL.name, call)
                }
            },
            _ => Ok(()),
        }
    }

    fn judge_call_start(
        &self,
        event: &Event,
        call: &ToolCallId,
        parent: Option<&MessageId>,
    ) -> Result<(), Violation> {
        must_be_closed(event, &self.calls, call, TOOL_CALL)?;
        let recorded = self.owners.calls.get(call);
        if let Some((parent, holder)) =
            parent.and_then(|id| Some((id, self.owners.messages.get(id)?)))
        {
            // Without a tag the call is its parent message's, and a known call cannot change hands
            // that way either.
            let claimed = if event.owner.is_some() {
                Some(&event.owner)
            } else {
                recorded
            };
            if let Some(claimed) = claimed.filter(|claimed| *claimed != holder) {
                let (claimed, holder) = (Named(claimed.as_ref()), Named(holder.as_ref()));
                return Err(Violation::new(
                    Rule::ParentOwnerMismatch,
                    event,
                    format_args!(
                        "puts tool call `{call}` of {claimed} into message `{parent}` of {holder}"
                    ),
                ));
            }
        }
        must_own(event, recorded, TOOL_CALL.name, call)
    }

    fn judge_bracket(&self, event: &Event) -> Result<(), Violation> {
        let owner = Named(event.owner.as_ref());
        let refuse = |rule, problem: fmt::Arguments<'_>| Err(Violation::new(rule, event, problem));
        match (&event.body, &event.owner) {
            (EventBody::StepStarted { step }, _)
                if self.steps.contains(&(event.owner.clone(), step.clone())) =>
            {
                refuse(
                    Rule::StepAlreadyOpen,
                    format_args!("names step `{step}`, which is open in {owner}"),
                )
            }
            (EventBody::StepFinished { step }, _)
                if !self.steps.contains(&(event.owner.clone(), step.clone())) =>
            {
                let steps = self.steps.in_order();
                match steps.iter().find(|(_, name)| name == step) {
                    Some((other, _)) => refuse(
                        Rule::StepNotOpen,
                        format_args!(
                            "names step `{step}` of {owner}, which is open in {}",
                            Named(other.as_ref())
                        ),
                    ),
                    None => refuse(
                        Rule::StepNotOpen,
                        format_args!("names step `{step}` of {owner}, which is not open"),
                    ),
                }
            }
            (EventBody::SubagentStarted { parent, .. }, Some(subagent)) => {
                if self.subagents.is_known(subagent) {
                    let problem = format_args!(
                        "names subagent `{subagent}`, which was started before in this run"
                    );
                    return refuse(Rule::SubagentAlreadyStarted, problem);
                }
                match parent
                    .as_ref()
                    .filter(|parent| !self.subagents.is_known(parent))
                {
                    None => Ok(()),
                    Some(parent) => refuse(
                        Rule::SubagentParentUnknown,
                        format_args!(
                            "of `{subagent}` names parent `{parent}`, which was not started in this run"
                        ),
                    ),
                }
            }
            (
                EventBody::SubagentFinished { .. } | EventBody::SubagentError { .. },
                Some(subagent),
            ) if !self.subagents.is_active(subagent) => {
                let state = if self.subagents.is_known(subagent) {
                    "has ended"
                } else {
                    "was not started in this run"
                };
                refuse(
                    Rule::SubagentNotActive,
                    format_args!("names subagent `{subagent}`, which {state}"),
                )
            }
            _ => Ok(()),
        }
    }

    /// The order of the checks is the reference client's.
    fn judge_finish(&self, event: &Event) -> Result<(), Violation> {
        must_be_empty(event, &self.steps, Rule::StepLeftOpen, |(owner, step)| {
            format!("step `{step}` of {}", Named(owner.as_ref()))
        })?;
        must_be_empty(event, &self.messages, Rule::MessageLeftOpen, |id| {
            format!("{} `{id}`", MESSAGE.name)
        })?;
        let rule = Rule::ReasoningMessageLeftOpen;
        must_be_empty(event, &self.reasoning_messages, rule, |id| {
            format!("{} `{id}`", REASONING.name)
        })?;
        must_be_empty(event, &self.spans, Rule::ReasoningSpanLeftOpen, |id| {
            format!("{} `{id}`", SPAN.name)
        })?;
        must_be_empty(event, &self.calls, Rule::ToolCallLeftOpen, |id| {
            format!("{} `{id}`", TOOL_CALL.name)
        })?;
        if !self.subagents.is_any_active() {
            return Ok(());
        }
        let active = self
            .subagents
            .invocations()
            .iter()
            .filter(|invocation| invocation.ended.is_none());
        let named = active.map(|invocation| Named(invocation.started.owner.as_ref()).to_string());
        Err(left_open(event, Rule::SubagentLeftOpen, named.collect()))
    }
}
