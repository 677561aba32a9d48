//! Events of each kind, from small pools of ids.

use serde_json::{Value, json};

use crate::histories::writer::{
    ACTIVITIES, CALLS, REASONINGS, RESULTS, STEPS, SUBAGENTS, TEXT, TEXTS, Writer,
};

impl Writer {
    pub(super) fn some_text_event(&mut self) -> Value {
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

    pub(super) fn some_tool_event(&mut self) -> Value {
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

    pub(super) fn some_reasoning_event(&mut self) -> Value {
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

    pub(super) fn some_activity_event(&mut self) -> Value {
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

    pub(super) fn some_bracket_event(&mut self) -> Value {
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

    pub(super) fn some_state_event(&mut self) -> Value {
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
    pub(super) fn some_patch(&mut self) -> Value {
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

    pub(super) fn some_other_event(&mut self) -> Value {
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
}
