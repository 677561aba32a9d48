//! Lists of messages: what is held, restated with gaps, changes and news.

use serde_json::{Value, json};
use threadcast_agui::message::Message;

use crate::conversation::Conversation;
use crate::histories::writer::{CALLS, Writer, is_minted};

impl Writer {
    pub(super) fn some_tool_message(&mut self) -> Value {
        let call = *self.random.pick(&CALLS);
        json!({"id": format!("answer{}", self.run), "role": "tool", "content": "from a tab", "toolCallId": call})
    }

    /// The list as it is, with some messages left out, some altered, some new, in another order.
    pub(super) fn some_list(&mut self, held: &Conversation) -> Value {
        let mut messages: Vec<Value> = Vec::new();
        let ids: Vec<_> = held.messages().map(|message| &message.id).collect();
        let is_repeated = |id| ids.iter().filter(|held| **held == id).count() > 1;
        let keeps_repeated = self.random.one_in(6);
        for message in held.messages() {
            let is_told_once = keeps_repeated || !is_repeated(&message.id);
            let is_dropped =
                self.random.one_in(4) || is_minted(message.id.as_str()) || !is_told_once;
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

/// A message as its JSON value, with half characters spelled as in [`TEXT`].
fn unpaired(message: &Message) -> Value {
    let json = message
        .to_json()
        .as_str()
        .replace(r"\ud83e", r"\\ud83e")
        .replace(r"\udd80", r"\\udd80");
    serde_json::from_str(&json).expect("a message is JSON")
}
