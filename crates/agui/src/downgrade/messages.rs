//! Messages as older clients take them: of the roles and parts they know, tool results as text.

use crate::content::{Content, ContentPart, PartBody, Source};
use crate::edit::{Edit, edit_array, edit_object};
use crate::fields::{self, Fields};
use crate::message::Message;

/// The list in its older form; `None` if it has that already.
pub(super) fn in_older_form(messages: &str) -> Option<String> {
    edit_array(messages, |json| {
        // A role that nobody describes: the rest of the element is not looked at.
        if !matches!(Message::from_checked(json), Ok(Some(_))) {
            return Edit::Drop;
        }
        let role = Fields::of(json).ok();
        let role = role.as_ref().and_then(|fields| fields::tag(fields, "role"));
        let edited = edit_object(json, |name, value| match (name, role.as_deref()) {
            ("subagentRunId", _) => Edit::Drop,
            ("content", Some("tool")) => {
                Content::from_checked(value).map_or(Edit::Keep, |content| as_text(&content))
            }
            ("content", Some("user")) => Edit::if_some(known_parts(value)),
            _ => Edit::Keep,
        });
        Edit::if_some(edited)
    })
}

/// Of parts their text, for a tool's result was text alone.
pub(super) fn as_text(content: &Content) -> Edit {
    match content {
        Content::Text(_) => Edit::Keep,
        Content::Parts(_) => {
            let mut token = String::new();
            content.text().write(&mut token);
            Edit::Set(token)
        }
    }
}

/// Parts without those that older clients have no form for; `None` if there are none, or the
/// content is text.
fn known_parts(content: &str) -> Option<String> {
    edit_array(content, |part| {
        let part = ContentPart::from_checked(part).ok().flatten();
        Edit::drop_if(!part.is_some_and(|part| is_known(&part.body)))
    })
}

/// Files that stand with a provider came with 1.0.
fn is_known(part: &PartBody) -> bool {
    !matches!(
        part,
        PartBody::Media {
            source: Source::File { .. },
            ..
        }
    )
}
