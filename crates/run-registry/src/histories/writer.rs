//! Writes events that may be legal: of which kind, whose, with what beside them.

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::histories::random::Random;

pub(super) const TEXTS: [&str; 4] = ["m1", "m2", "m3", "x"];
pub(super) const REASONINGS: [&str; 3] = ["g1", "g2", "x"];
pub(super) const ACTIVITIES: [&str; 3] = ["a1", "a2", "x"];
pub(super) const CALLS: [&str; 4] = ["c1", "c2", "c3", "c4"];
pub(super) const RESULTS: [&str; 4] = ["t1", "t2", "t3", "m3"];
pub(super) const STEPS: [&str; 2] = ["plan", "act"];
pub(super) const SUBAGENTS: [&str; 3] = ["s1", "s2", "s3"];
/// Halves of 🦀 are spelled as escapes, so that a character is split across deltas.
pub(super) const TEXT: [&str; 8] = [
    "",
    "a",
    "Grüße ",
    "\\ud83e",
    "\\udd80",
    "\\n\\\"",
    "e\\u0301",
    "👩\u{200d}💻",
];

/// Escapes of [`TEXT`] as they stand in the text of a JSON value, and as JSON means them.
const ESCAPES: [(&str, &str); 5] = [
    (r"\\ud83e", r"\ud83e"),
    (r"\\udd80", r"\udd80"),
    (r"\\u0301", r"\u0301"),
    (r"\\n", r"\n"),
    (r#"\\\""#, r#"\""#),
];

/// An event as text, with the escapes of [`TEXT`] as JSON means them.
pub(super) fn spelled(event: &Value) -> String {
    ESCAPES
        .iter()
        .fold(event.to_string(), |json, (value, meant)| {
            json.replace(value, meant)
        })
}

/// Whether an id was minted for a retired shape: it is another one in every reader.
pub(super) fn is_minted(id: &str) -> bool {
    id.contains(":thinking-")
}

/// Who items belong to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Owners {
    /// Every id has its owner in all runs.
    Fixed,
    /// An id may have another owner in the next run.
    Moving,
    /// Only the parent agent.
    Parent,
}

pub(super) struct Writer {
    pub(super) random: Random,
    pub(super) owners: Owners,
    /// The run under way, from 1.
    pub(super) run: usize,
}

impl Writer {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            owners: [Owners::Moving, Owners::Fixed, Owners::Parent][(seed % 3) as usize],
            run: 0,
        }
    }

    /// The first event of run `run`.
    pub(super) fn run_started(&mut self, run: usize) -> Value {
        self.run = run;
        let mut started =
            json!({"type": "RUN_STARTED", "threadId": "t", "runId": format!("r{run}")});
        if self.random.one_in(2) {
            started["protocolVersion"] = json!("1.0");
        }
        if run == 1 || self.random.one_in(2) {
            let mut messages = json!([{"id": format!("u{run}"), "role": "user", "content": "hi"}, self.some_tool_message()]);
            if self.owners == Owners::Moving {
                messages[0]["subagentRunId"] = json!("s1");
            }
            started["input"] =
                json!({"threadId": "t", "runId": format!("r{run}"), "messages": messages});
        }
        started
    }

    /// Ends of whatever may be open; those that end nothing are not legal.
    pub(super) fn ends(&self) -> Vec<Value> {
        let mut ends = Vec::new();
        for id in TEXTS.iter().chain(&RESULTS) {
            ends.push(json!({"type": "TEXT_MESSAGE_END", "messageId": id}));
        }
        for id in REASONINGS {
            let metadata = json!({"end": id});
            ends.push(
                json!({"type": "REASONING_MESSAGE_END", "messageId": id, "metadata": metadata}),
            );
            ends.push(json!({"type": "REASONING_END", "messageId": id}));
        }
        for id in CALLS {
            ends.push(json!({"type": "TOOL_CALL_END", "toolCallId": id}));
        }
        for step in STEPS {
            ends.push(json!({"type": "STEP_FINISHED", "stepName": step}));
            for subagent in SUBAGENTS {
                ends.push(
                    json!({"type": "STEP_FINISHED", "stepName": step, "subagentRunId": subagent}),
                );
            }
        }
        for subagent in SUBAGENTS {
            ends.push(json!({"type": "SUBAGENT_FINISHED", "subagentRunId": subagent}));
        }
        ends
    }

    pub(super) fn some_outcome(&mut self) -> Value {
        let mut finished =
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": format!("r{}", self.run)});
        match self.random.below(6) {
            0 => finished["outcome"] = json!({"type": "cancelled"}),
            1 => finished["outcome"] = json!({"type": "success"}),
            2 => {
                finished["outcome"] =
                    json!({"type": "success", "pendingToolCallIds": ["c2", "other"]})
            }
            3 | 4 => {
                let interrupts = json!([{"id": "i1", "reason": "tool_call", "toolCallId": "c1"}, {"id": "i2", "reason": "ask"}]);
                finished["outcome"] = json!({"type": "interrupt", "interrupts": interrupts});
            }
            _ => finished["result"] = json!({"done": true}),
        }
        finished
    }

    /// Tags a beginning, or leaves the tag out.
    pub(super) fn owned(&mut self, event: Value, id: &str) -> Value {
        if self.random.one_in(3) {
            event
        } else {
            self.tagged(event, id)
        }
    }

    pub(super) fn tagged(&mut self, mut event: Value, id: &str) -> Value {
        if let Some(owner) = self.owner(id) {
            event["subagentRunId"] = json!(owner);
        }
        event
    }

    /// Tags a continuation, or leaves the tag out.
    pub(super) fn perhaps_owned(&mut self, event: Value, id: &str) -> Value {
        if self.random.one_in(2) {
            event
        } else {
            self.tagged(event, id)
        }
    }

    pub(super) fn owner(&self, id: &str) -> Option<&'static str> {
        let moved = match self.owners {
            Owners::Fixed => 0,
            Owners::Moving => self.run,
            Owners::Parent => return None,
        };
        let sum = id.bytes().map(usize::from).sum::<usize>() + moved;
        [None, None, Some("s1"), Some("s2"), Some("never-announced")][sum % 5]
    }

    pub(super) fn perhaps_metadata(&mut self, mut event: Value) -> Value {
        if self.random.one_in(4) {
            let key = *self.random.pick(&["k", "l", "ag-ui"]);
            event["metadata"] = json!({key: {"n": self.random.below(100)}, "null": null});
        }
        event
    }

    /// `held` is what the events so far amount to.
    pub(super) fn some_event(&mut self, held: &Conversation) -> Value {
        let proposal = match self.random.below(16) {
            0..=3 => self.some_text_event(),
            4..=7 => self.some_tool_event(),
            8 | 9 => self.some_reasoning_event(),
            10 => self.some_activity_event(),
            11 | 12 => self.some_bracket_event(),
            13 => self.some_state_event(),
            14 => self.some_other_event(),
            _ if self.random.one_in(2) => self.some_list(held),
            _ => self.some_text_event(),
        };
        self.perhaps_metadata(proposal)
    }
}
