//! Where the events come from that stand for a range: each is one of it as it was, or a merge that
//! has its owner, its time and its item from the first that it stands for.

use threadcast_agui::event::Event;
use threadcast_agui::json::{RawJson, members};
use threadcast_run_registry::compaction::Compacted;
use threadcast_run_registry::histories::Random;
use threadcast_thread_log::entry::{Body, Entry};

/// The same events, most with a time of their own, written in every way that numbers are.
pub(crate) fn stamped(events: &[Event], random: &mut Random) -> Vec<Event> {
    let stamp = |(at, event): (usize, &Event)| {
        let number = 1 + at as i64;
        let written = match random.below(5) {
            _ if member(&event.json, "timestamp").is_some() => return event.clone(),
            0 => return event.clone(),
            1 => format!("-{number}"),
            2 => format!("{number}.0"),
            3 => (1_700_000_000_000_000 + number).to_string(),
            _ => (1_700_000_000_000 + number).to_string(),
        };
        let json = event.json.as_str();
        let json = json.replacen('{', &format!("{{\"timestamp\":{written},"), 1);
        Event::read(&json).expect("an event with a time")
    };
    events.iter().enumerate().map(stamp).collect()
}

/// A member as it stands: text may hold half a character.
fn member<'a>(event: &'a RawJson, name: &str) -> Option<&'a str> {
    let mut members = members(event.as_str());
    members.find(|(own, _)| own == name).map(|(_, value)| value)
}

fn type_of(event: &RawJson) -> &str {
    member(event, "type").unwrap_or_default().trim_matches('"')
}

/// Whether events of its type may be merged into others, or left out.
fn may_be_merged(event: &RawJson) -> bool {
    let event_type = type_of(event);
    let suffixes = ["MESSAGE_CONTENT", "CALL_ARGS"];
    suffixes.iter().any(|suffix| event_type.ends_with(suffix)) || has_changes(event)
}

fn has_changes(event: &RawJson) -> bool {
    matches!(
        type_of(event),
        "ACTIVITY_DELTA" | "ACTIVITY_SNAPSHOT" | "STATE_DELTA" | "STATE_SNAPSHOT"
    )
}

/// The members of an event that a merge has of the first one.
fn origin(event: &RawJson) -> [Option<&str>; 4] {
    ["timestamp", "subagentRunId", "messageId", "toolCallId"].map(|name| member(event, name))
}

/// Whether `merged` may stand for `first` and others of `range`.
fn may_begin_with(merged: &RawJson, first: &RawJson, range: &[RawJson]) -> bool {
    let is_type = match type_of(merged) {
        "STATE_SNAPSHOT" => {
            has_changes(first) && range.iter().any(|event| type_of(event) == "STATE_SNAPSHOT")
        }
        own => type_of(first) == own,
    };
    is_type && may_be_merged(merged) && origin(first) == origin(merged)
}

/// What is wrong with the events that stand for `range`, if anything is.
fn wrong_in(range: &[RawJson], events: &[RawJson]) -> Option<String> {
    let mut rest = range.iter();
    for json in events {
        let is_origin = |first: &RawJson| first == json || may_begin_with(json, first, range);
        if !rest.any(is_origin) {
            return Some(format!("{json} comes from nowhere"));
        }
    }
    let is_kept = |json: &&RawJson| !may_be_merged(json);
    let kept = range.iter().filter(is_kept);
    let differs = !kept.eq(events.iter().filter(is_kept));
    differs.then(|| "other events do not pass as they are".to_owned())
}

/// What is wrong with what stands for `entries`, if anything is.
pub(crate) fn wrong(entries: &[Entry], compacted: &[Compacted]) -> Option<String> {
    compacted.iter().find_map(|piece| match piece {
        Compacted::Events {
            first,
            last,
            events,
        } => {
            let range = entries
                .iter()
                .filter(|entry| (*first..=*last).contains(&entry.seq));
            let range: Vec<_> = range.filter_map(event_of).collect();
            wrong_in(&range, events)
        }
        Compacted::Fact(fact) => {
            (!entries.contains(fact)).then(|| "a fact comes from nowhere".to_owned())
        }
    })
}

fn event_of(entry: &Entry) -> Option<RawJson> {
    match &entry.record.body {
        Body::Event { json, .. } => Some(json.clone()),
        Body::Fact { .. } => None,
    }
}
