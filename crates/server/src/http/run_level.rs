//! The events that begin and end runs, told apart without reading them.

use serde::Deserialize;
use threadcast_thread_log::entry::{Body, Entry};

/// The events that begin and end runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunLevel {
    Ended,
    Started,
}

/// Whether the entry begins or ends a run. Only such events touch control, so that others need no
/// look inside.
pub(crate) fn run_level(entry: &Entry) -> Option<RunLevel> {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow)]
        r#type: std::borrow::Cow<'a, str>,
    }
    let Body::Event { json, .. } = &entry.record.body else {
        return None;
    };
    if !entry.class.control {
        return None;
    }
    let event: Typed<'_> = serde_json::from_str(json.as_str()).ok()?;
    match &*event.r#type {
        "RUN_STARTED" => Some(RunLevel::Started),
        "RUN_ERROR" | "RUN_FINISHED" => Some(RunLevel::Ended),
        _ => None,
    }
}
