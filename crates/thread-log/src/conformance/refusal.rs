//! What makes a decision lose, and what it is told then.

use super::Factory;
use super::requests::{entry, large, texts};
use super::subject::{Subject, control, seq, seqs};
use crate::engine::{
    Append, Guard, MISSED_BYTES_MAX, MISSED_MAX, Outcome, RefusedReason, Versions,
};
use crate::entry::Class;
use crate::position::{Epoch, Position};

const BOTH: Class = Class {
    control: true,
    state: true,
};

pub async fn moved_version_is_a_conflict(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 1), entry(Class::STATE, 2)]))
        .await;
    let known = subject.position().await;
    let decide = |guard| Append {
        guard,
        known: known.clone(),
        ..subject.plain(vec![entry(BOTH, 3)])
    };
    let guard = |control, state| Guard {
        control: Some(seq(control)),
        state: Some(seq(state)),
        lease: None,
    };
    for wrong in [guard(0, 2), guard(2, 2), guard(1, 1), guard(1, 3)] {
        subject
            .refused(decide(wrong), RefusedReason::Conflict)
            .await;
    }
    subject.appended(decide(guard(1, 2))).await;
    let refused = subject
        .refused(decide(guard(1, 2)), RefusedReason::Conflict)
        .await;
    assert_eq!(
        refused.head.versions,
        Versions {
            control: seq(3),
            state: seq(3)
        }
    );
}

pub async fn tokens_never_make_a_decision_lose(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 1)]))
        .await;
    let known = subject.position().await;
    subject.appended(subject.plain(texts(400))).await;
    let decision = Append {
        guard: control(1),
        known,
        ..subject.plain(vec![entry(Class::CONTROL, 2)])
    };
    assert_eq!(subject.appended(decision).await.last, seq(402));
}

pub async fn refusal_carries_the_missed_entries(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 1), entry(Class::NONE, 2)]))
        .await;
    let known = subject.position().await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 3), entry(Class::NONE, 4)]))
        .await;
    let decision = |known: Position| Append {
        guard: control(1),
        known,
        ..subject.plain(texts(1))
    };
    let refused = subject
        .refused(decision(known), RefusedReason::Conflict)
        .await;
    assert_eq!(refused.missed, subject.read_all().await[2..]);
    let refused = subject
        .refused(decision(subject.position().await), RefusedReason::Conflict)
        .await;
    assert!(
        refused.missed.is_empty(),
        "whoever knows the head misses nothing"
    );
    let refused = subject
        .refused(decision(Position::default()), RefusedReason::Conflict)
        .await;
    assert_eq!(
        seqs(&refused.missed),
        [1, 2, 3, 4],
        "whoever holds nothing misses all"
    );
}

pub async fn refusal_carries_at_most_256_entries(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 1)]))
        .await;
    let known = subject.position().await;
    subject.appended(subject.plain(texts(150))).await;
    subject.appended(subject.plain(texts(150))).await;
    let wrong = Append {
        guard: control(9),
        known,
        ..subject.plain(texts(1))
    };
    let refused = subject.refused(wrong, RefusedReason::Conflict).await;
    let expected: Vec<u64> = (2..).take(MISSED_MAX).collect();
    assert_eq!(seqs(&refused.missed), expected);
}

pub async fn refusal_ends_with_the_entry_that_reaches_a_mebibyte(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 1)]))
        .await;
    let half = || large(MISSED_BYTES_MAX / 2);
    let known = subject.position().await;
    subject.appended(subject.plain(vec![half(), half()])).await;
    subject
        .appended(subject.plain(vec![large(3 * MISSED_BYTES_MAX), half()]))
        .await;
    for (after, expected) in [(1, &[2, 3][..]), (2, &[3, 4]), (3, &[4]), (4, &[5])] {
        let known = Position {
            seq: seq(after),
            ..known.clone()
        };
        let wrong = Append {
            guard: control(9),
            known,
            ..subject.plain(texts(1))
        };
        let refused = subject.refused(wrong, RefusedReason::Conflict).await;
        assert_eq!(seqs(&refused.missed), expected);
    }
}

/// A seq alone could stand for another entry: a guard that matches by number only is not enough.
pub async fn position_of_another_log_is_a_conflict(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 1), entry(Class::NONE, 2)]))
        .await;
    let known = subject.position().await;
    let beyond = Position {
        seq: seq(3),
        ..known.clone()
    };
    let foreign = Position {
        epoch: Epoch::new("foreign"),
        seq: seq(2),
    };
    for known in [beyond, foreign] {
        let decision = Append {
            guard: control(1),
            known: known.clone(),
            ..subject.plain(texts(1))
        };
        let refused = subject.refused(decision, RefusedReason::Conflict).await;
        assert!(
            refused.missed.is_empty(),
            "nothing follows a position of another log"
        );
        assert!(!refused.head.verdict(&known).is_of_log());
        let unguarded = Append {
            known,
            ..subject.plain(texts(1))
        };
        assert!(matches!(
            subject.append(unguarded).await,
            Outcome::Appended(_)
        ));
        subject.delete().await;
        subject
            .appended(subject.plain(vec![entry(Class::CONTROL, 1), entry(Class::NONE, 2)]))
            .await;
    }
}
