//! Stored folds: what a thread is opened with, and when they are kept.

use std::error::Error;

use serde_json::json;
use threadcast_run_registry::checkpoint::FOLD_VERSION;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::{Random, log};
use threadcast_thread_log::engine::{Checkpoint, Engine, ReadLimit};
use threadcast_thread_log::entry::{Entry, NewEntry};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;
use threadcast_wire::limits::Limits;
use xxhash_rust::xxh3::xxh3_64;

use super::support::Rig;
use super::support::engine::TestEngine;
use super::support::log::{event, run, thread};

/// A hub that was just started on the same logs.
async fn restarted(rig: &Rig) -> Rig {
    Rig::with(rig.engine.restarted().await, Limits::default())
}

pub(crate) fn as_new(entries: &[Entry]) -> Vec<NewEntry> {
    let new = entries.iter().map(|entry| NewEntry {
        class: entry.class,
        record: entry.record.clone(),
    });
    new.collect()
}

/// The fold of the log from its first entry up to `seq`.
pub(crate) async fn folded(engine: &TestEngine, seq: u64) -> Fold {
    let (id, head) = (
        thread("t"),
        engine.memory().head(&thread("t")).await.unwrap(),
    );
    let mut fold = Fold::new(id.clone());
    fold.enter_epoch(head.epochs.last().unwrap().0.clone());
    let limit = ReadLimit {
        entries: usize::try_from(seq).unwrap(),
        bytes: usize::MAX,
    };
    let entries = engine.memory().read(&id, Seq::ZERO, limit).await.unwrap();
    entries.iter().for_each(|entry| fold.apply(entry));
    fold
}

/// Keeps `bytes`, or the fold there, as the checkpoint at `seq`.
async fn keep_at(rig: &Rig, seq: u64, bytes: Option<Vec<u8>>) {
    let fold = folded(&rig.engine, seq).await;
    let checkpoint = Checkpoint {
        seq: fold.head(),
        epoch: fold.position().epoch.clone(),
        bytes: bytes.unwrap_or_else(|| fold.to_checkpoint()),
    };
    let memory = rig.engine.memory();
    memory
        .save_checkpoint(&thread("t"), checkpoint)
        .await
        .unwrap();
}

async fn trim(rig: &Rig, through: u64) {
    let through = Seq::new(through).unwrap();
    rig.engine
        .memory()
        .trim(&thread("t"), through)
        .await
        .unwrap();
}

async fn kept(rig: &Rig) -> Option<Checkpoint> {
    let memory = rig.engine.memory();
    memory
        .load_checkpoint(&thread("t"), Seq::MAX)
        .await
        .unwrap()
}

async fn opened(rig: &Rig) -> String {
    let live = rig.hub.live(&thread("t")).await.unwrap();
    text(&live.with_fold(Fold::clone))
}

/// Everything in a fold.
fn text(fold: &Fold) -> String {
    String::from_utf8(fold.to_checkpoint()).unwrap()
}

/// A checkpoint as a later program would write it.
fn newer(fold: &Fold) -> Vec<u8> {
    let text = text(fold);
    let (first, rest) = text.split_once('\n').unwrap();
    let mark = first.split(' ').next().unwrap();
    let sealed = format!(" {}\n{rest}", FOLD_VERSION + 1);
    format!("{mark} {:016x}{sealed}", xxh3_64(sealed.as_bytes())).into_bytes()
}

fn chain(error: &dyn Error) -> String {
    let source = error.source().map(|source| format!(": {}", chain(source)));
    format!("{error}{}", source.unwrap_or_default())
}

#[tokio::test]
async fn a_thread_opened_with_any_checkpoint_is_what_its_whole_log_amounts_to() {
    for seed in 0..120 {
        let entries = log(seed);
        let mut random = Random::new(seed);
        let rig = Rig::new();
        let head = rig.engine.write("t", as_new(&entries)).await.get();
        let expected = text(&folded(&rig.engine, head).await);
        let cut = 1 + random.below(usize::try_from(head).unwrap()) as u64;
        for at in [cut / 2, cut].into_iter().filter(|at| *at > 0) {
            keep_at(&rig, at, None).await;
        }
        assert_eq!(
            opened(&restarted(&rig).await).await,
            expected,
            "seed {seed}, kept at {cut}"
        );
        trim(&rig, cut).await;
        let rig = restarted(&rig).await;
        assert_eq!(
            opened(&rig).await,
            expected,
            "seed {seed}, trimmed through {cut}"
        );
        assert!(rig.engine.reads() <= 1);
    }
}

#[tokio::test]
async fn a_damaged_checkpoint_is_passed_over() {
    let rig = Rig::new();
    let head = rig.engine.write("t", run("t", 1, 20)).await.get();
    let expected = text(&folded(&rig.engine, head).await);
    keep_at(&rig, 5, None).await;
    keep_at(&rig, 9, Some(b"torn".to_vec())).await;
    // Whole, but of another entry.
    keep_at(&rig, 12, Some(folded(&rig.engine, 7).await.to_checkpoint())).await;
    assert_eq!(opened(&rig).await, expected);
    keep_at(&rig, 5, Some(Vec::new())).await;
    assert_eq!(opened(&restarted(&rig).await).await, expected);
    // Nor does it matter that the store cannot read one, while the log is whole.
    let unreadable = restarted(&rig).await;
    unreadable.engine.fail_loads(1);
    assert_eq!(opened(&unreadable).await, expected);
    // Nothing stands for what was trimmed.
    trim(&rig, 9).await;
    let failed = restarted(&rig)
        .await
        .hub
        .live(&thread("t"))
        .await
        .unwrap_err();
    assert!(matches!(failed, EngineError::Corrupt { .. }), "{failed:?}");
    // Another one does, if only of a later entry.
    keep_at_the_end(&rig, head, &expected).await;
    assert_eq!(opened(&restarted(&rig).await).await, expected);
}

