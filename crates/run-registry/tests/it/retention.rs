//! Where a log is cut.

use proptest::prelude::*;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::log;
use threadcast_run_registry::retention::{Extent, Retention, Span};
use threadcast_thread_log::entry::{Entry, Millis};
use threadcast_thread_log::position::Seq;

use crate::world::{World, asks, finished, interrupt, resume, run, started, thread};

fn seq(seq: u64) -> Seq {
    Seq::new(seq).unwrap()
}

fn entries(max: u64) -> Retention {
    Retention {
        entries: Some(max),
        ..Retention::default()
    }
}

fn bytes(max: u64) -> Retention {
    Retention {
        bytes: Some(max),
        ..Retention::default()
    }
}

fn age(age_ms: u64) -> Retention {
    Retention {
        age_ms: Some(age_ms),
        ..Retention::default()
    }
}

/// Runs of ten entries and a hundred bytes, which end at 10, 20, …; the last is active.
fn even(count: u64) -> Extent {
    let span = |at: u64| Span {
        first: seq(1 + 10 * at),
        ended_at: (at + 1 < count).then_some(Millis(10 * (at + 1))),
        bytes: 100,
    };
    Extent {
        spans: (0..count).map(span).collect(),
        head: seq(10 * count),
        needed_from: None,
    }
}

#[test]
fn as_little_goes_as_the_bounds_ask_for() {
    let log = even(5);
    let now = Millis(100);
    let through = |retention: Retention| log.trim_through(&retention, now).map(Seq::get);
    assert_eq!(through(Retention::default()), None);
    assert_eq!(through(entries(50)), None);
    assert_eq!(through(entries(49)), Some(10));
    assert_eq!(through(entries(40)), Some(10));
    assert_eq!(through(entries(10)), Some(40));
    assert_eq!(through(entries(0)), Some(40), "the latest run stays");
    assert_eq!(through(bytes(500)), None);
    assert_eq!(through(bytes(499)), Some(10));
    assert_eq!(through(bytes(250)), Some(30));
    assert_eq!(through(age(91)), None);
    assert_eq!(through(age(90)), Some(10));
    assert_eq!(through(age(65)), Some(30));
    assert_eq!(through(age(0)), Some(40));
    let both = Retention {
        entries: Some(45),
        ..age(75)
    };
    assert_eq!(through(both), Some(20), "whichever asks for more");
}

#[test]
fn what_is_needed_stays() {
    let mut log = even(5);
    log.needed_from = Some(seq(25));
    assert_eq!(log.trim_through(&entries(0), Millis(0)), Some(seq(20)));
    log.needed_from = Some(seq(10));
    assert_eq!(log.trim_through(&entries(0), Millis(0)), None);
}

/// An interrupted run that carries on the tools and context of the one before it.
#[test]
fn a_run_that_is_asked_about_stays_with_the_one_it_carries_on() {
    let mut world = World::new();
    for (id, lines) in [
        ("r0", vec![started("r0"), finished("r0")]),
        ("r1", vec![started("r1"), asks("r1", &[&interrupt("i")])]),
    ] {
        world.accepts("ann", &run(id, ""), id);
        world.play(id, &lines);
    }
    let first_of_r1 = 5;
    let through =
        |world: &World| Extent::of(&world.fold, seq(1)).trim_through(&entries(0), Millis(0));
    assert_eq!(through(&world), Some(seq(first_of_r1 - 1)));
    world.accepts("ann", &resume("r1", "r2", "i:true"), "r2");
    world.play("r2", &[started("r2"), asks("r2", &[&interrupt("i")])]);
    assert_eq!(
        through(&world),
        Some(seq(first_of_r1 - 1)),
        "r2 has the tools of r1"
    );
    world.accepts("ann", &resume("r2", "r3", "i:true"), "r3");
    world.play("r3", &[started("r3"), crate::world::error("broke")]);
    assert_eq!(
        through(&world),
        Some(seq(first_of_r1 - 1)),
        "the answer may go out again"
    );
    world.accepts("ann", &run("r4", ""), "r4");
    world.play("r4", &[started("r4"), finished("r4")]);
    let accepted = world.fold.registry().runs().last().unwrap().accepted.get();
    assert_eq!(
        through(&world),
        Some(seq(accepted - 1)),
        "nothing is asked any more"
    );
}

fn folded(log: &[Entry]) -> Fold {
    let mut fold = Fold::new(thread());
    log.iter().for_each(|entry| fold.apply(entry));
    fold
}

proptest! {
    #[test]
    fn a_cut_is_in_front_of_a_run_and_never_inside_one(
        seed in 0_u64..300, max in 0_u64..60, age_ms in 0_u64..2_000, later in 0_u64..2_000,
    ) {
        let log = log(seed);
        let fold = folded(&log);
        let extent = Extent::of(&fold, seq(1));
        let retention = Retention { age_ms: Some(age_ms), ..entries(max) };
        let now = Millis(log.last().map_or(0, |entry| entry.record.at.0) + later);
        prop_assert_eq!(extent.trim_through(&Retention::default(), now), None);
        let Some(through) = extent.trim_through(&retention, now) else {
            return Ok(());
        };
        let cut = usize::try_from(through.get()).unwrap();
        let (gone, kept) = log.split_at(cut);
        let base = folded(gone);
        prop_assert!(base.registry().active().is_none());
        prop_assert!(base.conversation().verifier().active_run().is_none());
        prop_assert_ne!(&gone.last().unwrap().record.run, &kept[0].record.run);
        if fold.registry().interrupts().has_open() {
            let asked = fold.registry().interrupts().latest_run();
            prop_assert!(fold.registry().run(asked.unwrap()).unwrap().accepted > through);
        }
        // What goes next is judged alike where the log begins later.
        let rest = Extent::of(&fold, through.next());
        prop_assert_eq!(rest.spans[0].first, through.next());
        prop_assert_eq!(rest.spans.last(), extent.spans.last());
        prop_assert_eq!(rest.trim_through(&retention, now), None);
    }
}
