//! Events that the hub itself writes, each with its JSON; the same arguments give the same bytes.
//!
//! They carry no metadata and no timestamp: what opens an item again must add nothing to it.

use serde_json::Value;

use crate::edit::{Edit, append_member, edit_object};
use crate::event::{Event, EventBody, Outcome, RunStartedInput, SubagentOutcome, TextRole};
use crate::ids::{MessageId, RunId, StepName, SubagentRunId, ThreadId, ToolCallId};
use crate::json::RawJson;
use crate::message::Message;
use crate::write::{self, ObjectWriter, push_array};

impl RunStartedInput {
    /// The hub's own input of a run: its ids and the messages that are new with it.
    pub fn new(thread: &ThreadId, run: &RunId, messages: Vec<Message>) -> Self {
        let json = write::object(|object| {
            object.string("threadId", thread.as_str());
            object.string("runId", run.as_str());
            push_array(object.name("messages"), &messages, Message::write);
        });
        Self { json, messages }
    }
}

/// The start of a run whose agent sent none.
pub fn run_started(
    thread: &ThreadId,
    run: &RunId,
    protocol_version: Option<&str>,
    parent_run: Option<&RunId>,
    input: Option<&RunStartedInput>,
) -> Event {
    let body = EventBody::RunStarted {
        thread: thread.clone(),
        run: run.clone(),
        protocol_version: protocol_version.map(Into::into),
        parent_run: parent_run.cloned(),
        input: input.cloned(),
    };
    event(None, body, |object| {
        object.string("threadId", thread.as_str());
        object.string("runId", run.as_str());
        object.string_if("protocolVersion", protocol_version);
        object.string_if("parentRunId", parent_run.map(RunId::as_str));
        if let Some(input) = input {
            object.raw("input", input.json.as_str());
        }
    })
}

/// The agent's own RUN_STARTED with `input` in place of what it carried; every other byte stays.
///
/// Any other event comes back as it is.
pub fn run_started_with_input(started: &Event, input: RunStartedInput) -> Event {
    let json = started.json.as_str();
    let replaced = edit_object(json, |name, _| match name {
        "input" => Edit::Set(input.json.as_str().to_owned()),
        _ => Edit::Keep,
    });
    let json = replaced.unwrap_or_else(|| append_member(json, "input", input.json.as_str()));
    replace_input(started, json, Some(input))
}

/// The agent's own RUN_STARTED without `input`; every other byte stays.
///
/// Any other event comes back as it is.
pub fn without_input(started: &Event) -> Event {
    let edit = |name: &str, _: &str| Edit::drop_if(name == "input");
    match edit_object(started.json.as_str(), edit) {
        Some(json) => replace_input(started, json, None),
        None => started.clone(),
    }
}

fn replace_input(started: &Event, json: String, new: Option<RunStartedInput>) -> Event {
    let mut event = started.clone();
    if let EventBody::RunStarted { input, .. } = &mut event.body {
        *input = new;
        event.json = RawJson::from_trusted(json);
    }
    event
}

/// The regular end of a run, without result and usage.
pub fn run_finished(thread: &ThreadId, run: &RunId, outcome: &Outcome) -> Event {
    let body = EventBody::RunFinished {
        thread: thread.as_str().into(),
        run: run.as_str().into(),
        result: None,
        outcome: outcome.clone(),
        usage: Vec::new(),
    };
    event(None, body, |object| {
        object.string("threadId", thread.as_str());
        object.string("runId", run.as_str());
        let mut member = ObjectWriter::begin(object.name("outcome"));
        match outcome {
            Outcome::Cancelled => member.string("type", "cancelled"),
            Outcome::Interrupt { interrupts } => {
                member.string("type", "interrupt");
                push_array(member.name("interrupts"), interrupts, |one, out| {
                    out.push_str(one.json.as_str())
                });
            }
            Outcome::Success { pending_tool_calls } => {
                member.string("type", "success");
                if !pending_tool_calls.is_empty() {
                    let push = |call: &ToolCallId, out: &mut String| {
                        out.push_str(&write::string_token(call.as_str()))
                    };
                    push_array(member.name("pendingToolCallIds"), pending_tool_calls, push);
                }
            }
        }
        member.end();
    })
}

/// The failure of a run; it belongs to the run that its stream or log is in.
pub fn run_error(message: &str, code: Option<&str>) -> Event {
    let body = EventBody::RunError {
        message: message.into(),
        code: code.map(Into::into),
        usage: Vec::new(),
    };
    event(None, body, |object| {
        object.string("message", message);
        object.string_if("code", code);
    })
}

