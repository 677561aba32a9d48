//! Retired shapes that old peers still send, in their present form.
//!
//! Only shapes that AG-UI once allowed are translated: some nulls, binary content parts, THINKING
//! events, and questions asked by CUSTOM events, with the way back of their answers. What was never
//! allowed is left for the reader to refuse. Members that nobody describes stay as they came.

mod binary;
mod command;
mod interrupts;
mod minted;
mod thinking;

use binary::{Binary, Twins};

use crate::edit::{Edit, edit_array, edit_object};
use crate::fields::{self, Fields};

pub use command::{command_resume, entries_of_command, with_command_resume};
pub use interrupts::{OnInterrupt, QUESTIONS_BYTES_MAX, is_asked_by_event};
pub use thinking::Thinking;

/// The event without retired shapes; `None` if it holds none.
pub(crate) fn translate_event(event_type: &str, fields: &Fields<'_>, json: &str) -> Option<String> {
    let has_raw_null = fields.value("rawEvent") == Some("null");
    let has_own = match event_type {
        "RUN_STARTED" => fields.value("input").is_some(),
        "RUN_FINISHED" | "SUBAGENT_FINISHED" | "TOOL_CALL_START" | "TOOL_CALL_CHUNK"
        | "MESSAGES_SNAPSHOT" => true,
        _ => false,
    };
    if !has_raw_null && !has_own {
        return None;
    }
    edit_object(json, |name, value| match (event_type, name, value) {
        (_, "rawEvent", "null")
        | ("RUN_FINISHED", "outcome" | "result", "null")
        | ("SUBAGENT_FINISHED", "result", "null")
        | ("TOOL_CALL_CHUNK" | "TOOL_CALL_START", "parentMessageId", "null") => Edit::Drop,
        ("RUN_STARTED", "input", input) => Edit::if_some(translate_input(input)),
        ("MESSAGES_SNAPSHOT", "messages", messages) => Edit::if_some(translate_messages(messages)),
        _ => Edit::Keep,
    })
}

/// The run input without retired shapes; `None` if it holds none.
pub(crate) fn translate_input(json: &str) -> Option<String> {
    let each = |array: &str, translate: fn(&str) -> Option<String>| {
        Edit::if_some(edit_array(array, |one| Edit::if_some(translate(one))))
    };
    edit_object(json, |name, value| match (name, value) {
        ("forwardedProps", "null") => Edit::Drop,
        ("tools", tools) => each(tools, |tool| drop_null(tool, "parameters")),
        ("resume", entries) => each(entries, translate_resume_entry),
        ("messages", messages) => Edit::if_some(translate_messages(messages)),
        _ => Edit::Keep,
    })
}

/// The entry without `payload: null`; `None` if it has none.
pub(crate) fn translate_resume_entry(json: &str) -> Option<String> {
    drop_null(json, "payload")
}

fn drop_null(json: &str, member: &str) -> Option<String> {
    edit_object(json, |name, value| {
        Edit::drop_if(name == member && value == "null")
    })
}

fn translate_messages(json: &str) -> Option<String> {
    edit_array(json, |message| {
        Edit::if_some(edit_object(message, |name, value| match name {
            "content" => Edit::if_some(translate_parts(value)),
            _ => Edit::Keep,
        }))
    })
}

fn translate_parts(parts: &str) -> Option<String> {
    let mut twins = None;
    edit_array(parts, |part| {
        let Ok(fields) = Fields::of(part) else {
            return Edit::Keep;
        };
        match fields::tag(&fields, "type").as_deref() {
            Some("audio" | "document" | "image" | "video") => {
                Edit::if_some(drop_null(part, "metadata"))
            }
            Some("binary") => match Binary::read(&fields) {
                // Some old peers sent an attachment in both forms.
                Some(binary)
                    if twins
                        .get_or_insert_with(|| Twins::among(parts))
                        .have(&binary) =>
                {
                    Edit::Drop
                }
                Some(binary) => Edit::Set(binary.to_media_part()),
                None => Edit::Keep,
            },
            _ => Edit::Keep,
        }
    })
}

#[cfg(test)]
mod tests;
