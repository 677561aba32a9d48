//! Deletion against those who still hold something of the thread.

use super::Factory;
use super::requests::{entry, take, texts, token};
use super::subject::{Subject, control, seq, seqs};
use crate::engine::{Append, Engine, Guard, Head, RECORD_BYTES_MAX, RefusedReason};
use crate::entry::Class;
use crate::error::EngineError;
use crate::position::PositionVerdict;

/// The head of a thread that was deleted with that note.
pub(super) fn deleted(note: &[u8]) -> Head {
    Head {
        record: Some(note.to_vec()),
        ..Head::default()
    }
}

pub async fn deletion_removes_everything(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(Append {
            record: Some(b"record".to_vec()),
            ..subject.plain(texts(3))
        })
        .await;
    subject
        .save_checkpoint(subject.position().await, b"fold")
        .await;
    subject.delete().await;
    assert_eq!(subject.head().await, deleted(b"note"));
    assert!(subject.read_all().await.is_empty());
    assert_eq!(subject.load_checkpoint().await, None);
    assert!(
        subject
            .engine
            .list(None, 10)
            .await
            .expect("the engine lists")
            .is_empty()
    );
}

pub async fn owner_of_a_deleted_thread_is_refused(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(Append {
            lease: take("a"),
            ..subject.plain(texts(1))
        })
        .await;
    subject.delete().await;
    let guard = Guard {
        lease: Some(token("a")),
        ..Guard::default()
    };
    let token = Append {
        guard: guard.clone(),
        may_create: false,
        ..subject.plain(texts(1))
    };
    subject.refused(token.clone(), RefusedReason::Gone).await;
    subject
        .refused(
            Append {
                may_create: true,
                ..token.clone()
            },
            RefusedReason::Fenced,
        )
        .await;
    subject.appended(subject.plain(texts(1))).await;
    subject.refused(token, RefusedReason::Fenced).await;
}

pub async fn log_after_a_deletion_is_another(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let first = subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 1), entry(Class::NONE, 2)]))
        .await;
    let known = subject.position().await;
    subject.delete().await;
    let second = subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 3), entry(Class::NONE, 4)]))
        .await;
    assert_eq!((second.first, second.last), (seq(1), seq(2)));
    assert_ne!(second.epoch, first.epoch);
    assert_eq!(seqs(&subject.read_all().await), [1, 2]);
    assert_eq!(
        subject.head().await.verdict(&known),
        PositionVerdict::UnknownEpoch
    );
    let decision = Append {
        guard: control(1),
        known,
        ..subject.plain(texts(1))
    };
    let refused = subject.refused(decision, RefusedReason::Conflict).await;
    assert!(refused.missed.is_empty());
}

pub async fn deleting_what_is_not_there_changes_nothing(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.delete().await;
    assert_eq!(subject.head().await, Head::default());
    subject.appended(subject.plain(texts(1))).await;
    subject.delete().await;
    subject.delete().await;
    assert_eq!(subject.head().await, deleted(b"note"));
    subject
        .refused(
            Append {
                may_create: false,
                ..subject.plain(texts(1))
            },
            RefusedReason::Gone,
        )
        .await;
}

pub async fn deletion_leaves_its_note(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(1))).await;
    subject.delete_with(b"the first").await;
    subject.delete_with(b"the second").await;
    assert_eq!(
        subject.head().await,
        deleted(b"the first"),
        "nothing was deleted the second time"
    );
    subject.appended(subject.plain(texts(1))).await;
    assert_eq!(
        subject.head().await.record,
        None,
        "a new log knows nothing of it"
    );
}

pub async fn too_long_a_note_deletes_nothing(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(1))).await;
    let note = vec![0; RECORD_BYTES_MAX + 1];
    let error = subject
        .engine
        .delete(&subject.thread, note)
        .await
        .expect_err("the note is too long");
    assert!(
        matches!(error, EngineError::RecordTooLong { found: 4097, .. }),
        "{error}"
    );
    assert_eq!(subject.read_all().await.len(), 1);
    subject.delete_with(&vec![0; RECORD_BYTES_MAX]).await;
    assert!(subject.read_all().await.is_empty());
}

pub async fn deleted_thread_keeps_no_checkpoint(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(2))).await;
    let known = subject.position().await;
    subject.save_checkpoint(known.clone(), b"fold").await;
    subject.delete().await;
    subject.save_checkpoint(known.clone(), b"late").await;
    assert_eq!(subject.load_checkpoint().await, None);
    subject.appended(subject.plain(texts(3))).await;
    subject.save_checkpoint(known, b"of the log before").await;
    assert_eq!(subject.load_checkpoint().await, None);
}
