//! Which members AG-UI 1.0 describes of each event type.
//!
//! Reading ignores the others, and so does everybody who strips them; this tells which they are.

use super::Event;
use crate::scan;
use crate::text::decode_token;

impl Event {
    /// The members of the event itself that AG-UI does not describe, in their order; none for a
    /// type that it does not describe at all. A client that reads by the contract drops them.
    pub fn undescribed_members(&self) -> Vec<String> {
        let Some(own) = own_members(self.type_name()) else {
            return Vec::new();
        };
        let names = scan::members(self.json.as_str()).map(|member| decode_token(member.name));
        let is_described = |name: &str| {
            COMMON.contains(&name)
                || own.contains(&name)
                || name == "subagentRunId" && has_owner(self.type_name())
        };
        names
            .filter(|name| !is_described(name))
            .map(Into::into)
            .collect()
    }
}

const COMMON: [&str; 4] = ["type", "timestamp", "rawEvent", "metadata"];

/// Events of the whole run belong to nobody in it.
fn has_owner(event_type: &str) -> bool {
    !matches!(
        event_type,
        "RUN_STARTED" | "RUN_FINISHED" | "RUN_ERROR" | "MESSAGES_SNAPSHOT"
    )
}

/// Members beside those that all events have; `None` for a type that is not known.
fn own_members(event_type: &str) -> Option<&'static [&'static str]> {
    Some(match event_type {
        "RUN_STARTED" => &[
            "threadId",
            "runId",
            "protocolVersion",
            "parentRunId",
            "input",
        ],
        "RUN_FINISHED" => &["threadId", "runId", "result", "outcome", "usage"],
        "RUN_ERROR" => &["message", "code", "usage"],
        "STEP_STARTED" | "STEP_FINISHED" => &["stepName"],
        "TEXT_MESSAGE_START" => &["messageId", "role", "name"],
        "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" | "REASONING_MESSAGE_CHUNK" => {
            &["messageId", "delta"]
        }
        "TEXT_MESSAGE_CHUNK" => &["messageId", "role", "name", "delta"],
        "TEXT_MESSAGE_END" | "REASONING_START" | "REASONING_END" | "REASONING_MESSAGE_END" => {
            &["messageId"]
        }
        "TOOL_CALL_START" => &["toolCallId", "toolCallName", "parentMessageId"],
        "TOOL_CALL_ARGS" => &["toolCallId", "delta"],
        "TOOL_CALL_END" => &["toolCallId"],
        "TOOL_CALL_CHUNK" => &["toolCallId", "toolCallName", "parentMessageId", "delta"],
        "TOOL_CALL_RESULT" => &["messageId", "toolCallId", "content", "role"],
        "STATE_SNAPSHOT" => &["snapshot"],
        "STATE_DELTA" => &["delta"],
        "MESSAGES_SNAPSHOT" => &["messages"],
        "ACTIVITY_SNAPSHOT" => &["messageId", "activityType", "content", "replace"],
        "ACTIVITY_DELTA" => &["messageId", "activityType", "patch"],
        "REASONING_MESSAGE_START" => &["messageId", "role"],
        "REASONING_ENCRYPTED_VALUE" => &["subtype", "entityId", "encryptedValue"],
        "SUBAGENT_STARTED" => &[
            "name",
            "description",
            "parentSubagentRunId",
            "parentToolCallId",
            "parentMessageId",
        ],
        "SUBAGENT_FINISHED" => &["result", "outcome"],
        "SUBAGENT_ERROR" => &["message", "code"],
        "RAW" => &["event", "source"],
        "CUSTOM" => &["name", "value"],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn fixtures() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto-fixtures/events");
        let files = std::fs::read_dir(folder).unwrap();
        files
            .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
            .collect()
    }

    #[test]
    fn valid_events_hold_nothing_but_what_is_described() {
        let events = fixtures();
        assert_eq!(events.len(), 31);
        for json in events {
            let event = Event::read(&json).unwrap();
            assert!(own_members(event.type_name()).is_some(), "{json}");
            let more = json
                .trim_end()
                .replacen('{', r#"{"\u0078":1,"type2":{"type":1},"#, 1);
            let found = Event::read(&more).unwrap().undescribed_members();
            let known: Vec<_> = event.undescribed_members();
            assert_eq!(found[..2], ["x", "type2"]);
            assert_eq!(found[2..], known, "{json}");
            assert!(known.iter().all(|name| name.starts_with('x')), "{known:?}");
        }
    }

    #[test]
    fn every_described_member_is_looked_at() {
        let open = ["rawEvent", "snapshot", "result", "value", "event"];
        for json in fixtures() {
            let event_type = Event::read(&json).unwrap().type_name().to_owned();
            let own = own_members(&event_type).unwrap().iter();
            let owner = has_owner(&event_type).then_some("subagentRunId");
            for name in own
                .copied()
                .chain(["timestamp", "metadata"])
                .chain(owner)
                .filter(|name| !open.contains(name))
            {
                let mut wrong: serde_json::Value = serde_json::from_str(&json).unwrap();
                wrong[name] = serde_json::json!([7]);
                assert!(
                    Event::read(&wrong.to_string()).is_err(),
                    "{event_type} without a rule for `{name}`"
                );
            }
        }
    }

    #[test]
    fn a_type_of_later_has_no_members_of_its_own() {
        let event = Event::read(r#"{"type":"FROM_LATER","x":1}"#).unwrap();
        assert!(event.undescribed_members().is_empty());
    }
}
