//! A record as bytes, for engines that store or send them.
//!
//! One JSON object without line breaks: `{"at":…,"run":…,"origin":…,"event":…}` with `"chunk":true`
//! if a chunk opened the item, or `"fact"` and `"private"` in place of `event`. Seq and class stand
//! beside it, as the engine likes.
//!
//! Invariant: the JSON of an event or fact comes back byte for byte.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;

use crate::entry::{Body, Class, Millis, Origin, Record};

/// Why bytes are no record.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    #[error("the record is not the JSON object it should be")]
    Json(#[from] serde_json::Error),
    #[error("the record holds a line break")]
    LineBreak,
    #[error("the record holds neither one event nor one fact")]
    Body,
}

/// The record's bytes.
pub fn encode(record: &Record) -> Vec<u8> {
    let mut to = Vec::with_capacity(record.size_bytes() + 96);
    to.extend_from_slice(b"{\"at\":");
    write(&mut to, &record.at);
    if let Some(run) = &record.run {
        to.extend_from_slice(b",\"run\":");
        write(&mut to, run);
    }
    to.extend_from_slice(b",\"origin\":");
    write(&mut to, &record.origin);
    match &record.body {
        Body::Event { json, from_chunk } => {
            write_raw(&mut to, "event", json);
            if *from_chunk {
                to.extend_from_slice(b",\"chunk\":true");
            }
        }
        Body::Fact { public, private } => {
            write_raw(&mut to, "fact", public);
            if let Some(private) = private {
                write_raw(&mut to, "private", private);
            }
        }
    }
    to.push(b'}');
    to
}

fn write(to: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(to, value).expect("ids, numbers and principals are JSON");
}

/// As text, so that it is neither parsed nor copied on the way.
fn write_raw(to: &mut Vec<u8>, member: &str, json: &RawJson) {
    to.extend_from_slice(b",\"");
    to.extend_from_slice(member.as_bytes());
    to.extend_from_slice(b"\":");
    to.extend_from_slice(json.as_str().as_bytes());
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<'a> {
    at: Millis,
    run: Option<RunId>,
    origin: Origin,
    #[serde(borrow, default, deserialize_with = "present")]
    event: Option<&'a RawValue>,
    #[serde(default)]
    chunk: bool,
    #[serde(borrow, default, deserialize_with = "present")]
    fact: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    private: Option<&'a RawValue>,
}

/// A member that is there, `null` included.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// The record of these bytes.
///
/// # Errors
/// They are not what [`encode`] made.
pub fn decode(bytes: &[u8]) -> Result<Record, CodecError> {
    if bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return Err(CodecError::LineBreak);
    }
    let stored: Stored<'_> = serde_json::from_slice(bytes)?;
    let raw = |value: &RawValue| RawJson::from_trusted(Arc::from(value.get()));
    let body = match (stored.event, stored.fact) {
        (Some(event), None) if stored.private.is_none() => Body::Event {
            json: raw(event),
            from_chunk: stored.chunk,
        },
        (None, Some(fact)) if !stored.chunk => Body::Fact {
            public: raw(fact),
            private: stored.private.map(raw),
        },
        _ => return Err(CodecError::Body),
    };
    Ok(Record {
        at: stored.at,
        run: stored.run,
        origin: stored.origin,
        body,
    })
}

/// The class as a digit: 1 for control, 2 for state, 3 for both.
pub fn class_bits(class: Class) -> u8 {
    u8::from(class.control) | u8::from(class.state) << 1
}

/// The class of [`class_bits`]; `None` for a number that is none.
pub fn class_of_bits(bits: u8) -> Option<Class> {
    (bits < 4).then_some(Class {
        control: bits & 1 != 0,
        state: bits & 2 != 0,
    })
}
