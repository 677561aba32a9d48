//! The ends of runs, and what a run began with, as older clients take them.

use crate::edit::{Edit, append_member, edit_array, edit_object};
use crate::event::Event;
use crate::fields::{self, Fields};
use crate::json::RawJson;
use crate::write::string_token;

use super::messages;

/// What a cancelled run failed with.
const ABORT: &str = "abort";

/// A `RUN_FINISHED` of outcome cancelled as the RUN_ERROR it would have been before there was that
/// outcome; without one it would read as success.
pub(super) fn cancelled_to_error(finished: &Event) -> RawJson {
    let edited = edit_object(finished.json.as_str(), |name, _| match name {
        "type" => Edit::Set(string_token("RUN_ERROR")),
        "threadId" | "runId" | "outcome" | "result" | "subagentRunId" | "message" | "code" => {
            Edit::Drop
        }
        _ => Edit::Keep,
    });
    let json = edited.expect("an event has a type");
    let json = append_member(&json, "message", &string_token("the run was cancelled"));
    RawJson::from_trusted(append_member(&json, "code", &string_token(ABORT)))
}

/// An outcome in its older form: its own members alone, for more are refused, and none of a type
/// that nobody knows, which reads as success.
pub(super) fn outcome(json: &str) -> Edit {
    let Ok(fields) = Fields::of(json) else {
        return Edit::Keep;
    };
    let own: &[&str] = match fields::tag(&fields, "type").as_deref() {
        Some("interrupt") => &["type", "interrupts"],
        Some("success") => &["type"],
        _ => return Edit::Drop,
    };
    Edit::if_some(edit_object(json, |name, value| match name {
        "interrupts" if own.contains(&name) => Edit::if_some(without_owners(value)),
        _ => Edit::drop_if(!own.contains(&name)),
    }))
}

fn without_owners(interrupts: &str) -> Option<String> {
    edit_array(interrupts, |interrupt| {
        Edit::if_some(edit_object(interrupt, |name, _| {
            Edit::drop_if(name == "subagentRunId")
        }))
    })
}

/// A run's input in its older form, whose lists had to be there; `None` if it has that already.
pub(super) fn input(json: &str) -> Option<String> {
    let mut edited = edit_object(json, |name, value| match name {
        "messages" => Edit::if_some(messages::in_older_form(value)),
        _ => Edit::Keep,
    });
    let fields = Fields::of(json).ok()?;
    for list in ["tools", "context"] {
        if fields.value(list).is_none() {
            edited = Some(append_member(edited.as_deref().unwrap_or(json), list, "[]"));
        }
    }
    edited
}
