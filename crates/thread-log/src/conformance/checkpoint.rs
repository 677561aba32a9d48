//! Checkpoints and trimming.

use super::Factory;
use super::requests::{entry, texts};
use super::subject::{ALL, Subject, control, seq, seqs, thread_id};
use crate::engine::{Append, Checkpoint, Engine, RefusedReason};
use crate::entry::Class;
use crate::error::EngineError;
use crate::position::{Epoch, Position, PositionVerdict};

impl<E: Engine> Subject<E> {
    /// A thread of that many entries, of which the first is of class control.
    async fn of_entries(factory: &impl Factory<Engine = E>, count: u64) -> (Self, Epoch) {
        let subject = Self::open(factory).await;
        let mut entries = texts(count);
        entries[0] = entry(Class::CONTROL, 1);
        let epoch = subject.appended(subject.plain(entries)).await.epoch;
        (subject, epoch)
    }

    async fn trim(&self, through: u64) -> Result<(), EngineError> {
        self.engine.trim(&self.thread, seq(through)).await
    }
}

fn at(epoch: &Epoch, at: u64) -> Position {
    Position {
        epoch: epoch.clone(),
        seq: seq(at),
    }
}

pub async fn latest_checkpoint_at_or_before_a_seq_is_loaded(factory: &impl Factory) {
    let (subject, epoch) = Subject::of_entries(factory, 5).await;
    assert_eq!(subject.load_checkpoint().await, None);
    for (position, bytes) in [(2, "two"), (4, "four"), (3, "three")] {
        subject
            .save_checkpoint(at(&epoch, position), bytes.as_bytes())
            .await;
    }
    let kept = Checkpoint {
        seq: seq(4),
        epoch,
        bytes: b"four".to_vec(),
    };
    assert_eq!(subject.load_checkpoint().await, Some(kept));
    for (through, found) in [
        (1, None),
        (2, Some(2)),
        (3, Some(3)),
        (4, Some(4)),
        (5, Some(4)),
    ] {
        let checkpoint = subject.load_checkpoint_at(seq(through)).await;
        assert_eq!(checkpoint.map(|checkpoint| checkpoint.seq.get()), found);
    }
    let stranger = Subject {
        thread: thread_id("th_2"),
        ..subject
    };
    assert_eq!(stranger.load_checkpoint().await, None);
}

pub async fn checkpoint_takes_the_place_of_one_at_its_seq(factory: &impl Factory) {
    let (subject, epoch) = Subject::of_entries(factory, 3).await;
    for (position, bytes) in [(1, "one"), (2, "older"), (2, "newer")] {
        subject
            .save_checkpoint(at(&epoch, position), bytes.as_bytes())
            .await;
    }
    let kept: Vec<_> = subject
        .checkpoints()
        .await
        .into_iter()
        .map(|checkpoint| checkpoint.bytes)
        .collect();
    assert_eq!(kept, [b"newer".to_vec(), b"one".to_vec()]);
}

pub async fn trim_drops_the_checkpoints_before_it(factory: &impl Factory) {
    let (subject, epoch) = Subject::of_entries(factory, 5).await;
    for position in [1, 2, 3, 5] {
        subject.save_checkpoint(at(&epoch, position), b"fold").await;
    }
    subject.trim(3).await.expect("the checkpoint is there");
    subject.save_checkpoint(at(&epoch, 2), b"too late").await;
    let kept: Vec<_> = subject
        .checkpoints()
        .await
        .into_iter()
        .map(|checkpoint| (checkpoint.seq.get(), checkpoint.bytes))
        .collect();
    assert_eq!(kept, [(5, b"fold".to_vec()), (3, b"fold".to_vec())]);
}

pub async fn checkpoint_may_be_large(factory: &impl Factory) {
    let (subject, epoch) = Subject::of_entries(factory, 2).await;
    let bytes: Vec<u8> = (0..2_500_000_u32)
        .flat_map(|number| number.to_le_bytes())
        .collect();
    subject.save_checkpoint(at(&epoch, 1), &bytes).await;
    let kept = subject
        .load_checkpoint()
        .await
        .expect("a checkpoint is kept");
    assert!(kept.bytes == bytes, "it comes back byte for byte");
}

