//! The retired THINKING events, and the reasoning events they become.

use crate::edit::{Edit, append_member, edit_object};
use crate::event::{Event, EventBody};
use crate::fields::ReadError;
use crate::json::RawJson;
use crate::legacy::minted::Minted;
use crate::write::string_token;

/// Turns the THINKING events of one stream into reasoning events.
///
/// They name no message: a start mints an id, what follows it continues with that id. Ids come from
/// a prefix and a count, so the same stream gives the same ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thinking {
    ids: Minted,
    span: Option<Box<str>>,
    message: Option<Box<str>>,
}

impl Thinking {
    /// `prefix` must be unique in the thread, such as the run's id; of a long one the end is used.
    pub fn new(prefix: &str) -> Self {
        Self {
            ids: Minted::new(prefix, "thinking"),
            span: None,
            message: None,
        }
    }

    /// Gives every other event back as it is.
    ///
    /// # Errors
    /// The event is a THINKING event whose present form has a missing or wrong member.
    pub fn translate(&mut self, event: Event) -> Result<Event, ReadError> {
        let EventBody::Unknown { event_type } = &event.body else {
            return Ok(event);
        };
        let (present, id, has_role) = match event_type.as_ref() {
            "THINKING_START" => {
                let id = self.ids.mint();
                self.span = Some(id.clone());
                ("REASONING_START", id, false)
            }
            "THINKING_END" => (
                "REASONING_END",
                self.span.take().unwrap_or_else(|| self.ids.mint()),
                false,
            ),
            "THINKING_TEXT_MESSAGE_START" => {
                let id = self.ids.mint();
                self.message = Some(id.clone());
                ("REASONING_MESSAGE_START", id, true)
            }
            "THINKING_TEXT_MESSAGE_CONTENT" => {
                // Without a start the id is nobody's, and verification refuses the event for that.
                (
                    "REASONING_MESSAGE_CONTENT",
                    self.message.clone().unwrap_or_else(|| self.ids.mint()),
                    false,
                )
            }
            "THINKING_TEXT_MESSAGE_END" => (
                "REASONING_MESSAGE_END",
                self.message.take().unwrap_or_else(|| self.ids.mint()),
                false,
            ),
            _ => return Ok(event),
        };
        Event::from_raw(present_form(event.json.as_str(), present, &id, has_role))
    }
}

fn present_form(json: &str, event_type: &str, id: &str, has_role: bool) -> RawJson {
    let json = edit_object(json, |name, _| match name {
        "type" => Edit::Set(string_token(event_type)),
        "messageId" | "title" => Edit::Drop,
        "role" if has_role => Edit::Drop,
        _ => Edit::Keep,
    });
    let json = json.expect("a read event has a type");
    let json = append_member(&json, "messageId", &string_token(id));
    RawJson::from_trusted(if has_role {
        append_member(&json, "role", "\"reasoning\"")
    } else {
        json
    })
}
