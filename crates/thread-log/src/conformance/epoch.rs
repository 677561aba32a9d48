//! A store that was opened again: another incarnation writes on.

use super::Reopen;
use super::delete::deleted as note_of;
use super::requests::{entry, texts};
use super::subject::{Subject, control, seq, thread_id};
use crate::engine::{Append, EPOCHS_MAX, Engine};
use crate::entry::Class;
use crate::position::{Position, PositionVerdict};

pub async fn reopened_log_is_as_it_was(factory: &impl Reopen) {
    let mut subject = Subject::open(factory).await;
    subject
        .appended(Append {
            record: Some(b"record".to_vec()),
            ..subject.plain(texts(3))
        })
        .await;
    subject
        .save_checkpoint(subject.position().await, b"fold")
        .await;
    subject
        .engine
        .trim(&subject.thread, seq(1))
        .await
        .expect("the checkpoint is there");
    let deleted = Subject {
        thread: thread_id("th_2"),
        ..subject.clone()
    };
    deleted.appended(deleted.plain(texts(1))).await;
    deleted.delete().await;
    let before = (
        subject.head().await,
        subject.read_all().await,
        subject.load_checkpoint().await,
    );
    for _ in 0..2 {
        subject.engine = factory.reopen(subject.engine.clone()).await;
        let after = (
            subject.head().await,
            subject.read_all().await,
            subject.load_checkpoint().await,
        );
        assert_eq!(after, before, "opening alone starts no epoch");
    }
    let deleted = Subject {
        thread: deleted.thread,
        ..subject
    };
    assert_eq!(deleted.head().await, note_of(b"note"));
}

pub async fn first_append_after_reopening_starts_an_epoch(factory: &impl Reopen) {
    let mut subject = Subject::open(factory).await;
    let first = subject.appended(subject.plain(texts(3))).await.epoch;
    subject.engine = factory.reopen(subject.engine.clone()).await;
    let second = subject.appended(subject.plain(texts(2))).await.epoch;
    assert_ne!(first, second);
    assert_eq!(
        subject.appended(subject.plain(texts(1))).await.epoch,
        second
    );
    let head = subject.head().await;
    assert_eq!(
        head.epochs,
        [(first.clone(), seq(1)), (second.clone(), seq(4))]
    );
    let verdict = |epoch, at| {
        head.verdict(&Position {
            epoch,
            seq: seq(at),
        })
    };
    assert_eq!(verdict(first.clone(), 3), PositionVerdict::Valid);
    assert_eq!(verdict(first, 4), PositionVerdict::Beyond);
    assert_eq!(verdict(second.clone(), 6), PositionVerdict::Valid);
    assert_eq!(verdict(second, 7), PositionVerdict::Beyond);
}

pub async fn decision_from_before_reopening_still_stands(factory: &impl Reopen) {
    let mut subject = Subject::open(factory).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 1), entry(Class::NONE, 2)]))
        .await;
    let known = subject.position().await;
    subject.engine = factory.reopen(subject.engine.clone()).await;
    let decision = Append {
        guard: control(1),
        known,
        ..subject.plain(vec![entry(Class::CONTROL, 3)])
    };
    assert_eq!(subject.appended(decision).await.last, seq(3));
}

pub async fn oldest_epochs_are_forgotten(factory: &impl Reopen) {
    let mut subject = Subject::open(factory).await;
    let mut positions = Vec::new();
    for _ in 0..EPOCHS_MAX + 2 {
        subject.appended(subject.plain(texts(1))).await;
        positions.push(subject.position().await);
        subject.engine = factory.reopen(subject.engine.clone()).await;
    }
    let head = subject.head().await;
    assert_eq!(head.epochs.len(), EPOCHS_MAX);
    for (at, position) in positions.iter().enumerate() {
        let expected = if at < 2 {
            PositionVerdict::UnknownEpoch
        } else {
            PositionVerdict::Valid
        };
        assert_eq!(head.verdict(position), expected);
    }
}

pub async fn checkpoint_outlives_the_epoch_it_was_made_in(factory: &impl Reopen) {
    let mut subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(2))).await;
    let position = subject.position().await;
    subject.save_checkpoint(position.clone(), b"fold").await;
    subject
        .engine
        .trim(&subject.thread, seq(2))
        .await
        .expect("the checkpoint is there");
    for _ in 0..=EPOCHS_MAX {
        subject.engine = factory.reopen(subject.engine.clone()).await;
        subject.appended(subject.plain(texts(1))).await;
    }
    let head = subject.head().await;
    assert_eq!(head.verdict(&position), PositionVerdict::UnknownEpoch);
    let kept = subject
        .load_checkpoint()
        .await
        .expect("without it the thread could not be read any more");
    assert_eq!((kept.seq, kept.epoch), (position.seq, position.epoch));
}
