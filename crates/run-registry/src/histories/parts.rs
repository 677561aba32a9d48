//! Events and messages with all the members that AG-UI describes, and chunks.

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::histories::writer::{CALLS, REASONINGS, SUBAGENTS, TEXT, TEXTS, Writer};

impl Writer {
    pub(super) fn some_chunk(&mut self) -> Value {
        let delta = *self.random.pick(&TEXT);
        let is_named = self.random.one_in(3);
        let (mut chunk, id) = match self.random.below(5) {
            0 | 1 => {
                let id = *self.random.pick(&TEXTS);
                let mut chunk = json!({"type": "TEXT_MESSAGE_CHUNK"});
                if is_named {
                    chunk["messageId"] = json!(id);
                    if self.random.one_in(5) {
                        chunk["role"] = json!(*self.random.pick(&["user", "assistant", "system"]));
                    }
                    if self.random.one_in(8) {
                        chunk["name"] = json!("N");
                    }
                }
                (chunk, id)
            }
            2 | 3 => {
                let id = *self.random.pick(&CALLS);
                let mut chunk = json!({"type": "TOOL_CALL_CHUNK"});
                if is_named {
                    chunk["toolCallId"] = json!(id);
                    chunk["toolCallName"] = json!(*self.random.pick(&["look", "look", "book"]));
                    if self.random.one_in(3) {
                        chunk["parentMessageId"] = json!(*self.random.pick(&["m1", "m2", "h1"]));
                    }
                }
                (chunk, id)
            }
            _ => {
                let id = *self.random.pick(&REASONINGS);
                let mut chunk = json!({"type": "REASONING_MESSAGE_CHUNK"});
                if is_named {
                    chunk["messageId"] = json!(id);
                }
                (chunk, id)
            }
        };
        if !self.random.one_in(6) {
            chunk["delta"] = json!(delta);
        }
        if self.random.one_in(8) {
            chunk["rawEvent"] = json!({"native": 1});
        }
        let chunk = self.perhaps_metadata(chunk);
        if self.random.one_in(3) {
            let mut chunk = chunk;
            chunk["subagentRunId"] = json!(*self.random.pick(&SUBAGENTS));
            return chunk;
        }
        self.perhaps_owned(chunk, id)
    }

    /// Kinds of which the small proposals say little.
    pub(super) fn some_whole_event(&mut self, held: &Conversation) -> Value {
        match self.random.below(5) {
            0 => {
                let mut list = self.some_list(held);
                let more = self.some_whole_messages();
                list["messages"]
                    .as_array_mut()
                    .expect("a list")
                    .extend(more);
                list
            }
            1 => {
                let content = self.some_parts();
                json!({"type": "TOOL_CALL_RESULT", "messageId": "t1", "toolCallId": "c1", "role": "tool", "content": content})
            }
            2 => {
                json!({"type": "SUBAGENT_STARTED", "subagentRunId": *self.random.pick(&SUBAGENTS), "name": "N",
                "description": "D", "parentToolCallId": "c1", "parentMessageId": "m1"})
            }
            3 => {
                let outcomes = [
                    json!({"type": "success"}),
                    json!({"type": "suspended", "interruptIds": ["i1"]}),
                    json!({"type": "suspended"}),
                    json!({"type": "newer", "interruptIds": 5}),
                ];
                json!({"type": "SUBAGENT_FINISHED", "subagentRunId": *self.random.pick(&SUBAGENTS),
                    "outcome": self.random.pick(&outcomes)})
            }
            _ => json!({"type": "RAW", "event": null, "source": "S"}),
        }
    }

    fn some_parts(&mut self) -> Value {
        let parts = [
            json!({"type": "text", "text": *self.random.pick(&TEXT), "id": "p", "metadata": [1]}),
            json!({"type": "text", "text": "T", "newer": null}),
            json!({"type": "image", "source": {"type": "url", "value": "u", "mimeType": "image/png"}}),
            json!({"type": "audio", "source": {"type": "data", "value": "AA==", "mimeType": "audio/x"}, "metadata": {"k": null}}),
            json!({"type": "video", "source": {"type": "file", "value": "f", "provider": "p"}, "id": ""}),
            json!({"type": "document", "source": {"type": "newer", "value": 5}}),
            json!({"type": "hologram", "text": 5}),
            json!({"type": "image", "source": {"type": "url", "value": "u", "newer": {}}, "newer": 1}),
        ];
        let count = self.random.below(4);
        (0..count)
            .map(|_| self.random.pick(&parts).clone())
            .collect()
    }

