//! Patches of every shape, most of which do not apply.

use serde_json::{Value, json};

use crate::histories::writer::Writer;

/// Places in the documents of [`Writer::some_document`], and beside them.
const PLACES: [&str; 22] = [
    "",
    "/n",
    "/list",
    "/list/0",
    "/list/1",
    "/list/2",
    "/list/7",
    "/list/-",
    "/list/x",
    "/list/0/deep",
    "/deep/er",
    "/deep",
    "/a~1b",
    "/m~0n",
    "/missing",
    "/missing/x",
    "/n/x",
    "/__proto__/x",
    // What only loose readers find.
    "/list/01",
    "/list/",
    "/list/length",
    "/toString",
];

impl Writer {
    pub(super) fn some_document(&mut self) -> Value {
        let number = self.random.below(3);
        self.random
            .pick(&[
                json!({"n": number, "list": [{"deep": 1}, 2], "deep": {"er": null}}),
                json!({"n": "text", "list": [], "a/b": [true], "m~n": 0.5}),
                json!({"list": [[], "x", 3], "n": {"x": number}}),
                json!([number, [1]]),
            ])
            .clone()
    }

    /// State and its changes, at all places and with every operation.
    pub(super) fn some_document_event(&mut self) -> Value {
        match self.random.below(6) {
            0 => json!({"type": "STATE_SNAPSHOT", "snapshot": self.some_document()}),
            1 => {
                let mut content = self.some_document();
                if !content.is_object() {
                    content = json!({});
                }
                json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a1", "activityType": "PLAN", "content": content})
            }
            2 => {
                let patch = self.some_whole_patch();
                json!({"type": "ACTIVITY_DELTA", "messageId": "a1", "activityType": "CARD", "patch": patch})
            }
            _ => json!({"type": "STATE_DELTA", "delta": self.some_whole_patch()}),
        }
    }

    fn some_whole_patch(&mut self) -> Vec<Value> {
        let count = self.random.below(4);
        (0..count).map(|_| self.some_operation()).collect()
    }

    fn some_operation(&mut self) -> Value {
        let path = *self.random.pick(&PLACES);
        match self.random.below(9) {
            0 | 1 => json!({"op": "add", "path": path, "value": self.some_value()}),
            2 | 3 => json!({"op": "replace", "path": path, "value": self.some_value()}),
            4 => json!({"op": "remove", "path": path, "value": "left over"}),
            5 => json!({"op": "copy", "from": *self.random.pick(&PLACES), "path": path}),
            6 => json!({"op": "test", "path": path, "value": self.some_value()}),
            7 => json!({"op": "newer", "path": path}),
            _ => json!({"op": "move", "from": *self.random.pick(&PLACES), "path": path}),
        }
    }

    fn some_value(&mut self) -> Value {
        self.random
            .pick(&[
                json!({"x": [1]}),
                json!([]),
                json!(null),
                json!([{"deep": 1}, 2]),
                json!({}),
                json!("text"),
                json!(7),
            ])
            .clone()
    }
}