/// The whole conversation, every message as the fold holds it.
pub fn messages_snapshot(messages: &[Message]) -> Event {
    event(
        None,
        EventBody::MessagesSnapshot {
            messages: messages.to_vec(),
        },
        |object| {
            push_array(object.name("messages"), messages, Message::write);
        },
    )
}

/// The whole state.
pub fn state_snapshot(snapshot: &Value) -> Event {
    event(
        None,
        EventBody::StateSnapshot {
            snapshot: snapshot.clone(),
        },
        |object| {
            object.raw("snapshot", &snapshot.to_string());
        },
    )
}

/// A step that is open, for a viewer who joins.
pub fn step_started(step: &StepName, owner: Option<&SubagentRunId>) -> Event {
    event(
        owner,
        EventBody::StepStarted { step: step.clone() },
        |object| object.string("stepName", step.as_str()),
    )
}

/// A text message that is open; for a viewer who holds its text so far, it goes on.
pub fn text_message_start(
    message: &MessageId,
    role: TextRole,
    name: Option<&str>,
    owner: Option<&SubagentRunId>,
) -> Event {
    let body = EventBody::TextMessageStart {
        message: message.clone(),
        role,
        name: name.map(Into::into),
    };
    event(owner, body, |object| {
        object.string("messageId", message.as_str());
        object.string("role", role.as_str());
        object.string_if("name", name);
    })
}

/// A tool call that is open; for a viewer who holds its arguments so far, it goes on.
pub fn tool_call_start(
    call: &ToolCallId,
    name: &str,
    parent: Option<&MessageId>,
    owner: Option<&SubagentRunId>,
) -> Event {
    let body = EventBody::ToolCallStart {
        call: call.clone(),
        name: name.into(),
        parent: parent.cloned(),
    };
    event(owner, body, |object| {
        object.string("toolCallId", call.as_str());
        object.string("toolCallName", name);
        object.string_if("parentMessageId", parent.map(MessageId::as_str));
    })
}

/// The end of a tool call that the agent itself ended.
pub fn tool_call_end(call: &ToolCallId, owner: Option<&SubagentRunId>) -> Event {
    event(
        owner,
        EventBody::ToolCallEnd { call: call.clone() },
        |object| object.string("toolCallId", call.as_str()),
    )
}

/// A reasoning span that is open.
pub fn reasoning_start(span: &MessageId, owner: Option<&SubagentRunId>) -> Event {
    event(
        owner,
        EventBody::ReasoningStart { span: span.clone() },
        |object| object.string("messageId", span.as_str()),
    )
}

/// A reasoning message that is open; for a viewer who holds its text so far, it goes on.
pub fn reasoning_message_start(message: &MessageId, owner: Option<&SubagentRunId>) -> Event {
    event(
        owner,
        EventBody::ReasoningMessageStart {
            message: message.clone(),
        },
        |object| {
            object.string("messageId", message.as_str());
            object.string("role", "reasoning");
        },
    )
}

/// An invocation that was announced before, for a viewer who joins.
pub fn subagent_started(
    subagent: &SubagentRunId,
    name: &str,
    parent: Option<&SubagentRunId>,
) -> Event {
    let body = EventBody::SubagentStarted {
        name: name.into(),
        description: None,
        parent: parent.cloned(),
        parent_call: None,
        parent_message: None,
    };
    event(Some(subagent), body, |object| {
        object.string("name", name);
        object.string_if("parentSubagentRunId", parent.map(SubagentRunId::as_str));
    })
}

/// The success of an invocation that was announced before.
pub fn subagent_finished(subagent: &SubagentRunId) -> Event {
    let body = EventBody::SubagentFinished {
        result: None,
        outcome: SubagentOutcome::Success,
    };
    event(Some(subagent), body, |_| {})
}

/// The failure of an invocation; the run goes on.
pub fn subagent_error(subagent: &SubagentRunId, message: &str, code: Option<&str>) -> Event {
    let body = EventBody::SubagentError {
        message: message.into(),
        code: code.map(Into::into),
    };
    event(Some(subagent), body, |object| {
        object.string("message", message);
        object.string_if("code", code);
    })
}

/// An event with its type first and its owner last; `write` writes what stands between.
pub(crate) fn event(
    owner: Option<&SubagentRunId>,
    body: EventBody,
    write: impl FnOnce(&mut ObjectWriter<'_>),
) -> Event {
    let json = write::object(|object| {
        object.string("type", body.type_name());
        write(object);
        object.string_if("subagentRunId", owner.map(SubagentRunId::as_str));
    });
    Event {
        json,
        timestamp: None,
        metadata: None,
        owner: owner.cloned(),
        body,
    }
}

#[cfg(test)]
mod tests;
