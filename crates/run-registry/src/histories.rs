//! Valid AG-UI histories of one thread, from a seed.
//!
//! Events are proposed at random from small pools of ids, so that ids collide across kinds and
//! runs, and kept when the verifier accepts them. So a history holds whatever is legal: interleaved
//! and reopened items, results before and after their calls end and in later runs, restated lists
//! that drop what is open, failing patches, late errors.

use serde_json::{Value, json};
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::message::Message;

use crate::conversation::Conversation;
use crate::verify::Expected;

mod random;

pub use random::Random;

/// The events of a random thread with a few runs; the last one may be open.
pub fn history(seed: u64) -> Vec<Event> {
    let mut author = Author {
        random: Random::new(seed),
        conversation: Conversation::new(),
        events: Vec::new(),
        run: 0,
        owners: [Owners::Moving, Owners::Fixed, Owners::Parent][(seed % 3) as usize],
    };
    let runs = 1 + author.random.below(3);
    for run in 1..=runs {
        author.write_run(run, run == runs);
    }
    author.events
}

const TEXTS: [&str; 4] = ["m1", "m2", "m3", "x"];
const REASONINGS: [&str; 3] = ["g1", "g2", "x"];
const ACTIVITIES: [&str; 3] = ["a1", "a2", "x"];
const CALLS: [&str; 4] = ["c1", "c2", "c3", "c4"];
const RESULTS: [&str; 4] = ["t1", "t2", "t3", "m3"];
const STEPS: [&str; 2] = ["plan", "act"];
const SUBAGENTS: [&str; 3] = ["s1", "s2", "s3"];
/// Halves of 🦀 are spelled as escapes, so that a character is split across deltas.
const TEXT: [&str; 8] = [
    "",
    "a",
    "Grüße ",
    "\\ud83e",
    "\\udd80",
    "\\n\\\"",
    "e\\u0301",
    "👩\u{200d}💻",
];

struct Author {
    random: Random,
    conversation: Conversation,
    events: Vec<Event>,
    run: usize,
    owners: Owners,
}

/// Who items belong to.
#[derive(Clone, Copy, PartialEq)]
enum Owners {
    /// Every id has its owner in all runs.
    Fixed,
    /// An id may have another owner in the next run.
    Moving,
    /// Only the parent agent.
    Parent,
}

impl Author {
    fn write_run(&mut self, run: usize, is_last: bool) {
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
        assert!(self.propose(&started), "a run may start");
        for _ in 0..self.random.below(16) {
            let proposal = self.some_event();
            self.propose(&proposal);
        }
        if is_last && self.random.one_in(2) {
            return;
        }
        if self.random.one_in(5) {
            self.propose(&json!({"type": "RUN_ERROR", "message": "broke", "code": "E"}));
            return;
        }
        self.close_all();
        let outcome = self.some_outcome();
        assert!(self.propose(&outcome), "everything is closed");
        if self.random.one_in(8) {
            self.propose(&json!({"type": "RUN_ERROR", "message": "late"}));
        }
    }

