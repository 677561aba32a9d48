//! What must hold of a log at the end, whatever happened to the hub on the way.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};
use threadcast_agui::event::Event;
use threadcast_run_registry::conversation::Conversation;

use super::agent::Call;
use super::hand::Answered;
use super::viewer::{Seen, Wants, Watcher};

/// One thread's whole log as a viewer is told it.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub thread: String,
    pub entries: Vec<Value>,
}

impl Log {
    fn entry(&self, seq: u64) -> Option<&Value> {
        let at = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.entries.get(at)
    }

    /// Facts of a type, with their seqs.
    fn facts<'a>(&'a self, fact_type: &'a str) -> impl Iterator<Item = (u64, &'a Value)> {
        let numbered = (1..).zip(&self.entries);
        numbered.filter(move |(_, entry)| entry["by"].is_object() && entry["type"] == fact_type)
    }

    fn fact_of_run(&self, fact_type: &str, run: &Value) -> Option<u64> {
        let mut facts = self.facts(fact_type);
        facts
            .find(|(_, fact)| fact["runId"] == *run)
            .map(|(seq, _)| seq)
    }

    /// Runs are accepted once, start once, end once, and tell their story without a gap.
    pub fn judge_runs(&self, problems: &mut Vec<String>) {
        let (mut open, mut told, mut patched) = (None, 0, Value::from(0));
        let (mut started, mut ended) = (HashSet::new(), HashSet::new());
        for (seq, entry) in (1..).zip(&self.entries) {
            let mut wrong = |what: &str| {
                problems.push(format!("{what} at {seq} of `{}`: {entry}", self.thread))
            };
            match entry["type"].as_str() {
                Some("RUN_STARTED") => {
                    let run = entry["runId"].as_str().unwrap().to_owned();
                    if open.is_some() || !started.insert(run.clone()) {
                        wrong("a second start");
                    }
                    (open, told, patched) = (Some(run), 0, Value::from(0));
                }
                Some("TEXT_MESSAGE_CONTENT") => {
                    told += 1;
                    let is_next = entry["delta"] == format!("{told} ");
                    let message = open.as_ref().map(|run| format!("{run}-story"));
                    if !is_next || message.as_deref() != entry["messageId"].as_str() {
                        wrong("a piece in the wrong place");
                    }
                }
                Some("STATE_DELTA") => patched = entry["delta"][0]["value"].clone(),
                Some("RUN_FINISHED")
                    if entry["result"] != json!({ "told": told, "patched": patched }) =>
                {
                    wrong("an end behind another story")
                }
                _ => {}
            }
            match entry["type"].as_str() {
                Some("RUN_FINISHED" | "RUN_ERROR") => match open.take() {
                    Some(run) => drop(ended.insert(run)),
                    None => wrong("a second end"),
                },
                Some("run.accepted") if open.is_some() => wrong("accepted within a run"),
                _ => {}
            }
        }
        let mut accepted = HashSet::new();
        for (seq, fact) in self.facts("run.accepted") {
            let run = fact["runId"].as_str().unwrap();
            if !accepted.insert(run) {
                problems.push(format!(
                    "run `{run}` of `{}` is accepted again at {seq}",
                    self.thread
                ));
            }
            if !ended.contains(run) {
                problems.push(format!("run `{run}` of `{}` has no end", self.thread));
            }
        }
    }

    /// Every question has one answer at most, unless it was open again meanwhile; and an answer is
    /// taken by one run, unless that failed.
    pub fn judge_answers(&self, problems: &mut Vec<String>) {
        let mut answers: HashMap<(&str, &str), &Value> = HashMap::new();
        let (mut open, mut failed) = (None, HashSet::new());
        for entry in &self.entries {
            let of = entry["of"].as_str().unwrap_or_default();
            match entry["type"].as_str() {
                Some("interrupt.resolved") => {
                    let id = entry["interruptId"].as_str().unwrap();
                    if let Some(first) = answers.insert((of, id), entry) {
                        let is_equal = ["payload", "status"]
                            .iter()
                            .all(|member| first[member] == entry[member]);
                        if !is_equal || !failed.contains(first["runId"].as_str().unwrap()) {
                            problems.push(format!(
                                "two answers in `{}`: {first} and {entry}",
                                self.thread
                            ));
                        }
                    }
                }
                Some("RUN_STARTED") => open = entry["runId"].as_str(),
                Some("RUN_ERROR") => failed.extend(open.take()),
                Some("interrupt.reopened") => {
                    for id in entry["interruptIds"].as_array().unwrap() {
                        answers.remove(&(of, id.as_str().unwrap()));
                    }
                }
                _ => {}
            }
        }
    }

    /// What was answered `ok` stands in the log where the answer said.
    pub fn judge_answered(&self, answered: &Answered, problems: &mut Vec<String>) {
        let Answered { command, answer } = answered;
        let op = command["op"].as_str().unwrap();
        if answer["op"] != "ok" {
            let refusals: &[&str] = match op {
                "run" => &["thread_busy", "interrupts_open", "run_conflict"],
                "resume" => &[
                    "thread_busy",
                    "already_resolved",
                    "interrupt_unknown",
                    "interrupts_open",
                ],
                _ => &[],
            };
            if !refusals.iter().any(|code| answer["code"] == *code) {
                problems.push(format!("{command} was answered {answer}"));
            }
            return;
        }
        let seq = answer["seq"].as_u64().unwrap();
        let accepted = self.fact_of_run("run.accepted", &answer["runId"]);
        let mut stands =
            accepted.is_some_and(|accepted| accepted <= seq) && self.entry(seq).is_some();
        if op == "cancel" && answer["duplicate"] == false && answer["runId"] == command["runId"] {
            stands &= self.fact_of_run("run.cancel_requested", &answer["runId"]) == Some(seq);
        }
        if op == "resume" {
            stands &= command["resume"].as_array().unwrap().iter().all(|entry| {
                self.facts("interrupt.resolved").any(|(_, fact)| {
                    fact["of"] == command["of"]
                        && fact["interruptId"] == entry["interruptId"]
                        && fact["payload"] == entry["payload"]
                        && fact["runId"] == answer["runId"]
                })
            });
        }
        if !stands {
            problems.push(format!(
                "{answer} to {command} is not in the log of `{}`",
                self.thread
            ));
        }
    }

    /// What a viewer was sent is what stands in the log.
    pub fn judge_seen(&self, watcher: &Watcher, problems: &mut Vec<String>) {
        let seen = &watcher.seen[&self.thread];
        let same = match watcher.wants {
            Wants::Log => seen
                .entries
                .iter()
                .all(|(seq, body)| self.entry(*seq) == Some(body)),
            Wants::Fold => {
                holds(seen.entries.iter().map(|(_, body)| body)) == holds(self.entries.iter())
            }
        };
        if !same || seen.seq != self.entries.len() as u64 {
            let Seen { seq, .. } = seen;
            problems.push(format!(
                "{} holds something else of `{}` at {seq} than the log at {}",
                watcher.name,
                self.thread,
                self.entries.len()
            ));
        }
    }
}

