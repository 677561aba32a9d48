//! Events that go on with what is open: most of a real stream is that.

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::histories::writer::{TEXT, Writer, is_minted};
use crate::verify::{Owner, RunScope};

impl Writer {
    /// Goes on with an item that is open in the run; `None` if nothing is.
    pub(super) fn some_continuation(&mut self, held: &Conversation) -> Option<Value> {
        let scope = held.verifier().scope()?;
        let mut open = self.open_items(scope);
        open.retain(|(event, _)| !event["messageId"].as_str().is_some_and(is_minted));
        if open.is_empty() {
            return None;
        }
        let (mut event, owner) = open.swap_remove(self.random.below(open.len()));
        if let Some(owner) = owner.filter(|_| self.random.one_in(2)) {
            event["subagentRunId"] = json!(owner.as_str());
        }
        Some(self.perhaps_metadata(event))
    }

    /// An event for each open item, with the item's owner.
    fn open_items(&mut self, scope: &RunScope) -> Vec<(Value, Owner)> {
        let owners = &scope.owners;
        let mut items = Vec::new();
        for id in scope.messages.in_order() {
            let owner = owners.messages.get(id).cloned().flatten();
            items.push((
                self.streamed("TEXT_MESSAGE", "messageId", id.as_str()),
                owner,
            ));
        }
        for id in scope.reasoning_messages.in_order() {
            let owner = owners.reasoning.get(id).cloned().flatten();
            items.push((
                self.streamed("REASONING_MESSAGE", "messageId", id.as_str()),
                owner,
            ));
        }
        for id in scope.calls.in_order() {
            let owner = owners.calls.get(id).cloned().flatten();
            items.push((self.streamed("TOOL_CALL", "toolCallId", id.as_str()), owner));
        }
        for id in scope.spans.in_order() {
            let owner = owners.reasoning.get(id).cloned().flatten();
            items.push((
                json!({"type": "REASONING_END", "messageId": id.as_str()}),
                owner,
            ));
        }
        for (owner, step) in scope.steps.in_order() {
            let mut end = json!({"type": "STEP_FINISHED", "stepName": step.as_str()});
            if let Some(owner) = owner {
                end["subagentRunId"] = json!(owner.as_str());
            }
            items.push((end, None));
        }
        items
    }

    /// More of an item, or now and then its end.
    fn streamed(&mut self, kind: &str, id_name: &str, id: &str) -> Value {
        let delta = *self.random.pick(&TEXT);
        match (self.random.below(4), kind) {
            (0, _) => json!({"type": format!("{kind}_END"), id_name: id}),
            (_, "TOOL_CALL") => json!({"type": "TOOL_CALL_ARGS", id_name: id, "delta": delta}),
            _ => json!({"type": format!("{kind}_CONTENT"), id_name: id, "delta": delta}),
        }
    }
}
