//! A fold as a person reads it: every message whole, then what is beside them.

use threadcast_agui::ids::SubagentRunId;
use threadcast_agui::interrupt::Interrupt;
use threadcast_agui::message::{Message, MessageBody, ToolCall};

use crate::cli::file::History;
use crate::cli::render::{Paper, Segment, Style};

/// The lines of the page.
pub(super) fn lines(file: &str, history: &History) -> Vec<Segment> {
    let conversation = history.conversation();
    let mut paper = Paper::default();
    let run = conversation.verifier().active_run();
    let inside = run.map(|run| format!(", inside run {run}"));
    paper.note(&format!(
        "{file} at {}{}",
        history.at(),
        inside.unwrap_or_default()
    ));
    for message in conversation.messages() {
        message_lines(&mut paper, message);
    }
    let state = serde_json::to_string_pretty(conversation.state());
    let state = state.expect("JSON values always have a JSON form");
    paper.line("state", Style::Plain, &state);
    for interrupt in conversation.pending_interrupts() {
        paper.line("asks", Style::Ask, &interrupt_text(interrupt));
    }
    for call in conversation.pending_tool_calls() {
        paper.line(
            "pending",
            Style::Plain,
            &format!("{call} waits for a result"),
        );
    }
    paper.take()
}

fn message_lines(paper: &mut Paper, message: &Message) {
    let about = match &message.body {
        MessageBody::Activity { activity_type, .. } => format!(", {activity_type}"),
        MessageBody::Tool { call, .. } => format!(", of call {call}"),
        MessageBody::Assistant { name, .. }
        | MessageBody::Developer { name, .. }
        | MessageBody::System { name, .. }
        | MessageBody::User { name, .. } => name
            .as_ref()
            .map(|name| format!(", {name}"))
            .unwrap_or_default(),
        MessageBody::Reasoning { .. } => String::new(),
    };
    let head = format!("{}{about}{}", message.id, owner(message.owner.as_ref()));
    paper.line(message.role(), Style::Dim, &head);
    if let MessageBody::Activity { content, .. } = &message.body {
        let content = serde_json::to_string_pretty(content);
        let content = content.expect("JSON values always have a JSON form");
        paper.line("", Style::Plain, &content);
    }
    if let Some(text) = message.text().filter(|text| !text.is_empty()) {
        paper.line("", Style::Plain, &text.decode_lossy());
    }
    if let MessageBody::Tool {
        error: Some(error), ..
    } = &message.body
    {
        paper.line("", Style::Bad, &format!("failed: {error}"));
    }
    for call in message.tool_calls() {
        call_line(paper, call);
    }
}

fn call_line(paper: &mut Paper, call: &ToolCall) {
    let ToolCall {
        id,
        name,
        arguments,
        ..
    } = call;
    let text = format!("{name}({}) is call {id}", arguments.decode_lossy());
    paper.line("", Style::Plain, &text);
}

fn interrupt_text(interrupt: &Interrupt) -> String {
    let message = interrupt
        .message
        .as_deref()
        .unwrap_or("waits for an answer");
    let call = interrupt.call.as_ref().map(|call| format!(", call {call}"));
    format!(
        "{message}\n{} ({}{}){}",
        interrupt.id,
        interrupt.reason,
        call.unwrap_or_default(),
        owner(interrupt.owner.as_ref())
    )
}

fn owner(owner: Option<&SubagentRunId>) -> String {
    owner
        .map(|owner| format!(", subagent {owner}"))
        .unwrap_or_default()
}
