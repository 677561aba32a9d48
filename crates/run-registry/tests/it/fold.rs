//! A fold takes whatever stands in a log.

use std::sync::Arc;

use proptest::prelude::*;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_thread_log::position::Seq;

use crate::world::thread;

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1e999".to_owned()),
        Just(r#""\ud800""#.to_owned()),
        Just(r#""r1""#.to_owned()),
        Just(r#""t""#.to_owned()),
        Just("[]".to_owned()),
        Just(r#"{"id":"ann"}"#.to_owned()),
        Just(r#"[{"op":"replace","path":"","value":1}]"#.to_owned()),
        any::<i32>().prop_map(|number| number.to_string()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|list| format!("[{}]", list.join(","))),
            inner.prop_map(|value| format!(r#"{{"of":{value},"entries":{value}}}"#)),
        ]
    })
}

const TYPES: [&str; 14] = [
    "run.accepted",
    "run.dispatched",
    "run.cancel_requested",
    "run.trailing",
    "interrupt.resolved",
    "interrupt.reopened",
    "state.patched",
    "state.diverged",
    "claim.taken",
    "RUN_STARTED",
    "RUN_FINISHED",
    "RUN_ERROR",
    "STATE_SNAPSHOT",
    "FROM_THE_FUTURE",
];

const MEMBERS: [&str; 12] = [
    "by",
    "runId",
    "agent",
    "messages",
    "resume",
    "of",
    "interruptId",
    "interruptIds",
    "status",
    "patch",
    "threadId",
    "outcome",
];

fn any_entry() -> impl Strategy<Value = (String, Option<String>, bool)> {
    let members = prop::collection::btree_map(prop::sample::select(&MEMBERS[..]), any_json(), 0..8);
    let private = prop::option::of(any_json().prop_map(|json| {
        format!(
            r#"{{"attempt":"a","fingerprint":"00000000000000000000000000000000","content":{json}}}"#
        )
    }));
    (
        prop::sample::select(&TYPES[..]),
        members,
        private,
        any::<bool>(),
    )
        .prop_map(|(fact_type, members, private, is_event)| {
            let members: String = members
                .iter()
                .map(|(name, json)| format!(",\"{name}\":{json}"))
                .collect();
            (
                format!("{{\"type\":\"{fact_type}\"{members}}}"),
                private,
                is_event,
            )
        })
}

proptest! {
    #[test]
    fn no_stored_entry_makes_a_fold_fail(entries in prop::collection::vec(any_entry(), 1..20)) {
        let mut fold = Fold::new(thread());
        for (json, private, is_event) in entries {
            let json = RawJson::parse(&json).unwrap();
            let body = if is_event {
                Body::Event { json, from_chunk: false }
            } else {
                Body::Fact { public: json, private: private.map(|json| RawJson::parse(&json).unwrap()) }
            };
            let record = Record { at: Millis(1), run: Some("r1".parse().unwrap()), origin: Origin::Agent, body };
            let seq = fold.head().next();
            fold.apply(&Entry { seq, class: Class::NONE, record: Arc::new(record) });
            prop_assert_eq!(fold.head(), seq);
        }
        prop_assert_eq!(fold.versions().control, Seq::ZERO);
    }
}
