//! What a client submits to start a run (AG-UI `RunAgentInput`).

use crate::fields::{self, Fields, ReadError};
use crate::ids::{RunId, ThreadId};
use crate::interrupt::ResumeEntry;
use crate::json::RawJson;
use crate::legacy;
use crate::message::{Message, MessageBody};

/// A submission, read leniently: absent lists are empty, unknown members stay in `json`.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInput {
    /// The whole object as its sender wrote it.
    pub json: RawJson,
    pub thread: ThreadId,
    pub run: RunId,
    /// What the client speaks; absent means a client from before 1.0.
    pub protocol_version: Option<Box<str>>,
    pub parent_run: Option<RunId>,
    /// Absent and null read alike.
    pub state: Option<RawJson>,
    pub messages: Vec<Message>,
    /// The array as it came, elements checked.
    pub tools: Option<RawJson>,
    /// The array as it came, elements checked.
    pub context: Option<RawJson>,
    /// Opaque; passed on unaltered.
    pub forwarded_props: Option<RawJson>,
    /// Absent and empty read alike.
    pub resume: Vec<ResumeEntry>,
}

impl RunInput {
    /// Reads a submission: retired shapes are translated, activity messages, which an input never
    /// holds, left out.
    ///
    /// # Errors
    /// The text is no JSON, or a described member is missing or has a wrong value.
    pub fn read(json: &str) -> Result<Self, ReadError> {
        let json = RawJson::parse(json)?;
        let json = legacy::translate_input(json.as_str()).map_or(json, RawJson::from_trusted);
        let mut input = Self::from_checked(&json)?;
        input
            .messages
            .retain(|message| !matches!(message.body, MessageBody::Activity { .. }));
        Ok(input)
    }

    /// Reads what holds no retired shape, activity messages included.
    pub(crate) fn from_checked(json: &RawJson) -> Result<Self, ReadError> {
        let fields = Fields::of(json.as_str())?;
        let resume = fields.read_if("resume", |json| {
            fields::array(json, ResumeEntry::from_checked)
        })?;
        Ok(Self {
            json: json.clone(),
            thread: fields.read("threadId", |json| fields::id(json, ThreadId::new))?,
            run: fields.read("runId", |json| fields::id(json, RunId::new))?,
            protocol_version: fields.read_if("protocolVersion", fields::text)?,
            parent_run: fields.read_if("parentRunId", |json| fields::id(json, RunId::new))?,
            state: fields
                .read_if("state", fields::any)?
                .filter(|state| state.as_str() != "null"),
            messages: fields.read("messages", |json| {
                fields::known_array(json, Message::from_checked)
            })?,
            tools: fields.read_if("tools", |json| checked_array(json, check_tool))?,
            context: fields.read_if("context", |json| checked_array(json, check_context))?,
            forwarded_props: fields.read_if("forwardedProps", fields::any_but_null)?,
            resume: resume.unwrap_or_default(),
        })
    }
}

fn checked_array(
    json: &str,
    check: impl FnMut(&str) -> Result<(), ReadError>,
) -> Result<RawJson, ReadError> {
    fields::array(json, check)?;
    fields::any(json)
}

fn check_tool(json: &str) -> Result<(), ReadError> {
    let fields = Fields::of(json)?;
    fields.read("name", fields::token)?;
    fields.read("description", fields::token)?;
    fields.read_if("parameters", fields::any_but_null)?;
    fields.read_if("metadata", fields::open_object)?;
    Ok(())
}

fn check_context(json: &str) -> Result<(), ReadError> {
    let fields = Fields::of(json)?;
    fields.read("description", fields::token)?;
    fields.read("value", fields::token)?;
    Ok(())
}

#[cfg(test)]
mod tests;
