//! Which AG-UI a plain reader speaks, and its stream in that (docs/protocol.md §13.8).
//!
//! Readers of 1.0 get events byte for byte, and nothing is looked into for them.

use std::borrow::Cow;

use http::Uri;
use threadcast_agui::downgrade::{Downgrade, Downgraded, is_before_1_0};
use threadcast_agui::event::Event;
use threadcast_agui::json::RawJson;
use threadcast_hub::live_thread::LiveThread;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::snapshot::{snapshot, snapshot_for_older};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Position;

use super::open_steps::downgrade_at;

/// The parameter that names the version a reader speaks.
const PARAMETER: &str = "agui";

/// How events are told to one reader.
#[derive(Debug)]
pub(crate) enum Reader {
    /// As they stand in the log.
    Current,
    /// As a client from before 1.0 takes them.
    Older(Box<Downgrade>),
}

/// What a reader gets of one event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told<'a> {
    Event(Cow<'a, str>),
    Nothing,
    /// Nothing more on this stream.
    StreamEnds,
}

impl Reader {
    /// Of a run's events, for a caller whose input names `version`; the request may name another.
    pub(crate) fn of_caller(uri: &Uri, version: Option<&str>) -> Self {
        let named = parameter(uri);
        Self::new(is_before_1_0(named.as_deref().or(version)))
    }

    /// Of a thread's events: one that names no version speaks the present one.
    pub(crate) fn of_thread(uri: &Uri) -> Self {
        Self::new(parameter(uri).is_some_and(|named| is_before_1_0(Some(&named))))
    }

    fn new(is_older: bool) -> Self {
        if is_older {
            Self::Older(Box::default())
        } else {
            Self::Current
        }
    }

    /// What the reader gets of an event that comes next.
    pub(crate) fn tell<'a>(&mut self, json: &'a RawJson) -> Told<'a> {
        let Self::Older(downgrade) = self else {
            return Told::Event(json.as_str().into());
        };
        // What this version cannot read is no event for an older reader.
        let Ok(event) = Event::from_raw(json.clone()) else {
            return Told::Nothing;
        };
        match downgrade.take(&event) {
            Downgraded::Event(json) => Told::Event(json.as_str().to_owned().into()),
            Downgraded::LeftOut => Told::Nothing,
            Downgraded::StreamEnds => Told::StreamEnds,
        }
    }

    /// What brings a reader that holds nothing to where `conversation` stands.
    pub(crate) fn tell_snapshot(&mut self, conversation: &Conversation) -> Vec<RawJson> {
        let Self::Older(downgrade) = self else {
            let events = snapshot(conversation).into_iter();
            return events.map(|event| event.json).collect();
        };
        let told = snapshot_for_older(conversation).into_iter();
        told.filter_map(|event| match downgrade.take(&event) {
            Downgraded::Event(json) => Some(json),
            Downgraded::LeftOut | Downgraded::StreamEnds => None,
        })
        .collect()
    }

    /// Goes on behind a position as if it had told all that stands before it; whether it can.
    ///
    /// # Errors
    /// The engine failed.
    pub(crate) async fn go_on_after(
        &mut self,
        live: &LiveThread,
        position: &Position,
    ) -> Result<bool, EngineError> {
        if let Self::Older(downgrade) = self {
            let Some(there) = downgrade_at(live, position.seq).await? else {
                return Ok(false);
            };
            **downgrade = there;
        }
        Ok(true)
    }
}

fn parameter(uri: &Uri) -> Option<String> {
    let mut query = url::form_urlencoded::parse(uri.query()?.as_bytes());
    query
        .find(|(name, _)| name == PARAMETER)
        .map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_older(reader: &Reader) -> bool {
        matches!(reader, Reader::Older(_))
    }

    #[test]
    fn a_caller_is_as_old_as_its_input_says_unless_it_says_otherwise() {
        for (uri, version, expected) in [
            ("/x", None, true),
            ("/x", Some("1.0"), false),
            ("/x", Some("0.0"), true),
            ("/x", Some("2.0"), false),
            ("/x?agui=1.0", None, false),
            ("/x?agui=0.0", Some("1.0"), true),
        ] {
            let reader = Reader::of_caller(&uri.parse().unwrap(), version);
            assert_eq!(is_older(&reader), expected, "{uri} {version:?}");
        }
    }

    #[test]
    fn a_reader_of_a_thread_is_a_present_one_unless_it_says_otherwise() {
        for (uri, expected) in [
            ("/x", false),
            ("/x?after=e%3A1", false),
            ("/x?after=e%3A1&agui=0.0", true),
            ("/x?agui=0.0.59", true),
            ("/x?agui=1.1", false),
            ("/x?agui=", false),
        ] {
            let reader = Reader::of_thread(&uri.parse().unwrap());
            assert_eq!(is_older(&reader), expected, "{uri}");
        }
    }
}
