//! Questions an agent stops for, and the entries that answer them.

use crate::fields::{self, Fields, ReadError};
use crate::ids::{InterruptId, SubagentRunId, ToolCallId};
use crate::json::RawJson;
use crate::legacy;

/// One question of an interrupted run (AG-UI `Interrupt`).
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupt {
    /// The whole object as the agent wrote it.
    pub json: RawJson,
    pub id: InterruptId,
    pub reason: Box<str>,
    pub message: Option<Box<str>>,
    pub call: Option<ToolCallId>,
    /// A JSON Schema object for the answer's payload.
    pub response_schema: Option<RawJson>,
    /// Free text by the contract, ISO 8601 by convention; what is no date never expires.
    pub expires_at: Option<Box<str>>,
    pub metadata: Option<RawJson>,
    pub owner: Option<SubagentRunId>,
}

impl Interrupt {
    /// Reads one interrupt.
    ///
    /// # Errors
    /// The text is no JSON, or a described member is missing or has a wrong value.
    pub fn read(json: &str) -> Result<Self, ReadError> {
        Self::from_checked(RawJson::parse(json)?.as_str())
    }

    pub(crate) fn from_checked(json: &str) -> Result<Self, ReadError> {
        let fields = Fields::of(json)?;
        Ok(Self {
            json: fields::any(json)?,
            id: fields.read("id", |json| fields::id(json, InterruptId::new))?,
            reason: fields.read("reason", fields::text)?,
            message: fields.read_if("message", fields::text)?,
            call: fields.read_if("toolCallId", |json| fields::id(json, ToolCallId::new))?,
            response_schema: fields.read_if("responseSchema", fields::open_object)?,
            expires_at: fields.read_if("expiresAt", fields::text)?,
            metadata: fields.read_if("metadata", fields::open_object)?,
            owner: fields.read_if("subagentRunId", |json| fields::id(json, SubagentRunId::new))?,
        })
    }
}

/// One answer of a resume (AG-UI `ResumeEntry`).
#[derive(Clone, Debug, PartialEq)]
pub struct ResumeEntry {
    /// The whole object as its sender wrote it.
    pub json: RawJson,
    pub interrupt: InterruptId,
    pub status: ResumeStatus,
    /// Any JSON but null; null reads as absent.
    pub payload: Option<RawJson>,
    pub metadata: Option<RawJson>,
}

/// What became of a question: answered, or given up. A person's rejection is `Resolved`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeStatus {
    Resolved,
    Cancelled,
}

impl ResumeEntry {
    /// Reads one entry; `payload: null`, which older clients send, is taken out.
    ///
    /// # Errors
    /// The text is no JSON, or a described member is missing or has a wrong value.
    pub fn read(json: &str) -> Result<Self, ReadError> {
        let json = RawJson::parse(json)?;
        match legacy::translate_resume_entry(json.as_str()) {
            Some(translated) => Self::from_checked(&translated),
            None => Self::from_checked(json.as_str()),
        }
    }

    pub(crate) fn from_checked(json: &str) -> Result<Self, ReadError> {
        let fields = Fields::of(json)?;
        Ok(Self {
            json: fields::any(json)?,
            interrupt: fields.read("interruptId", |json| fields::id(json, InterruptId::new))?,
            status: fields.read("status", |json| {
                fields::one_of(json, &ResumeStatus::NAMES, &ResumeStatus::ALL)
            })?,
            payload: fields.read_if("payload", fields::any_but_null)?,
            metadata: fields.read_if("metadata", fields::open_object)?,
        })
    }
}

impl ResumeStatus {
    const ALL: [Self; 2] = [Self::Resolved, Self::Cancelled];
    const NAMES: [&'static str; 2] = ["resolved", "cancelled"];

    /// The status as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Cancelled => "cancelled",
        }
    }
}

#[cfg(test)]
mod tests;
