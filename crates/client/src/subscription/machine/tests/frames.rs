//! Single frames: what each is to a subscription, and what one that does not fit leads to.

use super::*;

fn following(seqs: u64) -> World {
    let mut world = World::new(Start::Log);
    world.subscribe();
    for tag in 0..seqs {
        world.act(&Act::Append {
            tag: u16::try_from(tag).unwrap(),
            is_fact: false,
        });
    }
    while world.hub.sent < seqs || !world.hub.line.is_empty() {
        world.deliver();
    }
    world
}

#[track_caller]
fn step(world: &mut World, text: &str) -> Step {
    world.machine.frame(HubFrame::read(text).unwrap())
}

#[test]
fn a_gap_asks_again_from_the_position_and_keeps_it() {
    let mut world = following(2);
    let gap = r#"{"op":"event","threadId":"th","seq":4,"at":1,"event":{}}"#;
    let Step::Resubscribe { reason } = step(&mut world, gap) else {
        panic!("a gap was taken")
    };
    assert_eq!(reason, "entries 4 to 4 came where 3 was due");
    let start = world.machine.ask(RequestId::Number(9));
    assert_eq!(
        start,
        SubscribeStart::LogAfter(Position {
            epoch: Epoch::new("e0"),
            seq: seq(2)
        })
    );
    // What precedes the new `subscribed` belongs to the old subscription.
    assert!(matches!(step(&mut world, gap), Step::Ignored));
}

#[test]
fn a_range_that_overlaps_is_not_taken() {
    let mut world = following(2);
    let overlap = r#"{"op":"events","threadId":"th","from":2,"seq":3,"events":[]}"#;
    assert!(matches!(
        step(&mut world, overlap),
        Step::Resubscribe { .. }
    ));
}

/// Until there is room for a new question, the rest of a broken order is no further fault.
#[test]
fn one_gap_counts_once_whatever_comes_behind_it() {
    let mut world = following(2);
    let gap = r#"{"op":"event","threadId":"th","seq":4,"at":1,"event":{}}"#;
    assert!(matches!(step(&mut world, gap), Step::Resubscribe { .. }));
    for _ in 0..10 {
        assert!(matches!(step(&mut world, gap), Step::Ignored));
    }
}

#[test]
fn a_hub_that_keeps_breaking_the_order_loses_the_connection() {
    let mut world = following(2);
    let gap = r#"{"op":"event","threadId":"th","seq":4,"at":1,"event":{}}"#;
    let steps: Vec<Step> = (0..4)
        .map(|_| {
            world.subscribe();
            world.deliver();
            step(&mut world, gap)
        })
        .collect();
    let [
        Step::Resubscribe { .. },
        Step::Resubscribe { .. },
        Step::Resubscribe { .. },
        Step::Broken(error),
    ] = &steps[..]
    else {
        panic!("{steps:?}")
    };
    assert_eq!(error.code(), "protocol");
}

#[test]
fn the_end_of_a_subscription_carries_the_hubs_code() {
    let mut world = following(1);
    let text =
        r#"{"op":"unsubscribed","threadId":"th","code":"forbidden","message":"`read` is gone"}"#;
    let Step::Ended(error) = step(&mut world, text) else {
        panic!("not ended")
    };
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("forbidden", "`read` is gone")
    );
}

#[test]
fn an_end_that_may_pass_keeps_the_position_to_ask_again_from() {
    for code in ["unavailable", "overloaded", "thread_busy"] {
        let mut world = following(2);
        let text = format!(
            r#"{{"op":"unsubscribed","threadId":"th","code":"{code}","message":"the log cannot be read"}}"#
        );
        let Step::Retry(error) = step(&mut world, &text) else {
            panic!("`{code}` ended it for good")
        };
        assert_eq!((error.code(), error.is_retryable()), (code, true));
        assert!(world.machine.is_offline());
        let start = world.machine.ask(RequestId::Number(9));
        assert_eq!(start, SubscribeStart::LogAfter(world.hub.head()));
    }
}

