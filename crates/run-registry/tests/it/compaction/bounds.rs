//! How long a merged event gets, and how far patches are followed.

use serde_json::{Value, json};
use threadcast_agui::event::Event;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::compaction::{Compacted, compact, compact_events};
use threadcast_run_registry::event_bounds::{self, EVENT_BYTES_MAX, STATE_SNAPSHOT_BYTES_MAX};
use threadcast_thread_log::entry::Entry;

use crate::compaction::cases::numbered;
use crate::compaction::logged::{Viewer, event_body};
use crate::compaction::seq;

const MIB: usize = 1 << 20;

fn started() -> Value {
    json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"})
}

/// A run of `events` and one more.
fn run(events: &[Value]) -> Vec<Entry> {
    let end = json!({"type": "CUSTOM", "name": "end", "value": null});
    let all = [&[started()], events, &[end]].concat();
    let body = |event: &Value| event_body(RawJson::from_value(event));
    numbered(all.iter().map(body))
}

/// What `events` inside a run are compacted to.
#[track_caller]
fn compacted(events: &[Value]) -> Vec<RawJson> {
    let compacted = compact(&run(events));
    let [Compacted::Events { events, .. }] = &compacted[..] else {
        panic!("one piece")
    };
    for event in events {
        event_bounds::check_text(event.as_str()).unwrap();
    }
    events[1..events.len() - 1].to_vec()
}

/// The same, which must amount to the same.
#[track_caller]
fn followed(events: &[Value]) -> Vec<RawJson> {
    let entries = run(events);
    let (mut whole, mut caught_up) = (Viewer::new(), Viewer::new());
    whole.follow(&entries).unwrap();
    caught_up.catch_up(seq(0), &compact(&entries)).unwrap();
    assert_eq!(caught_up.differs(&whole), None);
    compacted(events)
}

#[track_caller]
fn stay(events: &[Value]) {
    let kept: Vec<_> = events.iter().map(RawJson::from_value).collect();
    assert!(compacted(events) == kept, "they were merged");
}

fn text(bytes: usize) -> Value {
    json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x".repeat(bytes)})
}

#[test]
fn text_is_merged_up_to_the_length_of_one_event() {
    let start = json!({"type": "TEXT_MESSAGE_START", "messageId": "m"});
    let deltas = [6, 3, 3].map(|mib| text(mib * MIB));
    let events = [&[start], &deltas[..]].concat();
    let lengths = compacted(&events)[1..]
        .iter()
        .map(|event| event.as_str().len() / MIB)
        .collect::<Vec<_>>();
    assert_eq!(lengths, [9, 3]);
    // A stream in a file is read again with the same bounds.
    let read = |event: &Value| Event::from_raw(RawJson::from_value(event)).unwrap();
    let events = [&[started()], &events[..]].concat();
    let events = compact_events(events.iter().map(read).collect());
    let bytes = events.iter().map(|event| event.json.as_str().len());
    assert!(bytes.max() <= Some(EVENT_BYTES_MAX));
}

#[test]
fn metadata_counts_for_the_length_of_merged_text() {
    let with_metadata = |key: &str| {
        let mut event = text(1);
        event["metadata"] = json!({ key: "x".repeat(6 * MIB) });
        event
    };
    let start = json!({"type": "TEXT_MESSAGE_START", "messageId": "m"});
    stay(&[start, with_metadata("a"), with_metadata("b")]);
}

#[test]
fn operations_are_strung_together_up_to_the_length_of_one_event() {
    let delta = |mib: usize| {
        let value = "x".repeat(mib * MIB / 10);
        let add = json!({"op": "add", "path": "/a", "value": value});
        json!({"type": "STATE_DELTA", "delta": vec![add; 10]})
    };
    stay(&[delta(6), delta(6)]);
    assert_eq!(compacted(&[delta(4), delta(4), delta(4)]).len(), 2);
}

#[test]
fn states_with_much_metadata_stay_apart() {
    let snapshot = |key: &str| {
        let metadata = json!({ key: "x".repeat(STATE_SNAPSHOT_BYTES_MAX * 2 / 3) });
        json!({"type": "STATE_SNAPSHOT", "snapshot": {}, "metadata": metadata})
    };
    stay(&[snapshot("a"), snapshot("b")]);
}

#[test]
fn activities_with_much_metadata_stay_apart() {
    let snapshot = |key: &str| {
        let metadata = json!({ key: "x".repeat(6 * MIB) });
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "m", "activityType": "P", "content": {},
            "metadata": metadata})
    };
    stay(&[snapshot("a"), snapshot("b")]);
}

/// The states or the activities that `document` and `patches` are.
fn both(document: &Value, patches: &[Value]) -> [Vec<Value>; 2] {
    let state = json!({"type": "STATE_SNAPSHOT", "snapshot": document});
    let states = patches
        .iter()
        .map(|patch| json!({"type": "STATE_DELTA", "delta": patch}));
    let activity = json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "m", "activityType": "P",
        "content": document});
    let activities = patches.iter().map(|patch| {
        json!({"type": "ACTIVITY_DELTA", "messageId": "m", "activityType": "P", "patch": patch})
    });
    [
        std::iter::once(state).chain(states).collect(),
        std::iter::once(activity).chain(activities).collect(),
    ]
}

fn copy(from: &str, path: &str) -> Value {
    json!([{"op": "copy", "from": from, "path": path}])
}

/// It would have become short again, but nothing says so in time.
#[test]
fn a_document_is_not_followed_once_it_is_longer_than_all_its_changes() {
    let doubling = (0..12).map(|at| copy(&format!("/{at}"), &format!("/{}", at + 1)));
    let mut patches = vec![json!([{"op": "add", "path": "/0", "value": "x".repeat(500)}])];
    patches.extend(doubling);
    patches.push(json!([{"op": "replace", "path": "", "value": {}}]));
    for events in both(&json!({}), &patches) {
        stay(&events);
    }
}

#[test]
fn patches_that_walk_far_more_than_their_text_are_not_followed() {
    let large = json!({"large": "x".repeat(50_000), "list": vec![0; 20_000]});
    let element = json!([{"op": "move", "from": "/list/0", "path": "/list/1"}]);
    let deeper = json!([
        {"op": "add", "path": "/deep", "value": {}},
        {"op": "move", "from": "/large", "path": "/deep/er"},
        {"op": "move", "from": "/deep/er", "path": "/large"},
    ]);
    for patch in [copy("/large", "/large"), element, deeper] {
        for events in both(&large, &vec![patch.clone(); 200]) {
            assert!(followed(&events).len() > 1, "{patch} is followed");
        }
        for events in both(&large, &vec![patch.clone(); 5]) {
            assert_eq!(followed(&events).len(), 1, "{patch} is not followed");
        }
    }
}

#[test]
fn snapshots_are_merged_even_if_what_follows_is_not_followed() {
    let large = json!({"large": "x".repeat(1000)});
    let patches = [
        copy("/large", "/a"),
        copy("/large", "/b"),
        copy("/large", "/c"),
    ];
    for events in both(&large, &patches) {
        let events = [&[events[0].clone()], &events[..]].concat();
        let kept: Vec<_> = events[1..].iter().map(RawJson::from_value).collect();
        let compacted = followed(&events);
        assert_eq!(compacted.len(), kept.len());
        assert_eq!(compacted[1..], kept[1..]);
    }
}
