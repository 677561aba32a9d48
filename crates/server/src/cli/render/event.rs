//! AG-UI events on paper.

use threadcast_agui::event::{Event, EventBody, Outcome, SubagentOutcome, TextRole};
use threadcast_agui::ids::ToolCallId;
use threadcast_agui::message::{Message, MessageBody};
use threadcast_agui::patch::{Patch, PatchOp};

use super::{Asks, Call, Kind, Renderer, Style, shortened, view};

impl Renderer {
    pub(super) fn event(&mut self, event: &Event, asks: Asks) {
        let owner = event.owner.as_ref().map(|owner| {
            let id = owner.as_str();
            self.subagents
                .get(id)
                .cloned()
                .unwrap_or_else(|| id.to_owned())
        });
        let owner = owner.as_deref();
        match &event.body {
            EventBody::TextMessageStart { .. }
            | EventBody::TextMessageContent { .. }
            | EventBody::TextMessageEnd { .. }
            | EventBody::ReasoningMessageStart { .. }
            | EventBody::ReasoningMessageContent { .. }
            | EventBody::ReasoningMessageEnd { .. } => self.text(&event.body, owner),
            EventBody::ToolCallStart { .. }
            | EventBody::ToolCallArgs { .. }
            | EventBody::ToolCallEnd { .. }
            | EventBody::ToolCallResult { .. } => self.tool(&event.body, owner),
            EventBody::RunStarted { .. }
            | EventBody::RunFinished { .. }
            | EventBody::RunError { .. } => {
                self.run(&event.body, asks);
            }
            EventBody::SubagentStarted {
                name, description, ..
            } => {
                if let Some(id) = &event.owner {
                    self.subagents
                        .insert(id.as_str().to_owned(), name.to_string());
                }
                let about = description
                    .as_deref()
                    .map(|about| format!(": {about}"))
                    .unwrap_or_default();
                self.paper
                    .line("agent", Style::Plain, &format!("{name} started{about}"));
            }
            EventBody::SubagentFinished { outcome, .. } => {
                let how = match outcome {
                    SubagentOutcome::Success => "finished",
                    SubagentOutcome::Suspended { .. } => "waits",
                };
                self.paper.line(
                    "agent",
                    Style::Plain,
                    &format!("{} {how}", owner.unwrap_or("subagent")),
                );
            }
            EventBody::SubagentError { message, .. } => {
                self.paper.line(
                    "agent",
                    Style::Bad,
                    &format!("{} failed: {message}", owner.unwrap_or("subagent")),
                );
            }
            other => self.thing(other),
        }
    }

    fn text(&mut self, body: &EventBody, owner: Option<&str>) {
        match body {
            EventBody::TextMessageStart { message, role, .. } => {
                self.is_new(Kind::Message, message.as_str());
                let speaker = match role {
                    TextRole::Assistant => "assistant",
                    TextRole::Developer => "developer",
                    TextRole::System => "system",
                    TextRole::User => "user",
                };
                self.speakers.insert(message.as_str().to_owned(), speaker);
            }
            EventBody::TextMessageContent { message, delta } => {
                let speaker = self
                    .speakers
                    .get(message.as_str())
                    .copied()
                    .unwrap_or("assistant");
                let label = label(speaker, owner);
                self.paper.grow(
                    &format!("m{message}"),
                    &label,
                    Style::Plain,
                    &delta.decode_lossy(),
                );
            }
            EventBody::TextMessageEnd { message } => self.paper.end(&format!("m{message}")),
            EventBody::ReasoningMessageStart { message } => {
                self.is_new(Kind::Reasoning, message.as_str());
            }
            EventBody::ReasoningMessageContent { message, delta } => {
                let label = label("thinking", owner);
                self.paper.grow(
                    &format!("r{message}"),
                    &label,
                    Style::Dim,
                    &delta.decode_lossy(),
                );
            }
            EventBody::ReasoningMessageEnd { message } => self.paper.end(&format!("r{message}")),
            _ => {}
        }
    }

    fn tool(&mut self, body: &EventBody, owner: Option<&str>) {
        match body {
            EventBody::ToolCallStart { call, name, .. } => {
                self.called(call).name = name.to_string();
            }
            EventBody::ToolCallArgs { call, delta } => self.called(call).arguments.push(delta),
            EventBody::ToolCallEnd { call } => self.show_call(call, owner),
            EventBody::ToolCallResult {
                message,
                call,
                content,
            } => {
                self.result(
                    message.as_str(),
                    call.as_str(),
                    &content.text().decode_lossy(),
                );
            }
            _ => {}
        }
    }

    fn called(&mut self, id: &ToolCallId) -> &mut Call {
        self.calls.entry(id.as_str().to_owned()).or_default()
    }

    fn show_call(&mut self, id: &ToolCallId, owner: Option<&str>) {
        if self.listed.contains(id.as_str()) {
            return;
        }
        let call = self.called(id);
        let length = call.arguments.len();
        if call.shown_bytes.replace(length) != Some(length) {
            let arguments = call.arguments.decode_lossy();
            let text = format!("{}({})", call.name, shortened(&arguments));
            self.paper.line(&label("call", owner), Style::Plain, &text);
        }
    }

    fn result(&mut self, message: &str, call: &str, text: &str) {
        if self.is_new(Kind::Result, message) {
            let name = self.calls.get(call).map_or(call, |call| call.name.as_str());
            let text = format!("{name}: {}", shortened(text));
            self.paper.line("result", Style::Plain, &text);
        }
    }

