//! One entry as a line.
//!
//! `{"seq":…,"class":[…],"at":…,"run":…,"origin":…,"event":…,"chunk":true}`, with `fact` and
//! `private` in place of `event`; `class`, `run` and `chunk` only where there is something to say.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::codec;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_thread_log::position::Seq;

use super::ExportProblem;

/// The line of an entry, without a line break; `private` keeps the private part of a fact.
pub fn entry_line(entry: &Entry, private: bool) -> String {
    let mut line = format!("{{\"seq\":{}", entry.seq);
    let class = class_names(entry.class);
    if !class.is_empty() {
        line.push_str(&format!(",\"class\":[\"{}\"]", class.join("\",\"")));
    }
    let record = if private {
        codec::encode(&entry.record)
    } else {
        codec::encode(&public(&entry.record))
    };
    let record = String::from_utf8(record).expect("records are JSON");
    line.push(',');
    line.push_str(record.strip_prefix('{').expect("records are objects"));
    line
}

fn public(record: &Record) -> Record {
    let mut record = record.clone();
    if let Body::Fact { private, .. } = &mut record.body {
        *private = None;
    }
    record
}

fn class_names(class: Class) -> Vec<&'static str> {
    let names = [("control", class.control), ("state", class.state)];
    let names = names.into_iter().filter(|(_, is_set)| *is_set);
    names.map(|(name, _)| name).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    seq: Seq,
    #[serde(default)]
    class: Vec<Box<str>>,
    at: Millis,
    #[serde(default)]
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

pub(super) fn read(line: &str) -> Result<Entry, ExportProblem> {
    let line: Line<'_> = serde_json::from_str(line)?;
    let checked = |value: &RawValue| RawJson::parse(value.get());
    // It stands around a whole input, which may be as deep as anything that is taken.
    let private = |value: &RawValue| RawJson::parse_built(value.get());
    let body = match (line.event, line.fact) {
        (Some(event), None) if line.private.is_none() => Body::Event {
            json: checked(event)?,
            from_chunk: line.chunk,
        },
        (None, Some(fact)) if !line.chunk => Body::Fact {
            public: checked(fact)?,
            private: line.private.map(private).transpose()?,
        },
        _ => return Err(ExportProblem::Body),
    };
    Ok(Entry {
        seq: line.seq,
        class: class(&line.class)?,
        record: Arc::new(Record {
            at: line.at,
            run: line.run,
            origin: line.origin,
            body,
        }),
    })
}

fn class(names: &[Box<str>]) -> Result<Class, ExportProblem> {
    let mut class = Class::NONE;
    for name in names {
        match &**name {
            "control" => class.control = true,
            "state" => class.state = true,
            _ => return Err(ExportProblem::Class { name: name.clone() }),
        }
    }
    Ok(class)
}