async fn keep_at_the_end(rig: &Rig, head: u64, text: &str) {
    let epoch = rig.engine.memory().head(&thread("t")).await.unwrap().epochs[0]
        .0
        .clone();
    let checkpoint = Checkpoint {
        seq: Seq::new(head).unwrap(),
        epoch,
        bytes: text.into(),
    };
    let memory = rig.engine.memory();
    memory
        .save_checkpoint(&thread("t"), checkpoint)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_checkpoint_of_a_later_program_is_no_reason_to_lose_the_thread() {
    let rig = Rig::new();
    let head = rig.engine.write("t", run("t", 1, 20)).await.get();
    let expected = text(&folded(&rig.engine, head).await);
    keep_at(&rig, 9, Some(newer(&folded(&rig.engine, 9).await))).await;
    assert_eq!(opened(&restarted(&rig).await).await, expected);
    trim(&rig, 9).await;
    let failed = restarted(&rig)
        .await
        .hub
        .live(&thread("t"))
        .await
        .unwrap_err();
    assert!(matches!(failed, EngineError::Unavailable(_)), "{failed:?}");
    let told = chain(&failed);
    assert!(
        told.contains(&format!("version {}", FOLD_VERSION + 1)),
        "{told}"
    );
    assert!(told.contains(&format!("up to {FOLD_VERSION}")), "{told}");
}

/// An open run with so many messages of 64 KiB.
async fn grow(rig: &Rig, messages: usize) -> u64 {
    let mut head = 0;
    for at in 0..messages {
        let id = format!("m{at}-{head}");
        let content = "word ".repeat(13_000);
        head = rig
            .engine
            .write(
                "t",
                vec![
                    event(&json!({ "type": "TEXT_MESSAGE_START", "messageId": id })),
                    event(&json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": content })),
                ],
            )
            .await
            .get();
    }
    head
}

/// Goal: what is folded is kept while the thread is followed, in the middle of a run, off the
/// delivery path and not too often. Method: 20 MiB are appended in pieces to a thread that is in
/// memory.
#[tokio::test]
async fn a_fold_is_kept_as_its_log_grows() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 1)[..1].to_vec()).await;
    let live = rig.hub.live(&thread("t")).await.unwrap();
    let mut seqs = Vec::new();
    let mut head = 0;
    for _ in 0..80 {
        head = grow(&rig, 4).await;
        rig.until(|hub| live.head().seq.get() == head && hub.task_count() == 1)
            .await;
        seqs.extend(kept(&rig).await.map(|checkpoint| checkpoint.seq));
    }
    seqs.dedup();
    assert!(
        (3..=5).contains(&seqs.len()),
        "each is as long as the log since the one before: {seqs:?}"
    );
    let again = restarted(&rig).await;
    assert_eq!(opened(&again).await, text(&folded(&rig.engine, head).await));
}

/// A hub that is killed between two runs opens the thread as quickly as one that was stopped.
#[tokio::test]
async fn a_thread_that_comes_to_rest_behind_a_long_run_is_kept_while_it_is_in_memory() {
    let rig = Rig::new();
    let live = rig.hub.live(&thread("t")).await.unwrap();
    for (number, pieces, expected) in [(1, 10, None), (2, 5000, Some(()))] {
        let head = rig.engine.write("t", run("t", number, pieces)).await;
        rig.until(|hub| live.head().seq == head && hub.task_count() == 1)
            .await;
        let kept = kept(&rig).await.map(|checkpoint| checkpoint.seq);
        assert_eq!(kept, expected.map(|()| head));
    }
}

#[tokio::test]
async fn a_long_thread_that_leaves_memory_is_kept_and_a_short_one_is_not() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 10)).await;
    drop(rig.hub.live(&thread("t")).await.unwrap());
    rig.until(|hub| hub.task_count() == 0).await;
    assert_eq!(kept(&rig).await, None);

    let head = rig.engine.write("t", run("t", 2, 5000)).await;
    drop(rig.hub.live(&thread("t")).await.unwrap());
    rig.until(|hub| hub.task_count() == 0).await;
    assert_eq!(kept(&rig).await.unwrap().seq, head);
    let again = restarted(&rig).await;
    assert_eq!(
        opened(&again).await,
        text(&folded(&rig.engine, head.get()).await)
    );
    assert_eq!(again.engine.reads(), 0);
    // Nothing came since.
    let before = kept(&again).await;
    again.until(|hub| hub.task_count() == 0).await;
    assert_eq!(kept(&again).await, before);
}

#[tokio::test]
async fn a_program_that_ends_keeps_what_is_in_memory() {
    let rig = Rig::new();
    rig.engine.write("t", run("t", 1, 5000)).await;
    let live = rig.hub.live(&thread("t")).await.unwrap();
    assert_eq!(rig.hub.settle(super::support::SOON).await, 0);
    assert_eq!(kept(&rig).await, None, "somebody uses it");
    drop(live);
    assert_eq!(rig.hub.settle(super::support::SOON).await, 0);
    assert!(kept(&rig).await.is_some());
}
