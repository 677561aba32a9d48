//! Events that the hub itself writes, each with its JSON; the same arguments give the same bytes.
//!
//! They carry no timestamp and, but for results, no metadata: what opens an item again must add
//! nothing to it.

use serde_json::Value;

use crate::content::Content;
use crate::edit::{Edit, append_member, edit_object};
use crate::event::{Event, EventBody, Outcome, RunStartedInput, TextRole};
use crate::ids::{MessageId, RunId, StepName, SubagentRunId, ThreadId, ToolCallId};
use crate::json::{Metadata, RawJson};
use crate::message::{Message, MessageBody};
use crate::write::{self, ObjectWriter, push_array, string_token};

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

/// The event as one of `thread`: RUN_STARTED, its `input` included, and RUN_FINISHED name it; every
/// other byte stays.
///
/// Any other event comes back as it is.
pub fn on_thread(event: &Event, thread: &ThreadId) -> Event {
    let mut moved = event.clone();
    match &mut moved.body {
        EventBody::RunStarted {
            thread: own, input, ..
        } => {
            *own = thread.clone();
            if let Some(input) = input {
                input.json = with_thread(&input.json, thread);
            }
        }
        EventBody::RunFinished { thread: own, .. } => *own = thread.as_str().into(),
        _ => return moved,
    }
    moved.json = with_thread(&event.json, thread);
    moved
}

fn with_thread(object: &RawJson, thread: &ThreadId) -> RawJson {
    let edited = edit_object(object.as_str(), |name, value| match name {
        "threadId" => Edit::Set(string_token(thread.as_str())),
        "input" => Edit::if_some(edit_object(value, |name, _| match name {
            "threadId" => Edit::Set(string_token(thread.as_str())),
            _ => Edit::Keep,
        })),
        _ => Edit::Keep,
    });
    edited.map_or_else(|| object.clone(), RawJson::from_trusted)
}

fn replace_input(started: &Event, json: String, new: Option<RunStartedInput>) -> Event {
    let mut event = started.clone();
    if let EventBody::RunStarted { input, .. } = &mut event.body {
        *input = new;
        event.json = RawJson::from_trusted(json);
    }
    event
}

/// The regular end of a run that leaves nothing pending.
pub fn run_finished(thread: &ThreadId, run: &RunId) -> Event {
    let body = EventBody::RunFinished {
        thread: thread.as_str().into(),
        run: run.as_str().into(),
        result: None,
        outcome: Outcome::Success {
            pending_tool_calls: Vec::new(),
        },
        usage: Vec::new(),
    };
    event(None, body, |object| {
        object.string("threadId", thread.as_str());
        object.string("runId", run.as_str());
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

/// Writes the JSON of [`messages_snapshot`] in pieces of a message each, so that a long list takes
/// no memory of its own.
pub fn write_messages_snapshot<'m>(
    messages: impl IntoIterator<Item = &'m Message>,
    mut push: impl FnMut(&str),
) {
    let empty = messages_snapshot(&[]).json;
    let (begin, end) = empty.as_str().split_at(empty.as_str().len() - "]}".len());
    push(begin);
    let mut piece = String::new();
    for message in messages {
        message.write(&mut piece);
        push(&piece);
        piece.clear();
        piece.push(',');
    }
    push(end);
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

/// An activity as it is held; `None` for a message of another role.
pub fn activity_snapshot(message: &Message) -> Option<Event> {
    let MessageBody::Activity {
        activity_type,
        content,
    } = &message.body
    else {
        return None;
    };
    let body = EventBody::ActivitySnapshot {
        message: message.id.clone(),
        activity_type: activity_type.clone(),
        content: content.clone(),
        replace: true,
    };
    Some(event(message.owner.as_ref(), body, |object| {
        object.string("messageId", message.id.as_str());
        object.string("activityType", activity_type);
        let json = serde_json::to_string(content).expect("JSON values always have a JSON form");
        object.raw("content", &json);
    }))
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

/// A result that was told before, for a viewer who lacks its message.
pub fn tool_call_result(
    message: &MessageId,
    call: &ToolCallId,
    content: &Content,
    owner: Option<&SubagentRunId>,
    metadata: Option<&Metadata>,
) -> Event {
    let body = EventBody::ToolCallResult {
        message: message.clone(),
        call: call.clone(),
        content: content.clone(),
    };
    let mut result = event(owner, body, |object| {
        object.string("messageId", message.as_str());
        object.string("toolCallId", call.as_str());
        content.write(object.name("content"));
    });
    if let Some(metadata) = metadata {
        let json = serde_json::to_string(metadata).expect("JSON values always have a JSON form");
        let json = append_member(result.json.as_str(), "metadata", &json);
        result.json = RawJson::from_trusted(json);
        result.metadata = Some(metadata.clone());
    }
    result
}

/// A reasoning span that is open.
pub fn reasoning_start(span: &MessageId, owner: Option<&SubagentRunId>) -> Event {
    event(
        owner,
        EventBody::ReasoningStart { span: span.clone() },
        |object| object.string("messageId", span.as_str()),
    )
}

/// The end of a reasoning span.
pub fn reasoning_end(span: &MessageId, owner: Option<&SubagentRunId>) -> Event {
    event(
        owner,
        EventBody::ReasoningEnd { span: span.clone() },
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

/// The end of a reasoning message that was left open.
pub fn reasoning_message_end(message: &MessageId, owner: Option<&SubagentRunId>) -> Event {
    let body = EventBody::ReasoningMessageEnd {
        message: message.clone(),
    };
    event(owner, body, |object| {
        object.string("messageId", message.as_str())
    })
}

/// The end of a text message that was left open.
pub fn text_message_end(message: &MessageId, owner: Option<&SubagentRunId>) -> Event {
    let body = EventBody::TextMessageEnd {
        message: message.clone(),
    };
    event(owner, body, |object| {
        object.string("messageId", message.as_str())
    })
}

/// The end of a step that was left open.
pub fn step_finished(step: &StepName, owner: Option<&SubagentRunId>) -> Event {
    event(
        owner,
        EventBody::StepFinished { step: step.clone() },
        |object| object.string("stepName", step.as_str()),
    )
}

/// The failure of a subagent that was left running.
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
