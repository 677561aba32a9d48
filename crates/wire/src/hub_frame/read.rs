//! Text to hub frame, for clients.
//!
//! Lenient where the hub may grow: unknown ops, members and codes pass. Depth is checked for each
//! event and fact alone, for a frame stands around it, and with room for what a hub builds around
//! a state or a message of the largest depth.

use serde::Deserialize;
use threadcast_agui::fields::ReadError;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::{Epoch, Position};

use super::{AnswerText, HubFrame, Subscribed};
use crate::client_frame::request_id;
use crate::members::{self, Members, MembersError};

/// Why a client cannot read a frame of the hub.
#[derive(Debug, thiserror::Error)]
pub enum HubFrameError {
    #[error("the hub's frame is malformed")]
    Syntax(#[source] serde_json::Error),
    #[error("the hub's frame is not as described: {0}")]
    Field(#[from] ReadError),
    #[error("the hub's `{op}` frame is not as described")]
    Body {
        op: &'static str,
        #[source]
        source: serde_json::Error,
    },
}

impl HubFrame {
    /// Reads one text message.
    ///
    /// # Errors
    /// The text is no frame, or a known op has a member missing or of another type.
    pub fn read(text: &str) -> Result<Self, HubFrameError> {
        let frame = Members::of(text).map_err(|error| match error {
            MembersError::Read(error) => HubFrameError::Field(error),
            MembersError::Syntax(error) => HubFrameError::Syntax(error),
        })?;
        let op = frame.read("op", members::string)?;
        match &*op {
            "event" => event(&frame),
            "fact" => fact(&frame),
            "events" => events(&frame),
            "part" => part(&frame),
            "ok" => Ok(Self::Ok {
                id: frame.read("id", request_id)?,
                answer: AnswerText(text.into()),
            }),
            "error" => Ok(Self::Error {
                id: frame.read_if("id", request_id)?,
                error: body("error", text)?,
            }),
            "welcome" => Ok(Self::Welcome(body("welcome", text)?)),
            "subscribed" => subscribed(&frame),
            "epoch" => Ok(Self::Epoch {
                thread: frame.read("threadId", members::thread)?,
                position: position(&frame)?,
            }),
            "reset" => Ok(Self::Reset {
                thread: frame.read("threadId", members::thread)?,
                position: position(&frame)?,
                reason: frame.read("reason", members::string)?.into(),
            }),
            "unsubscribed" => Ok(Self::Unsubscribed {
                thread: frame.read("threadId", members::thread)?,
                code: frame.read("code", members::string)?.into(),
                message: frame.read("message", members::string)?.into(),
            }),
            "draining" => Ok(Self::Draining {
                reconnect_after_ms: frame
                    .read("reconnectAfterMs", |json| members::count(json, 0))?,
            }),
            _ => Ok(Self::Unknown { op: op.into() }),
        }
    }
}

fn event(frame: &Members<'_>) -> Result<HubFrame, HubFrameError> {
    Ok(HubFrame::Event {
        thread: frame.read("threadId", members::thread)?,
        seq: frame.read("seq", members::seq)?,
        at: frame.read("at", millis)?,
        event: frame.read("event", raw)?,
    })
}

fn fact(frame: &Members<'_>) -> Result<HubFrame, HubFrameError> {
    Ok(HubFrame::Fact {
        thread: frame.read("threadId", members::thread)?,
        seq: frame.read("seq", members::seq)?,
        at: frame.read("at", millis)?,
        fact: frame.read("fact", raw)?,
    })
}

fn events(frame: &Members<'_>) -> Result<HubFrame, HubFrameError> {
    let events = frame.read("events", |json| {
        members::array(json)?.into_iter().map(raw).collect()
    })?;
    Ok(HubFrame::Events {
        thread: frame.read("threadId", members::thread)?,
        from: frame.read("from", members::seq)?,
        seq: frame.read("seq", members::seq)?,
        events,
        view: frame
            .value("thread")
            .map(|view| body("events", view))
            .transpose()?,
    })
}

fn part(frame: &Members<'_>) -> Result<HubFrame, HubFrameError> {
    Ok(HubFrame::Part {
        thread: frame.read("threadId", members::thread)?,
        n: frame.read("n", |json| members::count(json, 1))?,
        last: frame.read_if("last", members::boolean)?.unwrap_or(false),
        text: frame.read("text", members::string)?.into_owned(),
    })
}

fn subscribed(frame: &Members<'_>) -> Result<HubFrame, HubFrameError> {
    let mode = frame.read("mode", |json| Ok(body("subscribed", json)))??;
    Ok(HubFrame::Subscribed(Subscribed {
        id: frame.read_if("id", request_id)?,
        thread: frame.read("threadId", members::thread)?,
        head: position(frame)?,
        mode,
        reason: frame.read_if("reason", members::string)?.map(Into::into),
    }))
}

fn position(frame: &Members<'_>) -> Result<Position, ReadError> {
    Ok(Position {
        epoch: frame.read("epoch", |json| {
            members::string(json).map(|epoch| Epoch::new(&*epoch))
        })?,
        seq: frame.read("seq", members::seq)?,
    })
}

fn millis(json: &str) -> Result<Millis, ReadError> {
    members::count(json, 0).map(Millis)
}

fn raw(json: &str) -> Result<RawJson, ReadError> {
    Ok(RawJson::parse_built(json)?)
}

fn body<T: for<'de> Deserialize<'de>>(op: &'static str, json: &str) -> Result<T, HubFrameError> {
    serde_json::from_str(json).map_err(|source| HubFrameError::Body { op, source })
}
