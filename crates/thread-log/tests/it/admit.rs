//! What the shared decision keeps on every history, judged by plainer bookkeeping than its own.

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::TestCaseError;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::admit::admit;
use threadcast_thread_log::conformance::histories::{Step, histories, histories_with_reopening};
use threadcast_thread_log::conformance::model::Model;
use threadcast_thread_log::conformance::requests::{entry, node, request, take, texts, token};
use threadcast_thread_log::engine::{
    Append, Guard, Head, Outcome, RefusedReason, SourceRange, Versions,
};
use threadcast_thread_log::entry::Class;
use threadcast_thread_log::lease::{Lease, LeaseChange, SeizedSource};
use threadcast_thread_log::meta::{Incarnation, LogId, Meta};
use threadcast_thread_log::position::{Position, Seq};

fn thread() -> ThreadId {
    ThreadId::new("th_1").unwrap()
}

/// Runs a history and looks at every append: the request, where the thread stood, the answer and
/// where it stands.
fn each_append(
    steps: &[Step],
    mut look: impl FnMut(&Append, &Head, &Outcome, &Model) -> Result<(), TestCaseError>,
) -> Result<Model, TestCaseError> {
    let mut model = Model::new("0");
    for (at, step) in steps.iter().enumerate() {
        let before = model.head();
        match step {
            Step::Append(intent) => {
                let append = intent.resolve(&thread(), &before);
                let outcome = model.append(&append);
                look(&append, &before, &outcome, &model)?;
            }
            Step::Reopen => model.incarnate(&at.to_string()),
            Step::Delete { .. } | Step::SaveCheckpoint { .. } | Step::Trim { .. } => {
                model.step(step);
            }
        }
    }
    Ok(model)
}

proptest! {
    #[test]
    fn log_is_gapless_and_versions_are_the_last_of_their_class(steps in histories_with_reopening()) {
        each_append(&steps, |_, _, _, model| {
            let last_of = |is_of_class: fn(&Class) -> bool| {
                let entry = model.entries.iter().rfind(|entry| is_of_class(&entry.class));
                entry.map_or(Seq::ZERO, |entry| entry.seq)
            };
            let expected = Versions { control: last_of(|class| class.control), state: last_of(|class| class.state) };
            prop_assert_eq!(model.meta.versions, expected);
            let seqs: Vec<u64> = model.entries.iter().map(|entry| entry.seq.get()).collect();
            prop_assert_eq!(seqs, (1..=model.meta.head.get()).collect::<Vec<u64>>());
            Ok(())
        })?;
    }

    #[test]
    fn refused_append_changes_nothing(steps in histories()) {
        each_append(&steps, |_, before, outcome, model| {
            if let Outcome::Refused(refused) = outcome {
                prop_assert_eq!(before, &model.head());
                prop_assert_eq!(before, &refused.head);
            }
            Ok(())
        })?;
    }

    #[test]
    fn admitted_append_found_every_guard_standing(steps in histories()) {
        each_append(&steps, |append, before, outcome, _| {
            if let Outcome::Appended(_) = outcome {
                let holder = before.lease.as_ref().map(|lease| &lease.token);
                let guard = &append.guard;
                prop_assert!(guard.lease.is_none() || guard.lease.as_ref() == holder);
                prop_assert!(guard.control.is_none_or(|known| known == before.versions.control));
                prop_assert!(guard.state.is_none_or(|known| known == before.versions.state));
                let is_guarded = guard.control.is_some() || guard.state.is_some();
                prop_assert!(!is_guarded || before.verdict(&append.known).is_of_log());
                prop_assert!(append.may_create || !before.epochs.is_empty());
            }
            Ok(())
        })?;
    }

    #[test]
    fn lease_changes_hands_only_as_it_was_asked(steps in histories()) {
        each_append(&steps, |append, before, outcome, model| {
            let Outcome::Appended(appended) = outcome else { return Ok(()) };
            let seen = before.lease.as_ref().map(|lease| (&lease.token, lease.beat));
            let is_under = append.guard.lease.is_some();
            let expected = match &append.lease {
                LeaseChange::Keep | LeaseChange::Renew => seen,
                LeaseChange::Free => None,
                LeaseChange::Take { token, .. } => {
                    prop_assert_eq!(seen, None);
                    Some((token, 0))
                }
                LeaseChange::Seize { token, seen_token, seen_beat, .. } => {
                    prop_assert_eq!(seen, Some((seen_token, *seen_beat)));
                    Some((token, *seen_beat))
                }
            };
            let found = appended.lease.as_ref();
            prop_assert_eq!(found.map(|lease| &lease.token), expected.map(|(token, _)| token));
            if let (Some(Lease { beat, .. }), Some((_, before))) = (found, expected) {
                let is_raised = is_under || matches!(append.lease, LeaseChange::Take { .. } | LeaseChange::Seize { .. });
                prop_assert_eq!(*beat > before, is_raised);
            }
            prop_assert_eq!(&model.head().lease, &appended.lease);
            Ok(())
        })?;
    }

    #[test]
    fn source_moves_only_over_what_was_not_covered(steps in histories()) {
        each_append(&steps, |append, before, outcome, model| {
            if let Outcome::Appended(_) = outcome {
                let start = match append.lease {
                    LeaseChange::Take { .. } | LeaseChange::Seize { source: SeizedSource::Restart, .. } => 0,
                    _ => before.source,
                };
                if let Some(range) = append.source {
                    prop_assert_eq!(range.from, start);
                    prop_assert!(range.to >= range.from);
                }
                // A log that begins knows no source.
                if model.meta.head.get() > append.entries.len() as u64 {
                    prop_assert_eq!(model.meta.source, append.source.map_or(start, |range| range.to));
                }
            }
            Ok(())
        })?;
    }
}

