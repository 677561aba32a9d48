//! A client that joins by a snapshot ends like one that was there from the start.

use std::collections::BTreeSet;

use threadcast_agui::event::Event;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::snapshot::{Told, snapshot, telling};

use crate::support::{events, expected, fixtures, fold, notation};
use threadcast_run_registry::histories::{history, type_names};

/// Histories tried by the property, each at every cut.
const HISTORIES: u64 = 1_200;

fn assert_same(joined: &Conversation, lived: &Conversation, whose: impl Fn() -> String) {
    assert!(joined.messages().eq(lived.messages()), "{}", whose());
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

fn written(told: &Told<'_>) -> String {
    let mut json = String::new();
    told.write(|piece| json.push_str(piece));
    json
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
        let written: Vec<String> = telling(&before).iter().map(written).collect();
        let expected = joined_at.iter().map(|event| event.json.as_str());
        assert!(expected.eq(&written), "{}", whose("written"));
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
    let types: BTreeSet<String> = (0..400)
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

/// What a client was told of an item in the open run binds it, and nothing that it was told before.
#[test]
fn a_client_that_joins_knows_the_owners_that_the_open_run_told() {
    for words in [
        "RUN:a FIN RUN:b A+x T+m@x T-m@x T+m T.m@x T-m A-x FIN",
        "RUN:a FIN RUN:b A+x T+m@x T-m@x C+c^m C.c@x C-c A-x FIN",
        "RUN:a FIN RUN:b A+x C+c@x C-c@x RES:q C+c C.c@x C-c A-x FIN",
        "RUN:a FIN RUN:b A+x G+m@x G-m@x G+m G.m@x G-m A-x FIN",
        "RUN:a FIN RUN:b A+x P+p@x P-p@x P+p P-p@x A-x FIN",
        "RUN:a FIN RUN:b A+x ACT:m@x DEL:m@x A-x FIN",
        "RUN:a T+m T-m C+c C-c FIN RUN:b A+x T+m@x T.m@x T-m C+c@x C-c@x T+c@x T-c@x A-x FIN",
        "RUN:a C+c^m C-c T+m@x T-m@x C+d^m@x C-d FIN",
        "RUN:a T+z LIST:m C+c^h T.z T+n T-n T-z C-c FIN",
        "RUN:a G+g G-g FIN RUN:b T+z@x LIST:m T.z@x T-z G+g@y G.g@y G-g FIN",
    ] {
        check_every_cut(&notation::stream(words), words);
    }
}