#[test]
fn the_end_of_an_older_subscription_does_not_end_the_new_one() {
    let mut world = following(2);
    world.machine.ask(RequestId::Number(9));
    let text = r#"{"op":"unsubscribed","threadId":"th","code":"internal","message":"no"}"#;
    assert!(matches!(step(&mut world, text), Step::Ignored));
    assert!(world.machine.is_asked_by(&RequestId::Number(9)));
}

#[test]
fn tail_begins_at_the_head_it_was_told() {
    let mut world = World::new(Start::Tail);
    world.hub.append(7, false);
    world.subscribe();
    world.deliver();
    assert_eq!(world.machine.position(), Some(&world.hub.head()));
    assert!(world.hub.line.is_empty(), "nothing of the past was sent");
}

#[test]
fn an_empty_thread_needs_no_baseline() {
    let mut world = World::new(Start::Snapshot);
    world.subscribe();
    world.deliver();
    world.act(&Act::Append {
        tag: 5,
        is_fact: true,
    });
    world.settle();
    assert_eq!(world.reader.held, [5]);
    assert_eq!(world.machine.position(), Some(&world.hub.head()));
}

#[test]
fn an_entry_that_comes_again_is_passed_over() {
    let mut world = following(2);
    let again = r#"{"op":"event","threadId":"th","seq":2,"at":1,"event":{}}"#;
    let range = r#"{"op":"events","threadId":"th","from":1,"seq":2,"events":[]}"#;
    assert!(matches!(step(&mut world, again), Step::Ignored));
    assert!(matches!(step(&mut world, range), Step::Ignored));
}

#[test]
fn an_epoch_that_denies_held_entries_is_not_believed() {
    let mut world = following(2);
    let earlier = r#"{"op":"epoch","threadId":"th","epoch":"f","seq":1}"#;
    assert!(matches!(
        step(&mut world, earlier),
        Step::Resubscribe { .. }
    ));
    // The hub is to judge the position by the epoch it was held under.
    assert_eq!(world.machine.position().unwrap().epoch, Epoch::new("e0"));
}

#[test]
fn an_answer_to_an_older_request_begins_nothing() {
    let mut world = following(2);
    world.machine.ask(RequestId::Number(8));
    world.machine.ask(RequestId::Number(9));
    let subscribed = |id: i64| {
        format!(
            r#"{{"op":"subscribed","id":{id},"threadId":"th","epoch":"e0","seq":2,"mode":"resumed"}}"#
        )
    };
    assert!(matches!(step(&mut world, &subscribed(8)), Step::Ignored));
    assert!(matches!(step(&mut world, &subscribed(9)), Step::Update(_)));
}

#[test]
fn parts_of_a_frame_that_is_too_long_end_the_subscription() {
    let mut world = following(2);
    let text = "x".repeat(JOINED_BYTES / 2 + 1);
    let part = |n: u64| format!(r#"{{"op":"part","threadId":"th","n":{n},"text":"{text}"}}"#);
    assert!(matches!(step(&mut world, &part(1)), Step::Ignored));
    let Step::TooLarge(error) = step(&mut world, &part(2)) else {
        panic!("more was held than may be")
    };
    assert_eq!((error.code(), error.is_retryable()), ("too_large", false));
    assert!(world.machine.is_offline());
    assert!(matches!(step(&mut world, &part(3)), Step::Ignored));
}

#[test]
fn only_who_began_with_the_log_asks_for_every_entry_again() {
    for (start, is_log) in [
        (Start::Log, true),
        (Start::LogAfter(Position::default()), true),
        (Start::After(Position::default()), false),
        (Start::Tail, false),
    ] {
        let mut world = World::new(start);
        world.hub.append(1, false);
        world.settle();
        let position = world.hub.head();
        let expected = if is_log {
            SubscribeStart::LogAfter(position)
        } else {
            SubscribeStart::Position(position)
        };
        assert_eq!(world.machine.ask(RequestId::Number(99)), expected);
    }
}