    fn run(&mut self, body: &EventBody, asks: Asks) {
        match body {
            EventBody::RunStarted { run, input, .. } => {
                self.current_run = Some(run.as_str().to_owned());
                self.note(&format!("run {run} started"));
                for message in input.iter().flat_map(|input| &input.messages) {
                    self.message(message);
                }
            }
            EventBody::RunFinished { run, outcome, .. } => {
                self.current_run = None;
                match outcome {
                    Outcome::Success { .. } => self.note(&format!("run {run} finished")),
                    Outcome::Cancelled => self.note(&format!("run {run} was cancelled")),
                    Outcome::Interrupt { interrupts } => {
                        self.note(&format!("run {run} stopped to ask"));
                        for interrupt in interrupts.iter().filter(|_| asks == Asks::Shown) {
                            view::ask(&mut self.paper, &self.thread, &interrupt.json, false);
                        }
                    }
                }
            }
            EventBody::RunError { message, code, .. } => {
                let run = self
                    .current_run
                    .take()
                    .map(|run| format!(" {run}"))
                    .unwrap_or_default();
                let code = code
                    .as_deref()
                    .map(|code| format!(" ({code})"))
                    .unwrap_or_default();
                self.note(&format!("run{run} failed: {message}{code}"));
            }
            _ => {}
        }
    }

    /// What is neither text nor tool nor run.
    fn thing(&mut self, body: &EventBody) {
        let paper = &mut self.paper;
        match body {
            EventBody::StepStarted { step } => {
                paper.line("step", Style::Plain, &format!("{step} …"))
            }
            EventBody::StepFinished { step } => {
                paper.line("step", Style::Plain, &format!("{step} done"))
            }
            EventBody::StateSnapshot { snapshot } => {
                paper.line("state", Style::Plain, &shortened(&snapshot.to_string()));
            }
            EventBody::StateDelta { delta } => {
                paper.line("state", Style::Plain, &patch_lines(delta))
            }
            EventBody::MessagesSnapshot { messages } => {
                for message in messages {
                    self.message(message);
                }
            }
            EventBody::ActivitySnapshot {
                message,
                activity_type,
                content,
                ..
            } => {
                self.is_new(Kind::Activity, message.as_str());
                let content = serde_json::Value::from(content.clone()).to_string();
                self.paper.line(
                    "activity",
                    Style::Plain,
                    &format!("{activity_type} {}", shortened(&content)),
                );
            }
            EventBody::ActivityDelta {
                activity_type,
                patch,
                ..
            } => {
                paper.line(
                    "activity",
                    Style::Plain,
                    &format!("{activity_type}\n{}", patch_lines(patch)),
                );
            }
            EventBody::Custom { name, value } => {
                paper.line(
                    "custom",
                    Style::Dim,
                    &format!("{name} {}", shortened(value.as_str())),
                );
            }
            EventBody::Raw { source, .. } => {
                paper.line(
                    "raw",
                    Style::Dim,
                    source.as_deref().unwrap_or("of its provider"),
                );
            }
            EventBody::Unknown { event_type } => paper.line("event", Style::Dim, event_type),
            // Spans around reasoning, encrypted values and chunks have nothing to read.
            _ => {}
        }
    }

    /// A whole message, unless it is on the paper already.
    pub(super) fn message(&mut self, message: &Message) {
        let id = message.id.as_str();
        let text = message.text().unwrap_or_default().decode_lossy();
        match &message.body {
            MessageBody::Activity {
                activity_type,
                content,
            } => {
                if self.is_new(Kind::Activity, id) {
                    let content = serde_json::Value::from(content.clone()).to_string();
                    self.paper.line(
                        "activity",
                        Style::Plain,
                        &format!("{activity_type} {}", shortened(&content)),
                    );
                }
            }
            MessageBody::Reasoning { .. } => {
                if self.is_new(Kind::Reasoning, id) {
                    self.paper.line("thinking", Style::Dim, &text);
                }
            }
            MessageBody::Tool { call, error, .. } => {
                let failed = error
                    .as_deref()
                    .map(|error| format!(" (failed: {error})"))
                    .unwrap_or_default();
                self.result(id, call.as_str(), &format!("{text}{failed}"));
            }
            MessageBody::Assistant { .. }
            | MessageBody::Developer { .. }
            | MessageBody::System { .. }
            | MessageBody::User { .. } => {
                if self.is_new(Kind::Message, id) && !text.is_empty() {
                    self.paper.line(message.role(), Style::Plain, &text);
                }
                for held in message.tool_calls() {
                    self.listed.remove(held.id.as_str());
                    let call = self.called(&held.id);
                    call.name = held.name.to_string();
                    if call.shown_bytes.is_none() {
                        call.arguments = held.arguments.clone();
                        self.show_call(&held.id, None);
                    }
                }
            }
        }
    }
}

fn label(what: &str, owner: Option<&str>) -> String {
    owner.map_or_else(|| what.to_owned(), |owner| format!("{what} ({owner}) "))
}

/// A patch, one operation a line.
pub(super) fn patch_lines(patch: &Patch) -> String {
    let lines = patch.0.iter().map(|op| match op {
        PatchOp::Add { path, value } | PatchOp::Replace { path, value } => {
            format!("{path} = {}", shortened(&value.to_string()))
        }
        PatchOp::Copy { from, path } => format!("{path} = {from}"),
        PatchOp::Move { from, path } => format!("{from} moves to {path}"),
        PatchOp::Remove { path } => format!("{path} is removed"),
        PatchOp::Test { path, value } => format!("{path} is {}", shortened(&value.to_string())),
    });
    lines.collect::<Vec<_>>().join("\n")
}
