//! Reads one event: retired shapes are translated, undescribed material is ignored, the rest is
//! checked.

use std::borrow::Cow;

use super::{Event, EventBody, body};
use crate::fields::{self, Fields, INTEGER_MAX, Problem, ReadError};
use crate::ids::SubagentRunId;
use crate::json::{Metadata, RawJson};
use crate::legacy;

impl Event {
    /// Reads one event.
    ///
    /// An unknown type is no error; of such an event nothing but the type is read.
    ///
    /// # Errors
    /// The text is no JSON object with a `type`, or a described member is missing or has a wrong
    /// value.
    pub fn read(json: &str) -> Result<Self, ReadError> {
        Self::from_raw(RawJson::parse(json)?)
    }

    /// The same for JSON that was checked before.
    ///
    /// # Errors
    /// The value is no object with a `type`, or a described member is missing or has a wrong value.
    pub fn from_raw(json: RawJson) -> Result<Self, ReadError> {
        let fields = Fields::of(json.as_str())?;
        let event_type = event_type(&fields)?;
        match legacy::translate_event(&event_type, &fields, json.as_str()) {
            Some(present) => Self::from_present(RawJson::from_trusted(present)),
            None => {
                let head = Head::read(&event_type, &fields)?;
                Ok(head.into_event(json))
            }
        }
    }

    fn from_present(json: RawJson) -> Result<Self, ReadError> {
        let fields = Fields::of(json.as_str())?;
        let head = Head::read(&event_type(&fields)?, &fields)?;
        Ok(head.into_event(json))
    }
}

fn event_type<'a>(fields: &Fields<'a>) -> Result<Cow<'a, str>, ReadError> {
    let event_type = fields.read("type", fields::exact)?;
    if event_type.is_empty() {
        return Err(ReadError::at("type", Problem::Empty));
    }
    Ok(event_type)
}

/// An event without its bytes.
struct Head {
    timestamp: Option<i64>,
    metadata: Option<Metadata>,
    owner: Option<SubagentRunId>,
    body: EventBody,
}

impl Head {
    fn read(event_type: &str, fields: &Fields<'_>) -> Result<Self, ReadError> {
        let Some(read) = body::reader(event_type) else {
            let body = EventBody::Unknown {
                event_type: event_type.into(),
            };
            return Ok(Self {
                timestamp: None,
                metadata: None,
                owner: None,
                body,
            });
        };
        Ok(Self {
            timestamp: fields.read_if("timestamp", |json| fields::integer(json, -INTEGER_MAX))?,
            metadata: fields.read_if("metadata", fields::metadata)?,
            owner: owner(event_type, fields)?,
            body: read(fields)?,
        })
    }

    fn into_event(self, json: RawJson) -> Event {
        Event {
            json,
            timestamp: self.timestamp,
            metadata: self.metadata,
            owner: self.owner,
            body: self.body,
        }
    }
}

/// Events of the whole run have no owner and do not describe the member; a subagent's own events
/// must name it.
fn owner(event_type: &str, fields: &Fields<'_>) -> Result<Option<SubagentRunId>, ReadError> {
    let read = |json: &str| fields::id(json, SubagentRunId::new);
    match event_type {
        "RUN_STARTED" | "RUN_FINISHED" | "RUN_ERROR" | "MESSAGES_SNAPSHOT" => Ok(None),
        "SUBAGENT_STARTED" | "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" => {
            fields.read("subagentRunId", read).map(Some)
        }
        _ => fields.read_if("subagentRunId", read),
    }
}
