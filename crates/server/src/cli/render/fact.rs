//! The hub's own facts on paper.
//!
//! Read member by member and not by type: a fact of a later version still shows its type and who
//! decided.

use serde_json::Value;
use threadcast_agui::json::RawJson;
use threadcast_agui::message::Message;
use threadcast_agui::patch::Patch;

use super::event::patch_lines;
use super::{Renderer, Style, shortened};

impl Renderer {
    pub(super) fn fact(&mut self, json: &RawJson) {
        let Ok(fact) = json.to_value() else {
            return self.note("a fact cannot be read");
        };
        let text = |name: &str| fact.get(name).and_then(Value::as_str).unwrap_or("?");
        let by = who(&fact["by"]);
        let run = text("runId");
        match text("type") {
            "run.accepted" => {
                self.note(&format!(
                    "run {run} accepted for {}, by {by}",
                    text("agent")
                ));
                for message in fact["messages"].as_array().into_iter().flatten() {
                    if let Ok(Some(message)) = Message::read(&message.to_string()) {
                        self.message(&message);
                    }
                }
            }
            // The agent is about to be called; its RUN_STARTED says the same better.
            "run.dispatched" => {}
            "run.cancel_requested" => {
                let reason = fact["reason"]
                    .as_str()
                    .map(|reason| format!(": {reason}"))
                    .unwrap_or_default();
                self.note(&format!("{by} asked run {run} to stop{reason}"));
            }
            "run.trailing" => {
                let text = format!("{} of run {run} came after its end", text("eventType"));
                self.paper.line("late", Style::Dim, &text);
            }
            "interrupt.resolved" => {
                let payload = fact
                    .get("payload")
                    .map(|payload| format!(" {}", shortened(&payload.to_string())));
                let (interrupt, status) = (text("interruptId"), text("status"));
                let line = format!(
                    "{by}: {interrupt} {status}{}, run {run} takes it",
                    payload.unwrap_or_default()
                );
                self.paper.line("decision", Style::Ask, &line);
            }
            "interrupt.reopened" => {
                let line =
                    format!("run {run} did not reach its agent; what it answered is open again");
                self.paper.line("decision", Style::Ask, &line);
            }
            "state.patched" => {
                let patch = Patch::read(&fact["patch"].to_string()).unwrap_or_default();
                self.paper.line(
                    "state",
                    Style::Plain,
                    &format!("by {by}\n{}", patch_lines(&patch)),
                );
            }
            "state.diverged" | "activity.diverged" => self.diverged(&fact),
            "stream.repaired" => {
                let listed = fact["closed"].as_array().map_or(0, Vec::len);
                let count = listed as u64 + fact["more"].as_u64().unwrap_or_default();
                let line = format!("the agent left {count} open at the end of run {run}; closed");
                self.paper.line("mended", Style::Dim, &line);
            }
            other => self
                .paper
                .line("fact", Style::Dim, &format!("{other}, by {by}")),
        }
    }

    fn diverged(&mut self, fact: &Value) {
        let text = |name: &str| fact.get(name).and_then(Value::as_str).unwrap_or("?");
        let (label, of) = match fact.get("messageId").and_then(Value::as_str) {
            Some(message) => ("activity", format!(" in {message}")),
            None => ("state", String::new()),
        };
        let line = format!(
            "the change of {}{of} does not apply: {}",
            text("path"),
            text("reason")
        );
        self.paper.line(label, Style::Bad, &line);
    }
}

/// A principal as others see it.
pub(super) fn who(by: &Value) -> String {
    let member = |name: &str| by.get(name).and_then(Value::as_str);
    member("name")
        .or_else(|| member("id"))
        .unwrap_or("someone")
        .to_owned()
}
