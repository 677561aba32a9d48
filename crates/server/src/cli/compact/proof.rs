//! Whether two histories amount to the same.

use threadcast_agui::message::Message;

use crate::cli::file::{History, Stop};

/// Compaction changed what a stream amounts to: nothing is printed then.
#[derive(Debug, thiserror::Error)]
#[error("the compacted stream {0}; nothing is printed, please report it with the file")]
pub(super) struct Differs(String);

impl From<Stop> for Differs {
    fn from(stop: Stop) -> Self {
        Self(match stop {
            Stop::Unreadable(error) => format!("cannot be read: {error}"),
            Stop::Violation(violation) => format!(
                "breaks rule `{}` at {}: {}",
                violation.rule, violation.place, violation.message
            ),
        })
    }
}

/// Compares messages in their order, state, what is pending, and which run is open.
///
/// # Errors
/// They differ.
pub(super) fn must_amount_to_the_same(one: &History, other: &History) -> Result<(), Differs> {
    let (one, other) = (one.conversation(), other.conversation());
    let differing = if !one
        .messages()
        .map(Message::to_json)
        .eq(other.messages().map(Message::to_json))
    {
        "messages"
    } else if one.state() != other.state() {
        "state"
    } else if one.pending_interrupts() != other.pending_interrupts() {
        "interrupts"
    } else if one.pending_tool_calls() != other.pending_tool_calls() {
        "pending tool calls"
    } else if one.verifier().active_run() != other.verifier().active_run() {
        "runs"
    } else {
        return Ok(());
    };
    Err(Differs(format!("gives other {differing}")))
}

/// The same, and that both go as far: of entries that change nothing, too, none is lost.
///
/// # Errors
/// They differ.
pub(super) fn must_be_of_the_same_entries(one: &History, other: &History) -> Result<(), Differs> {
    if one.at() != other.at() {
        let (expected, found) = (one.at(), other.at());
        let problem = format!("goes to entry {found}, expected {expected}");
        return Err(Differs(problem));
    }
    must_amount_to_the_same(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::file::{Format, follow_lines};

    fn history(lines: &[&str]) -> History {
        let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
        let mut history = History::new("in".to_owned());
        follow_lines(&mut history, Format::Hub, &lines).unwrap();
        history
    }

    #[test]
    fn a_lost_entry_that_changes_nothing_is_missed() {
        let started = r#"{"seq":1,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}"#;
        let custom = r#"{"seq":2,"event":{"type":"CUSTOM","name":"n","value":1}}"#;
        let (whole, lost) = (history(&[started, custom]), history(&[started]));
        must_amount_to_the_same(&whole, &lost).unwrap();
        must_be_of_the_same_entries(&whole, &whole).unwrap();
        let differs = must_be_of_the_same_entries(&whole, &lost).unwrap_err();
        assert!(differs.to_string().contains("goes to entry 1, expected 2"));
    }
}