/// A log with control at 1, state at 2, four entries, and lease `a` at source position 3.
fn owned_log() -> (Meta, Position) {
    let mut model = Model::new("0");
    let mut entries = texts(4);
    entries[0] = entry(Class::CONTROL, 1);
    entries[1] = entry(Class::STATE, 2);
    let source = Some(SourceRange { from: 0, to: 3 });
    model.append(&Append {
        may_create: true,
        entries,
        lease: take("a"),
        source,
        ..request(&thread())
    });
    (model.meta.clone(), model.position())
}

fn decide(meta: &Meta, append: &Append) -> Result<(), RefusedReason> {
    admit(meta, append, &Incarnation("0".into()), || {
        LogId("new".into())
    })
    .map(|_| ())
}

/// Engines that decide elsewhere check in the same order, so that the same request gets the same
/// reason.
#[test]
fn first_reason_is_told() {
    let (meta, known) = owned_log();
    let mut append = Append {
        guard: Guard {
            lease: Some(token("b")),
            control: Some(Seq::ZERO),
            state: None,
        },
        lease: take("c"),
        source: Some(SourceRange { from: 9, to: 10 }),
        entries: texts(1),
        ..request(&thread())
    };
    assert_eq!(
        decide(&Meta::tombstone(b"note".to_vec()), &append),
        Err(RefusedReason::Gone)
    );
    append.may_create = true;
    assert_eq!(decide(&meta, &append), Err(RefusedReason::Fenced));
    append.guard.lease = Some(token("a"));
    assert_eq!(decide(&meta, &append), Err(RefusedReason::Position));
    append.source = None;
    assert_eq!(decide(&meta, &append), Err(RefusedReason::Conflict));
    append.guard.control = Some(Seq::ZERO.next());
    assert_eq!(decide(&meta, &append), Err(RefusedReason::Held));
    append.lease = LeaseChange::Keep;
    append.known = known;
    assert_eq!(decide(&meta, &append), Ok(()));
}

#[test]
fn epoch_is_named_by_log_and_incarnation() {
    let epoch = |incarnation: &str| {
        Incarnation(incarnation.into())
            .epoch(&LogId("log".into()))
            .to_string()
    };
    assert_eq!(epoch("0123456789abcdef"), "log.0123456789");
    assert_eq!(epoch("abc"), "log.abc");
    assert_eq!(epoch("ééééééééééé"), "log.éééééééééé");
}

#[test]
fn incarnation_that_comes_back_starts_an_epoch_of_its_own() {
    let mut model = Model::new("a");
    let append = Append {
        may_create: true,
        entries: texts(2),
        ..request(&thread())
    };
    for incarnation in ["a", "b", "a"] {
        model.incarnate(incarnation);
        model.append(&append);
    }
    let epochs: Vec<(String, u64)> = model
        .meta
        .epochs
        .iter()
        .map(|(epoch, first)| (epoch.to_string(), first.get()))
        .collect();
    assert_eq!(
        epochs,
        [
            ("log0.a".into(), 1),
            ("log0.b".into(), 3),
            ("log0.a".into(), 5)
        ]
    );
}

#[test]
fn meta_is_stored_whole() {
    let (mut meta, _) = owned_log();
    meta.record = Some(vec![0, 255]);
    for meta in [meta, Meta::default(), Meta::tombstone(b"note".to_vec())] {
        let json = serde_json::to_string(&meta).unwrap();
        assert_eq!(serde_json::from_str::<Meta>(&json).unwrap(), meta);
    }
}

#[test]
fn lease_is_seized_with_the_beat_that_was_seen() {
    let (meta, _) = owned_log();
    let lease = meta.lease().unwrap();
    let seize = |seen_beat| LeaseChange::Seize {
        token: token("b"),
        node: node("n2"),
        seen_token: lease.token.clone(),
        seen_beat,
        source: SeizedSource::Continue,
    };
    let append = |seen_beat| Append {
        lease: seize(seen_beat),
        ..request(&thread())
    };
    assert_eq!(decide(&meta, &append(lease.beat)), Ok(()));
    assert_eq!(
        decide(&meta, &append(lease.beat - 1)),
        Err(RefusedReason::Held)
    );
    assert_eq!(
        decide(&meta, &append(lease.beat + 1)),
        Err(RefusedReason::Held)
    );
}
