//! Generated streams reach what they are meant to test.

use std::collections::{BTreeMap, BTreeSet};

use threadcast_run_registry::histories::{broken_stream, stream};
use threadcast_run_registry::stream_judge::StreamJudge;

use crate::support::fixtures;

fn judged(events: &[String]) -> StreamJudge {
    let mut judge = StreamJudge::new();
    for event in events {
        if judge.take(event).is_err() {
            break;
        }
    }
    judge
}

#[test]
fn legal_streams_are_legal_and_hold_every_type_of_event() {
    let mut types = BTreeSet::new();
    for seed in 0..120 {
        let events = stream(seed);
        let judge = judged(&events);
        assert_eq!(judge.broken(), None, "seed {seed}");
        // Halves of characters are no value, the type is.
        let names = events.iter().filter_map(|event| {
            let (_, named) = event.split_once(r#""type":""#)?;
            named.split('"').next().map(str::to_owned)
        });
        types.extend(names);
    }
    let known = fixtures::files("events", ".json");
    let known = known
        .iter()
        .map(|path| path.file_stem().and_then(|name| name.to_str()).unwrap());
    let beside = ["SOMETHING_NEWER", "THINKING_TEXT_MESSAGE_CONTENT"];
    let missing: Vec<_> = known
        .chain(beside)
        .filter(|name| !types.contains(*name))
        .collect();
    assert!(missing.is_empty(), "{missing:?} of {types:?}");
}

/// Which of all rules are broken is counted where there are many more streams.
#[test]
fn broken_streams_break_most_rules() {
    let mut rules = BTreeMap::<&str, usize>::new();
    for seed in 0..200 {
        let judge = judged(&broken_stream(seed));
        if let Some(broken) = judge.broken() {
            *rules.entry(broken.rule.as_str()).or_default() += 1;
        }
    }
    let broken: usize = rules.values().sum();
    assert!(broken > 80 && rules.len() > 15, "{broken}: {rules:?}");
}
