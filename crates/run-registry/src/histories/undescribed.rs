//! Retired shapes, and what AG-UI does not describe but lets pass.

use serde_json::{Value, json};

use crate::histories::writer::{TEXT, Writer};

impl Writer {
    pub(super) fn some_retired_event(&mut self) -> Value {
        match self.random.below(9) {
            0 => json!({"type": "THINKING_START", "title": "T"}),
            1 => json!({"type": "THINKING_TEXT_MESSAGE_START"}),
            2..=4 => {
                json!({"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": *self.random.pick(&TEXT)})
            }
            5 => json!({"type": "THINKING_TEXT_MESSAGE_END"}),
            6 => json!({"type": "THINKING_END"}),
            7 => {
                json!({"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "look", "parentMessageId": null})
            }
            _ => {
                let parts = json!([
                    {"type": "binary", "mimeType": "image/png", "data": "AA==", "filename": "f"},
                    {"type": "binary", "mimeType": "text/plain", "url": "u"},
                    {"type": "binary", "mimeType": "image/png", "id": "only"},
                    {"type": "image", "metadata": null, "source": {"type": "url", "value": "u"}},
                    {"type": "text", "text": "T"},
                ]);
                let count = self.random.below(6);
                let parts: Vec<_> = parts.as_array().expect("a list")[..count.min(5)].to_vec();
                json!({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "old", "role": "user", "content": parts}]})
            }
        }
    }

    /// Sometimes the event with members that change nothing.
    pub(super) fn with_undescribed(&mut self, mut event: Value) -> Value {
        if !self.random.one_in(6) {
            return event;
        }
        match self.random.below(8) {
            0 => event["newer"] = json!({"subagentRunId": null}),
            1 => event["toString"] = json!(1),
            2 => event["timestamp"] = self.some_timestamp(),
            3 => event["rawEvent"] = json!({"native": [null]}),
            4 => event["rawEvent"] = json!(null),
            5 if event["type"] == "RUN_FINISHED" && event.get("result").is_none() => {
                event["result"] = json!(null);
            }
            6 if event["type"] == "RUN_FINISHED" && event.get("outcome").is_none() => {
                event["outcome"] = json!(null);
            }
            7 => {
                event["metadata"] = json!({"constructor": 1, "": [1e300, -0.0, 12_345_678_901_234_567_890_u64, 1.50]})
            }
            _ => event["replace?"] = json!("no"),
        }
        event
    }

    fn some_timestamp(&mut self) -> Value {
        self.random
            .pick(&[
                json!(0),
                json!(-5),
                json!(1_700_000_000_000_i64),
                json!(5.0),
                json!(9_007_199_254_740_991_i64),
            ])
            .clone()
    }
}