    /// Keeps the event if it is legal now.
    fn propose(&mut self, proposal: &Value) -> bool {
        let json = proposal
            .to_string()
            .replace(r"\\ud83e", r"\ud83e")
            .replace(r"\\udd80", r"\udd80");
        let json = json
            .replace(r"\\n", r"\n")
            .replace(r#"\\\""#, r#"\""#)
            .replace(r"\\u0301", r"\u0301");
        let event = Event::read(&json).expect("proposals are events");
        let run = format!("r{}", self.run).parse().expect("an id");
        let expected = Expected {
            thread: "t".parse().expect("an id"),
            run,
        };
        let is_legal = self
            .conversation
            .verifier()
            .judge(&event, &expected)
            .is_ok()
            && !self.is_left_out(&event);
        if is_legal {
            self.conversation.apply(&event);
            self.events.push(event);
        }
        is_legal
    }

    /// What a snapshot cannot tell, see `docs/protocol.md`: a call that is begun only after it was
    /// answered, repeated ids of messages in a run that restates its messages, and calls of a message
    /// that an activity takes the place of.
    fn is_left_out(&self, event: &Event) -> bool {
        let run = self.events.iter().rev();
        let mut run = run.take_while(|event| !matches!(event.body, EventBody::RunStarted { .. }));
        match &event.body {
            EventBody::ToolCallStart { call, .. } => {
                let is_first = |event: &&Event| match &event.body {
                    EventBody::ToolCallStart { call: started, .. } => started == call,
                    EventBody::ToolCallResult { call: answered, .. } => answered == call,
                    _ => false,
                };
                let first = run.filter(is_first).last();
                first.is_some_and(|first| matches!(first.body, EventBody::ToolCallResult { .. }))
            }
            EventBody::ToolCallResult { message, .. } => {
                self.conversation.message(message).is_some()
                    && run.any(|event| matches!(event.body, EventBody::MessagesSnapshot { .. }))
            }
            EventBody::ActivitySnapshot { message, .. } => {
                let message = self.conversation.message(message);
                message.is_some_and(|message| !message.tool_calls().is_empty())
            }
            _ => false,
        }
    }

    /// Tries to end everything that may be open; what is not open refuses to be ended.
    fn close_all(&mut self) {
        for id in TEXTS.iter().chain(&RESULTS) {
            self.propose(&json!({"type": "TEXT_MESSAGE_END", "messageId": id}));
        }
        for id in REASONINGS {
            self.propose(
                &json!({"type": "REASONING_MESSAGE_END", "messageId": id, "metadata": {"end": id}}),
            );
            self.propose(&json!({"type": "REASONING_END", "messageId": id}));
        }
        for id in CALLS {
            self.propose(&json!({"type": "TOOL_CALL_END", "toolCallId": id}));
        }
        for step in STEPS {
            self.propose(&json!({"type": "STEP_FINISHED", "stepName": step}));
            for subagent in SUBAGENTS {
                self.propose(
                    &json!({"type": "STEP_FINISHED", "stepName": step, "subagentRunId": subagent}),
                );
            }
        }
        for subagent in SUBAGENTS {
            self.propose(&json!({"type": "SUBAGENT_FINISHED", "subagentRunId": subagent}));
        }
    }

    fn some_outcome(&mut self) -> Value {
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
    fn owned(&mut self, event: Value, id: &str) -> Value {
        if self.random.one_in(3) {
            event
        } else {
            self.tagged(event, id)
        }
    }

    fn tagged(&mut self, mut event: Value, id: &str) -> Value {
        if let Some(owner) = self.owner(id) {
            event["subagentRunId"] = json!(owner);
        }
        event
    }

    /// Tags a continuation, or leaves the tag out.
    fn perhaps_owned(&mut self, event: Value, id: &str) -> Value {
        if self.random.one_in(2) {
            event
        } else {
            self.tagged(event, id)
        }
    }

    fn owner(&self, id: &str) -> Option<&'static str> {
        let moved = match self.owners {
            Owners::Fixed => 0,
            Owners::Moving => self.run,
            Owners::Parent => return None,
        };
        let sum = id.bytes().map(usize::from).sum::<usize>() + moved;
        [None, None, Some("s1"), Some("s2"), Some("never-announced")][sum % 5]
    }

    fn perhaps_metadata(&mut self, mut event: Value) -> Value {
        if self.random.one_in(4) {
            let key = *self.random.pick(&["k", "l", "ag-ui"]);
            event["metadata"] = json!({key: {"n": self.random.below(100)}, "null": null});
        }
        event
    }

    fn some_event(&mut self) -> Value {
        let proposal = match self.random.below(16) {
            0..=3 => self.some_text_event(),
            4..=7 => self.some_tool_event(),
            8 | 9 => self.some_reasoning_event(),
            10 => self.some_activity_event(),
            11 | 12 => self.some_bracket_event(),
            13 => self.some_state_event(),
            14 => self.some_other_event(),
            _ if self.random.one_in(2) => self.some_list(),
            _ => self.some_text_event(),
        };
        self.perhaps_metadata(proposal)
    }

    fn some_text_event(&mut self) -> Value {
        let id = if self.random.one_in(10) {
            *self.random.pick(&RESULTS)
        } else {
            *self.random.pick(&TEXTS)
        };
        match self.random.below(5) {
            0 | 1 => {
                let mut start = json!({"type": "TEXT_MESSAGE_START", "messageId": id});
                if self.random.one_in(3) {
                    start["role"] =
                        json!(
                            *self
                                .random
                                .pick(&["user", "system", "developer", "assistant"])
                        );
                    start["name"] = json!("N");
                }
                self.owned(start, id)
            }
            2 | 3 => {
                let delta = *self.random.pick(&TEXT);
                let content =
                    json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta});
                self.perhaps_owned(content, id)
            }
            _ => {
                let end = json!({"type": "TEXT_MESSAGE_END", "messageId": id});
                self.perhaps_owned(end, id)
            }
        }
    }

    fn some_tool_event(&mut self) -> Value {
        let id = *self.random.pick(&CALLS);
        match self.random.below(6) {
            0 | 1 => {
                let name = *self.random.pick(&["look", "look", "book"]);
                let start =
                    json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name});
                if self.random.one_in(3) {
                    return self.owned(start, id);
                }
                let parent = *self.random.pick(&["m1", "m2", "h1", "a1", ""]);
                let mut start = self.owned(start, parent);
                start["parentMessageId"] = json!(parent);
                start
            }
            2 | 3 => {
                let delta = *self
                    .random
                    .pick(&["{\"a\":", "1}", "", "\\ud83e", "\\udd80"]);
                json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta})
            }
            4 => json!({"type": "TOOL_CALL_END", "toolCallId": id}),
            _ => {
                let message = *self.random.pick(&RESULTS);
                let content = if self.random.one_in(3) {
                    json!([{"type": "text", "text": "T"}])
                } else {
                    json!("ok")
                };
                let result = json!({"type": "TOOL_CALL_RESULT", "messageId": message, "toolCallId": id, "content": content});
                self.owned(result, message)
            }
        }
    }

    fn some_reasoning_event(&mut self) -> Value {
        let id = *self.random.pick(&REASONINGS);
        match self.random.below(7) {
            0 => self.owned(json!({"type": "REASONING_START", "messageId": id}), id),
            1 => json!({"type": "REASONING_END", "messageId": id}),
            2 | 3 => self.owned(
                json!({"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}),
                id,
            ),
            4 | 5 => {
                let delta = *self.random.pick(&TEXT);
                let content =
                    json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": delta});
                self.perhaps_owned(content, id)
            }
            _ => json!({"type": "REASONING_MESSAGE_END", "messageId": id}),
        }
    }

    fn some_activity_event(&mut self) -> Value {
        let id = *self.random.pick(&ACTIVITIES);
        let kind = *self.random.pick(&["PLAN", "CARD"]);
        if self.random.one_in(2) {
            let content = json!({"n": self.random.below(9), "list": [1]});
            let mut snapshot = json!({"type": "ACTIVITY_SNAPSHOT", "messageId": id, "activityType": kind, "content": content});
            if self.random.one_in(3) {
                snapshot["replace"] = json!(false);
            }
            return self.owned(snapshot, id);
        }
        let patch = self.some_patch();
        let delta = json!({"type": "ACTIVITY_DELTA", "messageId": id, "activityType": kind, "patch": patch});
        self.perhaps_owned(delta, id)
    }

    fn some_bracket_event(&mut self) -> Value {
        let subagent = *self.random.pick(&SUBAGENTS);
        let step = *self.random.pick(&STEPS);
        let owner = *self.random.pick(&[None, Some("s1"), Some("s2")]);
        let mut bracket = match self.random.below(7) {
            0 | 1 => json!({"type": "STEP_STARTED", "stepName": step}),
            2 => json!({"type": "STEP_FINISHED", "stepName": step}),
            3 | 4 => {
                let mut started = json!({"type": "SUBAGENT_STARTED", "subagentRunId": subagent, "name": "helper"});
                if self.random.one_in(2) {
                    started["parentSubagentRunId"] = json!(*self.random.pick(&SUBAGENTS));
                }
                return started;
            }
            5 => {
                return json!({"type": "SUBAGENT_FINISHED", "subagentRunId": subagent, "result": 1});
            }
            _ => {
                return json!({"type": "SUBAGENT_ERROR", "subagentRunId": subagent, "message": "no"});
            }
        };
        if let Some(owner) = owner {
            bracket["subagentRunId"] = json!(owner);
        }
        bracket
    }

    fn some_state_event(&mut self) -> Value {
        if self.random.one_in(3) {
            let number = self.random.below(9);
            let snapshot = self
                .random
                .pick(&[
                    json!({"n": 0, "list": []}),
                    json!(null),
                    json!([number]),
                    json!({}),
                ])
                .clone();
            return json!({"type": "STATE_SNAPSHOT", "snapshot": snapshot});
        }
        json!({"type": "STATE_DELTA", "delta": self.some_patch()})
    }

    /// Often one that does not apply.
    fn some_patch(&mut self) -> Value {
        let number = self.random.below(99);
        let operations = [
            json!({"op": "add", "path": "/n", "value": number}),
            json!({"op": "replace", "path": "/n", "value": number}),
            json!({"op": "add", "path": "/list/-", "value": {"deep": number}}),
            json!({"op": "remove", "path": "/list/0"}),
            json!({"op": "move", "from": "/n", "path": "/moved"}),
            json!({"op": "copy", "from": "/list", "path": "/copied"}),
            json!({"op": "test", "path": "/n", "value": 1}),
            json!({"op": "remove", "path": "/missing"}),
        ];
        (0..1 + self.random.below(3))
            .map(|_| self.random.pick(&operations).clone())
            .collect()
    }

    fn some_other_event(&mut self) -> Value {
        let entity = *self.random.pick(&["m1", "g1", "x", "c1", "nobody"]);
        match self.random.below(4) {
            0 => json!({"type": "CUSTOM", "name": "hub.note", "value": null}),
            1 => json!({"type": "RAW", "event": {"native": 1}}),
            2 => json!({"type": "SOMETHING_NEWER", "field": 1}),
            _ => {
                let subtype = if entity.starts_with('c') {
                    "tool-call"
                } else {
                    "message"
                };
                json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": subtype, "entityId": entity, "encryptedValue": "e"})
            }
        }
    }

    fn some_tool_message(&mut self) -> Value {
        let call = *self.random.pick(&CALLS);
        json!({"id": format!("answer{}", self.run), "role": "tool", "content": "from a tab", "toolCallId": call})
    }

    /// The list as it is, with some messages left out, some altered, some new, in another order.
    fn some_list(&mut self) -> Value {
        let known: Vec<Message> = self.conversation.messages().cloned().collect();
        let mut messages: Vec<Value> = Vec::new();
        for message in &known {
            let is_dropped = self.random.one_in(4);
            let Some(mut value) = (!is_dropped).then(|| unpaired(message)) else {
                continue;
            };
            if self.random.one_in(6) {
                value["metadata"] = json!({"restated": true});
                value["newer"] = json!([1]);
            }
            messages.push(value);
        }
        if self.random.one_in(2) {
            let owner = self.owner("restated");
            let mut restated = json!({"id": "restated", "role": "assistant", "content": "from a store",
                "toolCalls": [{"id": "c9", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
            if let Some(owner) = owner {
                restated["subagentRunId"] = json!(owner);
            }
            messages.push(restated);
        }
        if self.random.one_in(3) {
            messages.reverse();
        }
        let mut list = json!({"type": "MESSAGES_SNAPSHOT", "messages": messages});
        if self.random.one_in(6) {
            let types = self
                .random
                .pick(&[json!(null), json!(["PLAN"]), json!("odd")])
                .clone();
            list["metadata"] = json!({"@ag-ui/client": {"authoritativeActivityTypes": types}});
        }
        list
    }
}

/// A message as its JSON value, with half characters spelled as `propose` takes them.
fn unpaired(message: &Message) -> Value {
    let json = message
        .to_json()
        .as_str()
        .replace(r"\ud83e", r"\\ud83e")
        .replace(r"\udd80", r"\\udd80");
    serde_json::from_str(&json).expect("a message is JSON")
}

/// Which types of events stand in `events`; so that a test can tell whether a kind is covered at
/// all.
/// The types of `events`, for a look at what histories hold.
pub fn type_names(events: &[Event]) -> impl Iterator<Item = String> {
    events.iter().map(|event| match &event.body {
        EventBody::Unknown { .. } => "unknown".to_owned(),
        _ => event.type_name().to_owned(),
    })
}
