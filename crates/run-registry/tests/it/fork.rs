//! A fork begins with what its thread held at some entry, and with nothing that is open there.

use serde_json::json;
use threadcast_agui::event::Event;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::decide::Refusal;
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::fork::{ForkError, fork};
use threadcast_run_registry::histories::{Random, log};
use threadcast_run_registry::stream_judge::StreamJudge;
use threadcast_run_registry::thread_record::StoredRecord;
use threadcast_thread_log::engine::{Append, Outcome, RefusedReason};
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_thread_log::position::Epoch;

use crate::world::{Log, World, principal, run, started, thread};

/// Generated logs that are forked at some of their entries.
const LOGS: u64 = 120;

fn forked(fold: &Fold) -> Append {
    let (by, to) = (principal("ann"), thread());
    fork(fold, &to, &by, Millis(7), fold.position()).unwrap()
}

fn events(log: &Log) -> Vec<Event> {
    let json = |entry: &Entry| match &entry.record.body {
        Body::Event { json, .. } => Some(json.clone()),
        Body::Fact { .. } => None,
    };
    let json = log.entries.iter().filter_map(json);
    // Read as if it came from elsewhere: the depth is checked, too.
    json.map(|json| Event::read(json.as_str()).unwrap())
        .collect()
}

fn fold_of(entries: &[Entry]) -> Fold {
    let mut fold = Fold::new("parent".parse().unwrap());
    fold.enter_epoch(Epoch::new("log.one"));
    entries.iter().for_each(|entry| fold.apply(entry));
    fold
}

fn check(parent: &Fold, whose: &str) {
    let append = forked(parent);
    let mut world = World::new();
    assert!(world.append(&append), "{whose}");
    let (fork, held) = (&world.fold, parent.conversation());
    assert!(
        fork.conversation().messages().eq(held.messages()),
        "{whose}"
    );
    assert_eq!(fork.conversation().state(), held.state(), "{whose}");
    assert!(
        fork.conversation().pending_tool_calls().is_empty(),
        "{whose}"
    );
    assert!(
        fork.conversation().pending_interrupts().is_empty(),
        "{whose}"
    );
    assert!(
        fork.conversation().verifier().active_run().is_none(),
        "{whose}"
    );
    assert!(fork.lanes().is_empty(), "{whose}");
    assert!(fork.registry().runs().is_empty(), "{whose}");
    assert!(!fork.registry().interrupts().has_open(), "{whose}");
    assert!(world.log.meta.holder.is_none(), "{whose}");
    let record = world.log.meta.record.as_ref().unwrap();
    let record = StoredRecord::from_bytes(record).unwrap();
    assert_eq!(record, StoredRecord::of(fork), "{whose}");

    let mut judge = StreamJudge::new();
    for event in events(&world.log) {
        judge
            .take_logged(event)
            .unwrap_or_else(|broken| panic!("{whose}: {broken}"));
    }
    assert_eq!(judge.finish(), None, "{whose}");

    world.accepts("bob", &run("next", ""), "next");
    let lines = [started("next"), crate::world::finished("next")];
    assert!(world.play("next", &lines).has_ended(), "{whose}");
    assert!(
        world.fold.conversation().messages().eq(held.messages()),
        "{whose}"
    );
}

#[test]
fn a_fork_holds_what_its_thread_held_and_nothing_pending() {
    for seed in 0..LOGS {
        let entries = log(seed);
        let mut random = Random::new(seed);
        for cut in [
            random.below(entries.len()),
            random.below(entries.len()),
            entries.len(),
        ] {
            check(
                &fold_of(&entries[..cut]),
                &format!("log {seed} forked at {cut}"),
            );
        }
    }
}

#[test]
fn it_says_where_it_comes_from() {
    let parent = fold_of(&log(3)[..9]);
    let mut world = World::new();
    assert!(world.append(&forked(&parent)));
    let [Fact::ThreadForked(fact)] = &world.log.facts()[..] else {
        panic!("{:?}", world.log.facts());
    };
    assert_eq!(fact.by, principal("ann"));
    assert_eq!(fact.from.thread_id, "parent".parse::<ThreadId>().unwrap());
    assert_eq!(
        (&fact.from.epoch, fact.from.seq),
        (&Epoch::new("log.one"), parent.head())
    );
    let types = [
        "thread.forked",
        "RUN_STARTED",
        "MESSAGES_SNAPSHOT",
        "STATE_SNAPSHOT",
        "RUN_FINISHED",
    ];
    assert_eq!(world.log.types(), types);
}

#[test]
fn a_thread_that_has_a_log_becomes_no_fork() {
    let append = forked(&fold_of(&log(1)));
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let before = world.log.entries.len();
    match world.log.append(&append) {
        Outcome::Refused(refused) => assert_eq!(refused.reason, RefusedReason::Conflict),
        Outcome::Appended(appended) => panic!("{appended:?}"),
    }
    assert_eq!(world.log.entries.len(), before);
    let mut twice = World::new();
    assert!(twice.append(&append) && !twice.append(&append));
}

#[test]
fn the_id_of_its_made_up_run_is_taken() {
    let mut world = World::new();
    assert!(world.append(&forked(&fold_of(&log(1)))));
    let made_up = "threadcast:fork".parse().unwrap();
    let refusal = Refusal::RunConflict { run: made_up };
    assert_eq!(
        world.command("ann", &run("threadcast:fork", "")),
        Err(refusal)
    );
}

/// The fold of a thread that holds messages of `mib` MiB.
fn long(mib: usize) -> Fold {
    let half = "x".repeat(mib << 19);
    let lines = [
        started("r1"),
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#.to_owned(),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": half}).to_string(),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": half}).to_string(),
    ];
    let mut fold = fold_of(&[]);
    for line in lines {
        let body = Body::Event {
            json: RawJson::from_trusted(line),
            from_chunk: false,
        };
        let record = Record {
            at: Millis(1),
            run: Some("r1".parse().unwrap()),
            origin: Origin::Agent,
            body,
        };
        fold.apply(&Entry {
            seq: fold.head().next(),
            class: Class::NONE,
            record: record.into(),
        });
    }
    fold
}

#[test]
fn what_one_event_cannot_hold_is_no_fork() {
    let of = |fold: &Fold| {
        fork(
            fold,
            &thread(),
            &principal("ann"),
            Millis(0),
            fold.position(),
        )
    };
    assert!(of(&long(9)).is_ok());
    match of(&long(11)) {
        Err(ForkError::TooLarge {
            what: "the messages",
            found,
            max,
        }) => assert!(found > 11 << 20 && max == 10 << 20, "{found} {max}"),
        other => panic!("{other:?}"),
    }
}
