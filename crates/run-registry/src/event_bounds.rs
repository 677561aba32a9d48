//! How large and how deep one event may be, whatever it meets on its thread.
//!
//! An event over a bound never enters a log: its run ends. What events amount to together (state
//! after a patch, all messages) is judged where the fold is at hand.

use threadcast_agui::content::Content;
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::json::{Extra, Metadata};
use threadcast_agui::message::{Message, MessageBody};

use crate::nesting::{depth, depth_around, depth_of_text};
use crate::patch::measure::json_bytes;

/// Largest event in bytes: the reference client's own limit.
pub const EVENT_BYTES_MAX: usize = 10 << 20;

/// Largest STATE_SNAPSHOT event in bytes.
pub const STATE_SNAPSHOT_BYTES_MAX: usize = 8 << 20;

/// Largest content of an activity as JSON: each append that patches it works on a copy.
pub const ACTIVITY_BYTES_MAX: usize = 4 << 20;

/// Deepest value that a message or the state keeps: it must not be too deep inside a run input,
/// inside a frame.
pub const KEPT_DEPTH_MAX: usize = 56;

/// Which bound an event is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverBound {
    #[error("{what} of {found} bytes, at most {max} are allowed")]
    TooLarge {
        what: &'static str,
        found: usize,
        max: usize,
    },
    /// `what` is the member that is kept.
    #[error("{what} is nested {found} levels deep, at most {KEPT_DEPTH_MAX} are allowed")]
    TooDeep { what: &'static str, found: usize },
}

/// Whether an event's text is short enough to be read at all.
///
/// # Errors
/// It is over [`EVENT_BYTES_MAX`].
pub fn check_text(json: &str) -> Result<(), OverBound> {
    must_fit("an event", json.len(), EVENT_BYTES_MAX)
}

/// Whether an event that was read is within bounds.
///
/// # Errors
/// It is a state over [`STATE_SNAPSHOT_BYTES_MAX`], it holds an activity's content over
/// [`ACTIVITY_BYTES_MAX`], or something that messages or the state keep is
/// over [`KEPT_DEPTH_MAX`].
pub fn check(event: &Event) -> Result<(), OverBound> {
    if let Some(metadata) = &event.metadata {
        must_be_flat("`metadata`", depth_of_members(metadata))?;
    }
    match &event.body {
        EventBody::StateSnapshot { snapshot } => {
            let found = event.json.as_str().len();
            must_fit("a state", found, STATE_SNAPSHOT_BYTES_MAX)?;
            must_be_flat("`snapshot`", depth(snapshot))
        }
        EventBody::ActivitySnapshot { content, .. } => check_activity(content),
        EventBody::ToolCallResult { content, .. } => check_content(content),
        // The questions that CUSTOM events asked stand in it by now.
        EventBody::RunFinished { .. } => {
            let found = event.json.as_str().len();
            must_fit("a RUN_FINISHED with its interrupts", found, EVENT_BYTES_MAX)
        }
        EventBody::MessagesSnapshot { messages } => messages.iter().try_for_each(check_message),
        _ => Ok(()),
    }
}

/// Whether a message that somebody sends whole is within the bounds of what is kept.
///
/// # Errors
/// One of its members is over [`KEPT_DEPTH_MAX`], or it is an activity over [`ACTIVITY_BYTES_MAX`].
pub fn check_message(message: &Message) -> Result<(), OverBound> {
    if let Some(metadata) = &message.metadata {
        must_be_flat("`metadata`", depth_of_members(metadata))?;
    }
    match &message.body {
        MessageBody::Activity { content, .. } => check_activity(content)?,
        MessageBody::Tool { content, .. } | MessageBody::User { content, .. } => {
            check_content(content)?;
        }
        _ => {}
    }
    for call in message.tool_calls() {
        if let Some(metadata) = &call.metadata {
            must_be_flat("`metadata`", depth_of_members(metadata))?;
        }
        check_extra(&call.extra)?;
    }
    check_extra(&message.extra)
}

fn check_activity(content: &Metadata) -> Result<(), OverBound> {
    must_be_flat("`content`", depth_of_members(content))?;
    let found = json_bytes(content);
    must_fit("an activity's content", found, ACTIVITY_BYTES_MAX)
}

fn check_content(content: &Content) -> Result<(), OverBound> {
    let Content::Parts(parts) = content else {
        return Ok(());
    };
    let parts = parts.iter().map(|part| depth_of_text(part.json.as_str()));
    must_be_flat("`content`", parts.max().map_or(0, |deepest| 1 + deepest))
}

fn check_extra(extra: &Extra) -> Result<(), OverBound> {
    extra
        .iter()
        .try_for_each(|(_, value)| must_be_flat("an unknown member", depth_of_text(value.as_str())))
}

fn depth_of_members(members: &Metadata) -> usize {
    depth_around(members.values())
}

fn must_be_flat(what: &'static str, found: usize) -> Result<(), OverBound> {
    if found > KEPT_DEPTH_MAX {
        return Err(OverBound::TooDeep { what, found });
    }
    Ok(())
}

/// Whether `found` bytes are within `max`.
pub(crate) fn must_fit(what: &'static str, found: usize, max: usize) -> Result<(), OverBound> {
    if found > max {
        return Err(OverBound::TooLarge { what, found, max });
    }
    Ok(())
}
