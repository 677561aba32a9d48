//! Appends that fail: lost replies, lost leases, lost entries.

use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::owner::Retry;
use threadcast_thread_log::engine::Outcome;

use crate::owner::{accepted, failure, text};
use crate::world::{error, finished, run_id, started};
use threadcast_run_registry::histories::Random;

#[test]
fn a_former_owner_writes_nothing_more() {
    let mut world = accepted();
    let mut owner = world.play("r1", &[started("r1")]);
    let mut other = world.owner("r1");
    other.end(&Ending::Lost, world.now);
    // Another node ended the run and freed the lease.
    let mut append = other.next_append(&world.fold, world.now).unwrap();
    append.source = None;
    append.entries.remove(0);
    assert!(world.append(&append));
    text("m").iter().chain([&finished("r1")]).for_each(|line| {
        owner.feed(line, world.now);
    });
    assert_eq!(world.flush(&mut owner), Some(Retry::Fenced));
    assert!(!owner.has_work() && !owner.has_ended());
    assert_eq!(failure(&world).0, "AGENT_LOST");
}

#[test]
fn a_log_that_lost_acknowledged_events_ends_the_run() {
    let mut world = accepted();
    let mut owner = world.owner("r1");
    let append = owner.dispatched(&world.fold, world.now);
    world.owner_append(&mut owner, &append);
    let before = (world.log.clone(), world.fold.clone());
    world.feed(&mut owner, &[started("r1"), text("m").remove(0)]);
    (world.log, world.fold) = before;
    owner.feed(&text("m")[1], world.now);
    let append = owner.next_append(&world.fold, world.now).unwrap();
    assert_eq!(
        world.owner_append(&mut owner, &append),
        Some(Retry::Diverged)
    );
    world.flush(&mut owner);
    assert_eq!(failure(&world).0, "LOG_DIVERGED");
    assert_eq!(
        world.log.types()[1..],
        ["run.dispatched", "RUN_STARTED", "RUN_ERROR"]
    );
    assert!(owner.has_ended());
}

#[test]
fn a_log_that_lost_the_dispatch_is_told_of_it_again() {
    let mut world = accepted();
    let before = (world.log.clone(), world.fold.clone());
    let mut owner = world.owner("r1");
    let append = owner.dispatched(&world.fold, world.now);
    world.owner_append(&mut owner, &append);
    (world.log, world.fold) = before;
    owner.feed(&started("r1"), world.now);
    assert_eq!(world.flush(&mut owner), None);
    assert_eq!(
        world.log.types()[1..],
        ["run.dispatched", "RUN_STARTED", "RUN_ERROR"]
    );
    let record = world.fold.registry().run(&run_id("r1")).unwrap();
    assert!(record.is_dispatched && record.in_doubt);
    assert!(owner.has_ended());
}

/// The reply of random appends is lost, after the log took them or before; the owner asks again,
/// with more to write each time. The log holds the source exactly once.
#[test]
fn an_append_of_unknown_outcome_is_never_written_twice() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut stream = vec![started("r1")];
        for at in 0..1 + random.below(8) {
            stream.extend(text(&format!("m{at}")));
            stream.push(r#"{"type":"RAW","event":1}"#.into());
            if random.one_in(2) {
                stream.push(format!(
                    r#"{{"type":"TEXT_MESSAGE_CHUNK","messageId":"c{at}","delta":"x"}}"#
                ));
            }
        }
        stream.push(if random.one_in(2) {
            finished("r1")
        } else {
            error("boom")
        });
        let mut exact = accepted();
        exact.play("r1", &stream);

        let mut world = accepted();
        let mut owner = world.owner("r1");
        let mut append = Some(owner.dispatched(&world.fold, world.now));
        let mut left = stream.iter();
        for _ in 0..10_000 {
            match append.take() {
                Some(append) if random.one_in(3) => {
                    if random.one_in(2) {
                        assert!(matches!(
                            world.log.append(&append),
                            Outcome::Appended(_) | Outcome::Refused(_)
                        ));
                    }
                    if random.one_in(2) {
                        world.log.catch_up(&mut world.fold);
                    }
                }
                Some(append) => drop(world.owner_append(&mut owner, &append)),
                None => {}
            }
            for line in left.by_ref().take(random.below(4)) {
                owner.feed(line, world.now);
            }
            append = owner.next_append(&world.fold, world.now);
            if append.is_none() && left.len() == 0 {
                break;
            }
        }
        assert!(owner.has_ended(), "seed {seed}");
        assert_eq!(world.log.events(), exact.log.events(), "seed {seed}");
        assert_eq!(world.log.types(), exact.log.types(), "seed {seed}");
    }
}
