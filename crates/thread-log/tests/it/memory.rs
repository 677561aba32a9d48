//! What the memory engine does beside what every engine does: what it holds, and for how long.

use futures::StreamExt;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::conformance::requests::{request, texts};
use threadcast_thread_log::engine::{Append, Engine, Outcome, Watched};
use threadcast_thread_log::memory::MemoryEngine;

fn thread() -> ThreadId {
    ThreadId::new("th_1").unwrap()
}

fn append(count: u64) -> Append {
    Append {
        may_create: true,
        entries: texts(count),
        ..request(&thread())
    }
}

#[tokio::test]
async fn thread_without_a_log_goes_with_its_last_watcher() {
    let engine = MemoryEngine::new();
    let first = engine.watch(&thread()).await.unwrap();
    let second = engine.watch(&thread()).await.unwrap();
    drop(first);
    assert_eq!(engine.thread_count(), 1);
    drop(second);
    assert_eq!(engine.thread_count(), 0);
}

#[tokio::test]
async fn refused_append_leaves_no_thread_behind() {
    let engine = MemoryEngine::new();
    let refused = engine
        .append(Append {
            may_create: false,
            ..append(1)
        })
        .await
        .unwrap();
    assert!(matches!(refused, Outcome::Refused(_)));
    assert_eq!(engine.thread_count(), 0);
}

#[tokio::test]
async fn log_and_tombstone_stay_without_watchers() {
    let engine = MemoryEngine::new();
    let watch = engine.watch(&thread()).await.unwrap();
    engine.append(append(1)).await.unwrap();
    drop(watch);
    assert_eq!(engine.thread_count(), 1);
    engine.delete(&thread(), Vec::new()).await.unwrap();
    assert_eq!(engine.thread_count(), 1);
}

#[tokio::test]
async fn watcher_behind_its_queue_is_told_of_the_gap_first() {
    let engine = MemoryEngine::new();
    let mut watch = engine.watch(&thread()).await.unwrap();
    for _ in 0..100 {
        engine.append(append(1)).await.unwrap();
    }
    assert_eq!(watch.next().await, Some(Watched::Gap));
    let mut told = Vec::new();
    while let Some(Some(Watched::Entries { entries, .. })) =
        futures::FutureExt::now_or_never(watch.next())
    {
        told.extend(entries.iter().map(|entry| entry.seq.get()));
    }
    let kept: Vec<u64> = (37..=100).collect();
    assert_eq!(told, kept, "the queue keeps the latest");
}

#[tokio::test]
async fn append_that_is_not_awaited_does_not_happen() {
    let engine = MemoryEngine::new();
    drop(engine.append(append(1)));
    assert_eq!(engine.thread_count(), 0);
}

#[tokio::test]
async fn restarted_engine_goes_its_own_way() {
    let engine = MemoryEngine::new();
    engine.append(append(2)).await.unwrap();
    let restarted = engine.restarted();
    engine.append(append(3)).await.unwrap();
    restarted.append(append(1)).await.unwrap();
    let heads = (
        engine.head(&thread()).await.unwrap(),
        restarted.head(&thread()).await.unwrap(),
    );
    assert_eq!((heads.0.seq.get(), heads.1.seq.get()), (5, 3));
    assert_eq!((heads.0.epochs.len(), heads.1.epochs.len()), (1, 2));
}