    pub(super) fn some_whole_messages(&mut self) -> Vec<Value> {
        let run = self.run;
        let parts = self.some_parts();
        let messages = [
            json!({"id": format!("U{run}"), "role": "user", "content": parts, "name": "N", "encryptedValue": "e", "metadata": {"k": [null]}}),
            json!({"id": format!("D{run}"), "role": "developer", "content": "d", "name": ""}),
            json!({"id": format!("S{run}"), "role": "system", "content": "", "subagentRunId": "s2"}),
            json!({"id": format!("A{run}"), "role": "assistant", "toolCalls": [], "name": "N"}),
            json!({"id": format!("B{run}"), "role": "assistant", "toolCalls": [{"id": "c4", "type": "function", "metadata": {"k": 1},
                "encryptedValue": "e", "newer": 1, "function": {"name": "look", "arguments": "{", "newer": 1}}]}),
            json!({"id": format!("T{run}"), "role": "tool", "content": parts, "toolCallId": "c4", "error": "E"}),
            json!({"id": format!("R{run}"), "role": "reasoning", "content": "r", "encryptedValue": "e"}),
            json!({"id": "a1", "role": "activity", "activityType": "PLAN", "content": {"n": 1, "list": []}}),
            json!({"id": format!("N{run}"), "role": "oracle", "content": 5}),
        ];
        let count = 1 + self.random.below(4);
        (0..count)
            .map(|_| self.random.pick(&messages).clone())
            .collect()
    }

    /// A RUN_STARTED whose input, if it has one, is as long as inputs get.
    pub(super) fn with_whole_input(&mut self, mut started: Value) -> Value {
        if self.random.one_in(3) {
            started["parentRunId"] = json!("r0");
        }
        if let Some(input) = started.get_mut("input").filter(|_| self.random.one_in(2)) {
            input["protocolVersion"] = json!("1.0");
            input["state"] = json!({"not": "the state"});
            input["tools"] = json!([{"name": "look", "description": "D", "parameters": {"type": "object"}, "metadata": {}}]);
            input["context"] = json!([{"description": "D", "value": "V"}]);
            input["forwardedProps"] = json!([1]);
            input["resume"] = json!([{"interruptId": "i1", "status": "resolved", "payload": false, "metadata": {}},
                {"interruptId": "i2", "status": "cancelled"}]);
            let more = self.some_whole_messages();
            input["messages"]
                .as_array_mut()
                .expect("a list")
                .extend(more);
        }
        started
    }

    pub(super) fn with_whole_outcome(&mut self, mut finished: Value) -> Value {
        match self.random.below(12) {
            0 => finished["outcome"] = json!({"type": "newer", "interrupts": 5}),
            1 => {
                finished["outcome"] =
                    json!({"type": "success", "interrupts": [], "pendingToolCallIds": []})
            }
            2 => {
                let interrupts = json!([{"id": "", "reason": "ask", "message": "M", "toolCallId": "c1", "subagentRunId": "s1",
                    "responseSchema": {"type": "boolean"}, "expiresAt": "2030-01-01T00:00:00Z", "metadata": {"k": null}, "newer": 1}]);
                finished["outcome"] =
                    json!({"type": "interrupt", "interrupts": interrupts, "pendingToolCallIds": 5});
            }
            3 => finished["result"] = json!(false),
            _ => {}
        }
        self.with_usage(finished)
    }

    pub(super) fn with_usage(&mut self, mut event: Value) -> Value {
        if self.random.one_in(6) {
            event["usage"] = json!([{"provider": "P", "model": "M", "inputTokens": 1, "outputTokens": 0, "totalTokens": 1.0,
                "reasoningTokens": 0, "cachedInputTokens": 0, "cacheWriteInputTokens": 0, "newer": "x"}, {}]);
        }
        event
    }
}