/// Messages and state behind events and lists of events; facts are passed over.
fn holds<'a>(bodies: impl Iterator<Item = &'a Value>) -> (Vec<String>, Value) {
    let mut conversation = Conversation::new();
    for body in bodies {
        let events = body
            .as_array()
            .map_or_else(|| std::slice::from_ref(body), Vec::as_slice);
        for event in events.iter().filter(|event| !event["by"].is_object()) {
            conversation.apply(&Event::read(&event.to_string()).unwrap());
        }
    }
    let messages = conversation
        .messages()
        .map(|message| format!("{message:?}"));
    (messages.collect(), conversation.state().clone())
}

/// The agent is called once for a run, after the log says so, and only for equal answers under one
/// key.
pub fn judge_calls(calls: &[Call], logs: &BTreeMap<String, Log>, problems: &mut Vec<String>) {
    let mut by_run = HashSet::new();
    let mut by_key: HashMap<&str, &Call> = HashMap::new();
    for call in calls {
        if !by_run.insert((&call.thread, &call.run)) {
            problems.push(format!("the agent was called twice for {call:?}"));
        }
        let run = Value::from(call.run.clone());
        if logs[&call.thread]
            .fact_of_run("run.dispatched", &run)
            .is_none()
        {
            problems.push(format!(
                "nothing says that the agent was called for {call:?}"
            ));
        }
        let first = *by_key.entry(&call.key).or_insert(call);
        if first.thread != call.thread || first.resume != call.resume {
            problems.push(format!("one key for two decisions: {first:?} and {call:?}"));
        }
    }
}

#[cfg(test)]
mod tests;
