//! Where a log is cut.

use proptest::prelude::*;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::log;
use threadcast_run_registry::retention::{Extent, Retention, Span};
use threadcast_thread_log::entry::{Entry, Millis};
use threadcast_thread_log::position::Seq;

use crate::world::{World, asks, error, finished, interrupt, resume, run, started, thread};

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
    world.play("r3", &[started("r3"), error("broke")]);
    assert_eq!(
        through(&world),
        Some(seq(first_of_r1 - 1)),
        "the answer may go out again"
    );
    world.accepts("ann", &run("r4", ""), "r4");
    world.play("r4", &[started("r4"), finished("r4")]);
    assert_eq!(
        through(&world),
        Some(seq(first_of_r1 - 1)),
        "it may go out again behind another run, too"
    );
    world.accepts("ann", &resume("r2", "r5", "i:true"), "r5");
    world.play("r5", &[started("r5"), finished("r5")]);
    assert_eq!(
        through(&world),
        Some(seq(first_of_r1 - 1)),
        "r5 may still fail late"
    );
    world.accepts("ann", &run("r6", ""), "r6");
    world.play("r6", &[started("r6"), finished("r6")]);
    let accepted = world.fold.registry().runs().last().unwrap().accepted.get();
    assert_eq!(
        through(&world),
        Some(seq(accepted - 1)),
        "nobody can answer any more"
    );
}

/// Goal: what is accepted between the look and the trim needs nothing that the look let go. Method:
/// every run that goes on from another one is held against every cut that was allowed before it.
#[test]
fn no_later_run_carries_on_what_an_earlier_cut_dropped() {
    let late = |world: &mut World, run: &str, fails: bool| {
        let mut owner = world.play(run, &[started(run), finished(run)]);
        if fails {
            world.feed(&mut owner, &[error("late")]);
        }
    };
    for (fails, runs_between) in [(false, 1), (true, 0), (true, 2)] {
        let mut world = World::new();
        world.accepts("ann", &run("r1", ""), "r1");
        world.play("r1", &[started("r1"), asks("r1", &[&interrupt("i")])]);
        world.accepts("ann", &resume("r1", "r2", "i:true"), "r2");
        late(&mut world, "r2", fails);
        for at in 0..runs_between {
            let id = format!("n{at}");
            world.accepts("ann", &run(&id, ""), &id);
            late(&mut world, &id, false);
        }
        let again = world.command("ann", &resume("r1", "r3", "i:true")).unwrap();
        assert_eq!(again.duplicate, !fails, "whether it goes out again");
        let needing = carried_on(&world.log.entries);
        assert_eq!(needing, 1 + usize::from(fails), "{fails} {runs_between}");
    }
}

/// How many runs of a log carry on another one; each of them is looked at.
fn carried_on(log: &[Entry]) -> usize {
    let (whole, mut fold) = (folded(log), Fold::new(thread()));
    let runs = whole.registry().runs();
    for entry in log {
        fold.apply(entry);
        if fold.registry().active().is_some() {
            continue;
        }
        let cut = Extent::of(&fold, seq(1)).trim_through(&entries(0), Millis(0));
        let later = runs.iter().filter(|run| run.accepted > entry.seq);
        for run in later {
            let kept = run.inherits.is_none_or(|needed| Some(needed) > cut);
            let (id, at) = (&run.id, entry.seq);
            assert!(kept, "`{id}` needs {:?}, cut {cut:?} at {at}", run.inherits);
        }
    }
    runs.iter().filter(|run| run.inherits.is_some()).count()
}

/// What [`Extent::trim_through`] says, span by span and as slowly as it reads.
fn through_naively(extent: &Extent, retention: &Retention, now: Millis) -> Option<Seq> {
    let spans = &extent.spans;
    let is_allowed = |cut: &usize| {
        let has_ended = spans[..*cut].iter().all(|span| span.ended_at.is_some());
        has_ended
            && extent
                .needed_from
                .is_none_or(|from| spans[*cut].first <= from)
    };
    let cuts: Vec<usize> = (1..spans.len()).filter(is_allowed).collect();
    let through = |cut: usize| spans[cut].first.get() - 1;
    let entries_left = |cut: usize| extent.head.get() + 1 - spans[cut].first.get();
    let bytes_left = |cut: usize| spans[cut..].iter().map(|span| span.bytes).sum::<u64>();
    let within = |max: Option<u64>, left: &dyn Fn(usize) -> u64| {
        let max = max.filter(|max| !spans.is_empty() && left(0) > *max)?;
        let enough = cuts.iter().find(|cut| left(**cut) <= max);
        enough.or_else(|| cuts.last()).copied()
    };
    let by_age = retention.age_ms.and_then(|age_ms| {
        let is_old = |span: &Span| span.ended_at.is_some_and(|at| at.0 + age_ms <= now.0);
        let old = |cut: &&usize| spans[..**cut].iter().all(is_old);
        cuts.iter().rev().find(old).copied()
    });
    let cut = by_age
        .max(within(retention.entries, &entries_left))
        .max(within(retention.bytes, &bytes_left))?;
    Some(seq(through(cut)))
}

fn extents() -> impl Strategy<Value = Extent> {
    let span = (
        1_u64..6,
        proptest::option::weighted(0.9, 0_u64..40),
        0_u64..9,
    );
    let spans = proptest::collection::vec(span, 0..24);
    (spans, proptest::option::of(0_u64..90)).prop_map(|(spans, needed)| {
        let mut next = 1;
        let spans = spans.into_iter().map(|(entries, ended, bytes)| {
            let first = seq(next);
            next += entries;
            let ended_at = ended.map(Millis);
            Span {
                first,
                ended_at,
                bytes,
            }
        });
        let spans = spans.collect();
        Extent {
            spans,
            head: seq(next - 1),
            needed_from: needed.map(seq),
        }
    })
}

/// Goal: a thread with a million runs is judged in one walk. Method: walked once a run it would not
/// end within hours.
#[test]
fn a_million_runs_are_judged_at_once() {
    let log = even(1_000_000);
    let half = Retention {
        bytes: Some(50_000_000),
        ..entries(5_000_000)
    };
    assert_eq!(log.trim_through(&half, Millis(0)), Some(seq(5_000_000)));
}

fn folded(log: &[Entry]) -> Fold {
    let mut fold = Fold::new(thread());
    log.iter().for_each(|entry| fold.apply(entry));
    fold
}

proptest! {
    #[test]
    fn the_cut_is_the_one_that_every_span_looked_at_by_itself_gives(
        extent in extents(), age_ms in proptest::option::of(0_u64..40),
        entries in proptest::option::of(0_u64..90), bytes in proptest::option::of(0_u64..90),
    ) {
        let retention = Retention { age_ms, entries, bytes };
        let found = extent.trim_through(&retention, Millis(40));
        prop_assert_eq!(found, through_naively(&extent, &retention, Millis(40)));
    }

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