pub async fn checkpoint_of_another_log_is_not_kept(factory: &impl Factory) {
    let (subject, epoch) = Subject::of_entries(factory, 2).await;
    let strangers = [at(&epoch, 3), at(&Epoch::new("foreign"), 2)];
    for position in strangers.clone() {
        subject.save_checkpoint(position, b"of another log").await;
        assert_eq!(subject.load_checkpoint().await, None);
    }
    subject.save_checkpoint(at(&epoch, 1), b"one").await;
    for position in strangers {
        subject.save_checkpoint(position, b"of another log").await;
        let kept = subject
            .load_checkpoint()
            .await
            .expect("a checkpoint is kept");
        assert_eq!(kept.bytes, b"one");
    }
    let nowhere = Subject {
        thread: thread_id("th_2"),
        ..subject
    };
    nowhere
        .save_checkpoint(Position::default(), b"no log")
        .await;
    assert_eq!(nowhere.load_checkpoint().await, None);
}

pub async fn trim_needs_a_checkpoint(factory: &impl Factory) {
    let (subject, epoch) = Subject::of_entries(factory, 4).await;
    let error = subject.trim(2).await.expect_err("there is no checkpoint");
    assert!(
        matches!(
            error,
            EngineError::NoCheckpoint {
                through: 2,
                found: None,
                ..
            }
        ),
        "{error}"
    );
    subject.save_checkpoint(at(&epoch, 2), b"two").await;
    let error = subject
        .trim(3)
        .await
        .expect_err("the checkpoint is too early");
    assert!(
        matches!(
            error,
            EngineError::NoCheckpoint {
                through: 3,
                found: Some(2),
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(subject.read_all().await.len(), 4);
    subject.trim(2).await.expect("the checkpoint is there");
}

pub async fn trim_drops_what_the_checkpoint_holds(factory: &impl Factory) {
    let (subject, epoch) = Subject::of_entries(factory, 5).await;
    subject.save_checkpoint(at(&epoch, 4), b"four").await;
    subject.trim(3).await.expect("the checkpoint is there");
    subject
        .trim(1)
        .await
        .expect("what is trimmed stays trimmed");
    let head = subject.head().await;
    assert_eq!((head.first, head.seq), (seq(4), seq(5)));
    assert_eq!(seqs(&subject.read_all().await), [4, 5]);
    assert_eq!(seqs(&subject.read(4, ALL).await), [5]);
    assert_eq!(head.verdict(&at(&epoch, 3)), PositionVerdict::Valid);
    assert_eq!(head.verdict(&at(&epoch, 2)), PositionVerdict::Trimmed);
    let decision = |position| Append {
        guard: control(9),
        known: at(&epoch, position),
        ..subject.plain(texts(1))
    };
    let refused = subject.refused(decision(3), RefusedReason::Conflict).await;
    assert_eq!(seqs(&refused.missed), [4, 5]);
    let refused = subject.refused(decision(2), RefusedReason::Conflict).await;
    assert!(refused.missed.is_empty(), "what follows is not kept");
    let stands = Append {
        guard: control(1),
        known: at(&epoch, 2),
        ..subject.plain(texts(1))
    };
    subject.appended(stands).await;
}

pub async fn log_goes_on_after_all_of_it_was_trimmed(factory: &impl Factory) {
    let (subject, epoch) = Subject::of_entries(factory, 3).await;
    subject.save_checkpoint(at(&epoch, 3), b"three").await;
    subject.trim(3).await.expect("the checkpoint is there");
    let head = subject.head().await;
    assert_eq!(
        (head.first, head.seq, head.versions.control),
        (seq(4), seq(3), seq(1))
    );
    assert!(subject.read_all().await.is_empty());
    let appended = subject.appended(subject.plain(texts(1))).await;
    assert_eq!(appended.first, seq(4));
    assert_eq!(seqs(&subject.read_all().await), [4]);
}
