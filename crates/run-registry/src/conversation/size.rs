//! How long messages are as JSON, followed change by change.
//!
//! A change tells what it did to the length of its message, so that an event costs what it says and
//! not what its message holds. Only where content is replaced whole is a message measured anew.

use threadcast_agui::json::Metadata;
use threadcast_agui::message::{Message, ToolCall};
use threadcast_agui::text::Escaped;

use crate::patch::measure::{json_bytes, name_bytes, separator_bytes, text_bytes};

/// What a change did to the length of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Growth {
    By(isize),
    /// It is to be measured.
    Unknown,
}

impl Growth {
    pub(super) const NONE: Self = Self::By(0);

    pub(super) fn of_text(delta: &Escaped) -> Self {
        Self::By(signed(delta.len()))
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::By(one), Self::By(other)) => Self::By(one + other),
            _ => Self::Unknown,
        }
    }
}

pub(super) fn message_bytes(message: &Message) -> usize {
    let mut json = String::new();
    message.write(&mut json);
    json.len()
}

pub(super) fn call_bytes(call: &ToolCall) -> usize {
    let mut json = String::new();
    call.write(&mut json);
    json.len()
}

/// A member, behind others, that was not there.
pub(super) fn new_member(name: &str, value_bytes: usize) -> Growth {
    Growth::By(signed(",".len() + name_bytes(name) + value_bytes))
}

/// One more element of an array that had `others`.
pub(super) fn new_element(others: usize, value_bytes: usize) -> Growth {
    Growth::By(signed(separator_bytes(others) + value_bytes))
}

/// Sets a text that is a member of its own.
pub(super) fn set_text(place: &mut Option<Box<str>>, name: &str, text: &str) -> Growth {
    match place.replace(text.into()) {
        None => new_member(name, text_bytes(text)),
        Some(gone) => replaced(text_bytes(&gone), text_bytes(text)),
    }
}

/// Merges an event's metadata into what the event builds: key by key, the last write wins, values
/// are replaced whole.
pub(super) fn merge_metadata(target: &mut Option<Metadata>, event: Option<&Metadata>) -> Growth {
    let Some(event) = event else {
        return Growth::NONE;
    };
    let mut growth = match target {
        None => new_member("metadata", "{}".len()),
        Some(_) => Growth::NONE,
    };
    let target = target.get_or_insert_default();
    for (key, value) in event {
        let others = target.len();
        let bytes = json_bytes(value);
        growth = growth.and(match target.insert(key.clone(), value.clone()) {
            None => new_element(others, name_bytes(key) + bytes),
            Some(gone) => replaced(json_bytes(&gone), bytes),
        });
    }
    growth
}

pub(super) fn replaced(gone_bytes: usize, bytes: usize) -> Growth {
    Growth::By(signed(bytes) - signed(gone_bytes))
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).expect("what is in memory is shorter than half of it")
}
