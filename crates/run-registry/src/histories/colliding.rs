//! Histories in which everything has the same few ids, and deltas are long series: whatever a merge
//! must not pass over comes between them.

use serde_json::{Value, json};
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::RunId;

use crate::conversation::Conversation;
use crate::histories::random::Random;
use crate::verify::Expected;

const IDS: [&str; 3] = ["a", "b", "c"];

/// Legal events of a thread with two runs, as they stand in a log.
pub fn colliding(seed: u64) -> Vec<Event> {
    let mut author = Author {
        random: Random::new(seed),
        conversation: Conversation::new(),
        events: Vec::new(),
        count: 0,
        kinds: [25, 31, 40][(seed % 3) as usize],
        owned: seed.is_multiple_of(2),
    };
    for run in ["r1", "r2"] {
        let known = author.held();
        author.propose(
            &json!({"type": "RUN_STARTED", "threadId": "t", "runId": run,
            "input": {"threadId": "t", "runId": run, "messages": known}}),
        );
        for _ in 0..8 {
            let id = author.some_id();
            let bracket = author.some_bracket(id);
            author.propose(&bracket);
        }
        for _ in 0..60 {
            let proposal = author.some_event();
            author.propose(&proposal);
        }
        author.propose(&json!({"type": "RUN_ERROR", "message": "broke"}));
    }
    author.events
}

struct Author {
    random: Random,
    conversation: Conversation,
    events: Vec<Event>,
    count: usize,
    /// How many kinds of events there are: messages alone, activities too, or all.
    kinds: usize,
    /// Whether some items are a subagent's.
    owned: bool,
}

impl Author {
    fn propose(&mut self, proposal: &Value) {
        let event = Event::read(&proposal.to_string()).expect("proposals are events");
        let run = match &event.body {
            EventBody::RunStarted { run, .. } => Some(run),
            _ => self.conversation.verifier().active_run(),
        };
        let expected = Expected {
            thread: "t".parse().expect("an id"),
            run: run
                .cloned()
                .unwrap_or_else(|| RunId::new("none").expect("an id")),
        };
        let verifier = self.conversation.verifier();
        if verifier.judge(&event, &expected).is_ok() {
            self.conversation.apply(&event);
            self.events.push(event);
        }
    }

    /// All messages as they are now.
    fn held(&self) -> Vec<Value> {
        let messages = self.conversation.messages();
        let values = messages.map(|message| serde_json::from_str(message.to_json().as_str()));
        values
            .map(|value| value.expect("a message is JSON"))
            .collect()
    }

    fn some_event(&mut self) -> Value {
        self.count += 1;
        let id = self.some_id();
        let mut event = match self.random.below(self.kinds) {
            0..=17 => self.some_content(id),
            18..=22 => self.some_bracket(id),
            23 => {
                json!({"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": self.some_id(), "content": "ok"})
            }
            24 => self.some_list(),
            25..=30 => self.some_activity(id),
            31..=36 => self.some_state(),
            37 => json!({"type": "CUSTOM", "name": "n", "value": null}),
            38 => json!({"type": "RAW", "event": null}),
            39 if self.random.one_in(3) => json!({"type": "FROM_LATER", "messageId": id}),
            _ => {
                let subtype = *self.random.pick(&["message", "tool-call"]);
                json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": subtype,
                    "entityId": id, "encryptedValue": self.count.to_string()})
            }
        };
        if self.random.one_in(5) {
            event["metadata"] = json!({*self.random.pick(&["k", "l"]): self.count});
        }
        if self.random.one_in(40) {
            event["beyond"] = json!(self.count);
        }
        if self.random.one_in(40) {
            event["rawEvent"] = json!({"native": self.count});
        }
        if self.random.one_in(8) {
            event["timestamp"] = json!(self.count);
        }
        if self.owned && self.random.one_in(3) && event.get("messages").is_none() {
            event["subagentRunId"] = json!("s");
        }
        event
    }

    fn some_id(&mut self) -> &'static str {
        IDS[self.random.below(IDS.len())]
    }

    fn some_content(&mut self, id: &str) -> Value {
        let delta = format!("{};", self.count);
        match self.random.below(3) {
            0 => json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta}),
            1 => json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": delta}),
            _ => json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta}),
        }
    }

    fn some_bracket(&mut self, id: &str) -> Value {
        match self.random.below(12) {
            0 | 1 => json!({"type": "TEXT_MESSAGE_START", "messageId": id}),
            2 => json!({"type": "TEXT_MESSAGE_END", "messageId": id}),
            3 => json!({"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}),
            4 => json!({"type": "REASONING_MESSAGE_END", "messageId": id}),
            5 => json!({"type": "TOOL_CALL_END", "toolCallId": id}),
            6 => json!({"type": "REASONING_START", "messageId": id}),
            _ => {
                let mut start =
                    json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "look"});
                if self.random.one_in(2) {
                    start["parentMessageId"] = json!(self.some_id());
                }
                start
            }
        }
    }

    fn some_activity(&mut self, id: &str) -> Value {
        let kind = *self.random.pick(&["P", "Q"]);
        if self.random.one_in(2) {
            let mut snapshot = json!({"type": "ACTIVITY_SNAPSHOT", "messageId": id, "activityType": kind,
                "content": {"n": self.count, "list": [1, 2, 3]}});
            if self.random.one_in(4) {
                snapshot["replace"] = json!(self.random.one_in(2));
            }
            return snapshot;
        }
        json!({"type": "ACTIVITY_DELTA", "messageId": id, "activityType": kind, "patch": self.some_patch()})
    }

    fn some_state(&mut self) -> Value {
        if self.random.one_in(4) {
            return json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": self.count, "list": [1, 2, 3]}});
        }
        json!({"type": "STATE_DELTA", "delta": self.some_patch()})
    }

    fn some_patch(&mut self) -> Value {
        let operations = [
            json!({"op": "add", "path": "/n", "value": self.count}),
            json!({"op": "add", "path": "/n", "value": self.count}),
            json!({"op": "add", "path": "/list/-", "value": self.count}),
            json!({"op": "remove", "path": "/list/0"}),
            json!({"op": "copy", "from": "/list", "path": "/list/-"}),
            json!({"op": "of.later", "path": 7}),
            json!({"op": "test", "path": "/n", "value": self.count - 1}),
            json!({"op": "replace", "path": "", "value": [self.count]}),
        ];
        let count = self.random.below(3);
        (0..count)
            .map(|_| self.random.pick(&operations).clone())
            .collect()
    }

    /// What is held, with some left out or twice, in some order.
    fn some_list(&mut self) -> Value {
        let mut list: Vec<Value> = Vec::new();
        for message in self.held() {
            for _ in 0..[0, 0, 1, 1, 2][self.random.below(5)] {
                list.push(message.clone());
            }
        }
        if self.random.one_in(3) {
            list.reverse();
        }
        json!({"type": "MESSAGES_SNAPSHOT", "messages": list})
    }
}
