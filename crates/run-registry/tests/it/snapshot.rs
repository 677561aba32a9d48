//! A client that joins by a snapshot ends like one that was there from the start.

use std::collections::BTreeSet;

use threadcast_agui::event::Event;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::snapshot::snapshot;

use crate::support::histories::{history, type_names};
use crate::support::{events, expected, fixtures, fold, messages};

/// Histories tried by the property, each at every cut.
const HISTORIES: u64 = 1_500;

fn assert_same(joined: &Conversation, lived: &Conversation, whose: impl Fn() -> String) {
    assert!(
        joined.messages().eq(lived.messages()),
        "{}\n{}\n{}",
        whose(),
        messages(joined),
        messages(lived)
    );
    assert_eq!(joined.state(), lived.state(), "{}", whose());
    assert_eq!(
        joined.pending_interrupts(),
        lived.pending_interrupts(),
        "{}",
        whose()
    );
    assert_eq!(
        joined.pending_tool_calls(),
        lived.pending_tool_calls(),
        "{}",
        whose()
    );
}

fn lines<'a>(events: impl Iterator<Item = &'a Event>) -> String {
    events.map(|event| format!("{}\n", event.json)).collect()
}

/// Folds events that must all be legal.
fn follow(conversation: &mut Conversation, events: &[Event], whose: impl Fn() -> String) {
    for event in events {
        if let Err(violation) = conversation
            .verifier()
            .judge(event, &expected(event, conversation))
        {
            panic!("{} breaks {violation}\n{}", event.json, whose());
        }
        conversation.apply(event);
    }
}

/// For every cut: snapshot of what came before, then what came after.
fn check_every_cut(events: &[Event], name: &str) {
    let lived = fold(events);
    let mut before = Conversation::new();
    for cut in 0..=events.len() {
        let joined_at = snapshot(&before);
        let whose = |part: &str| {
            let all = lines(events.iter());
            format!(
                "{part} of {name} at cut {cut}:\n{all}-- joined by --\n{}",
                lines(joined_at.iter())
            )
        };
        let mut joined = Conversation::new();
        follow(&mut joined, &joined_at, || whose("snapshot"));
        assert_same(&joined, &before, || whose("snapshot"));
        follow(&mut joined, &events[cut..], || whose("rest"));
        assert_same(&joined, &lived, || whose("rest"));
        if let Some(event) = events.get(cut) {
            before.apply(event);
        }
    }
}

fn check_histories(remainder: u64) {
    for seed in (0..HISTORIES).filter(|seed| seed % 3 == remainder) {
        check_every_cut(&history(seed), &format!("history {seed}"));
    }
}

// Three tests, to run side by side: who items belong to follows from the seed.

#[test]
fn joining_at_any_cut_ends_equal_with_fixed_owners() {
    check_histories(1);
}

#[test]
fn joining_at_any_cut_ends_equal_with_moving_owners() {
    check_histories(0);
}

#[test]
fn joining_at_any_cut_ends_equal_without_subagents() {
    check_histories(2);
}

#[test]
fn histories_cover_every_type_of_a_log() {
    let types: BTreeSet<String> = (0..200)
        .flat_map(|seed| type_names(&history(seed)).collect::<Vec<_>>())
        .collect();
    // All 31 but the three chunks, which no log holds, and one unknown.
    assert_eq!(types.len(), 29, "{types:?}");
}

#[test]
fn joining_at_any_cut_of_a_golden_history_ends_equal() {
    for path in fixtures::files("histories", ".jsonl") {
        check_every_cut(&events(&fixtures::read(&path)), &path.display().to_string());
    }
}
