//! Disks that fail and fill up, and directories that are not ours to open.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::FutureExt;
use futures::StreamExt;
use threadcast_disk_log::{DiskEngine, DiskError, DiskOptions, OpenError};
use threadcast_thread_log::engine::{Checkpoint, Durability, Engine, Outcome, Watched};
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;

use crate::support::{ALL, FailingDisk, append, open, open_plain, some, thread, why};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_sync_stops_all_writing() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let engine = open(directory.path(), &disk);
    let id = thread("th_1");
    append(&engine, some(&id, 2, Durability::Durable))
        .await
        .unwrap();
    assert!(engine.poisoned().now_or_never().is_none());
    disk.syncs_fail.store(true, Ordering::SeqCst);
    let waiting = append(&engine, some(&id, 1, Durability::Durable)).await;
    assert!(matches!(why(waiting), DiskError::Failed(failure) if failure.what == "sync"));
    disk.syncs_fail.store(false, Ordering::SeqCst);
    for durability in [Durability::Held, Durability::Durable] {
        let refused = append(&engine, some(&id, 1, durability)).await;
        assert!(matches!(why(refused), DiskError::Failed(_)), "for good");
    }
    assert!(matches!(
        why(engine.delete(&id, Vec::new()).await),
        DiskError::Failed(_)
    ));
    assert_eq!(engine.poisoned().await.what, "sync");
    let read = engine.read(&id, Seq::ZERO, ALL).await.unwrap();
    assert!(read.len() >= 2, "reads go on");
    engine.close();
    let engine = open_plain(directory.path());
    append(&engine, some(&id, 1, Durability::Durable))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_write_stops_all_writing_and_nobody_is_told_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let engine = open(directory.path(), &disk);
    let id = thread("th_1");
    let mut watch = engine.watch(&id).await.unwrap();
    append(&engine, some(&id, 1, Durability::Held))
        .await
        .unwrap();
    assert!(matches!(watch.next().await, Some(Watched::Entries { .. })));
    disk.fails_at.store(4, Ordering::SeqCst);
    let failed = append(&engine, some(&id, 1, Durability::Held)).await;
    assert!(matches!(why(failed), DiskError::Failed(failure) if failure.what == "write"));
    assert!(
        watch.next().now_or_never().is_none(),
        "its outcome is unknown"
    );
    let other = append(&engine, some(&thread("th_2"), 1, Durability::Held)).await;
    assert!(matches!(why(other), DiskError::Failed(_)));
    assert_eq!(engine.poisoned().await.what, "write");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nearly_full_disk_takes_no_appends_and_goes_on_reading() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let id = thread("th_1");
    let engine = open(directory.path(), &disk);
    append(&engine, some(&id, 3, Durability::Held))
        .await
        .unwrap();
    append(&engine, some(&thread("th_2"), 3, Durability::Held))
        .await
        .unwrap();
    engine.close();
    disk.free.store(1_100_000, Ordering::SeqCst);
    let engine = open(directory.path(), &disk);
    let refused = append(&engine, some(&id, 1, Durability::Held)).await;
    assert!(matches!(
        why(refused),
        DiskError::NoSpace {
            free: 900_000..=1_100_000,
            ..
        }
    ));
    assert_eq!(engine.read(&id, Seq::ZERO, ALL).await.unwrap().len(), 3);
    // What comes before freeing space is done: a lease is taken, the fold is kept.
    engine.set_work(&id, Millis(7)).await.unwrap();
    let lease = some(&id, 0, Durability::Durable);
    assert!(matches!(
        append(&engine, lease).await,
        Ok(Outcome::Appended(_))
    ));
    let head = engine.head(&id).await.unwrap();
    let checkpoint = |bytes: usize| Checkpoint {
        seq: head.seq,
        epoch: head.epochs.last().unwrap().0.clone(),
        bytes: vec![7; bytes],
    };
    engine.save_checkpoint(&id, checkpoint(9)).await.unwrap();
    let long = engine.save_checkpoint(&id, checkpoint(100_000)).await;
    assert!(long.is_err(), "it does not fit into what is left");
    engine
        .delete(&thread("th_2"), Vec::new())
        .await
        .expect("what frees space is done");
    assert!(engine.poisoned().now_or_never().is_none(), "nothing failed");
    disk.free.store(0, Ordering::SeqCst);
    let again = async {
        while append(&engine, some(&id, 1, Durability::Held))
            .await
            .is_err()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), again)
        .await
        .expect("appends are taken once there is space");
    assert_eq!(engine.read(&id, Seq::ZERO, ALL).await.unwrap().len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_is_not_written_to_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let id = thread("th_1");
    let engine = open(directory.path(), &disk);
    append(&engine, some(&id, 3, Durability::Held))
        .await
        .unwrap();
    let head = engine.head(&id).await.unwrap();
    let checkpoint = |seq: Seq| Checkpoint {
        seq,
        epoch: head.epochs[0].0.clone(),
        bytes: vec![7; 9],
    };
    engine
        .save_checkpoint(&id, checkpoint(head.seq))
        .await
        .unwrap();
    engine.set_work(&id, Millis(7)).await.unwrap();
    engine.close();
    disk.free.store(1000, Ordering::SeqCst);
    let engine = open(directory.path(), &disk);
    let before = disk.stages.load(Ordering::SeqCst);
    let first = Seq::ZERO.next();
    let refusals = [
        append(&engine, some(&id, 1, Durability::Held))
            .await
            .map(drop),
        append(&engine, some(&id, 0, Durability::Held))
            .await
            .map(drop),
        engine.save_checkpoint(&id, checkpoint(first)).await,
        engine.trim(&id, head.seq).await,
        engine.set_work(&id, Millis(8)).await,
        engine.clear_work(&id, Millis(7)).await,
        engine.delete(&id, Vec::new()).await,
    ];
    for (number, refused) in refusals.into_iter().enumerate() {
        let why = why(refused);
        assert!(
            matches!(why, DiskError::NoSpace { free: 0..=1000, .. }),
            "{number}: {why}"
        );
    }
    assert_eq!(disk.stages.load(Ordering::SeqCst), before, "writes begun");
    assert_eq!(engine.read(&id, Seq::ZERO, ALL).await.unwrap().len(), 3);
    assert!(engine.poisoned().now_or_never().is_none(), "nothing failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn durable_appends_wait_for_a_sync_and_share_it() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let engine = open(directory.path(), &disk);
    let id = thread("th_1");
    append(&engine, some(&id, 1, Durability::Durable))
        .await
        .unwrap();
    let before = disk.syncs.load(Ordering::SeqCst);
    assert!(before > 0, "it was synced before it was answered");
    let appends = (0..200).map(|number| {
        let id = thread(&format!("th_{number}"));
        let engine = engine.clone();
        async move {
            append(&engine, some(&id, 1, Durability::Durable))
                .await
                .unwrap()
        }
    });
    futures::future::join_all(appends).await;
    let syncs = disk.syncs.load(Ordering::SeqCst) - before;
    assert!((1..100).contains(&syncs), "{syncs} syncs for 200 appends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_held_is_waited_for_and_what_is_durable_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let engine = open(directory.path(), &disk);
    let id = thread("th_1");
    append(&engine, some(&id, 1, Durability::Held))
        .await
        .unwrap();
    engine.make_durable(&id).await.unwrap();
    let (syncs, stages) = (&disk.syncs, &disk.stages);
    let before = (syncs.load(Ordering::SeqCst), stages.load(Ordering::SeqCst));
    assert!(before.0 > 0, "it was synced");
    let again = engine.make_durable(&id).now_or_never();
    again.expect("there is nothing to wait for").unwrap();
    let after = (syncs.load(Ordering::SeqCst), stages.load(Ordering::SeqCst));
    assert_eq!(before, after, "nothing was written");
    disk.syncs_fail.store(true, Ordering::SeqCst);
    append(&engine, some(&id, 1, Durability::Held))
        .await
        .unwrap();
    assert!(matches!(
        why(engine.make_durable(&id).await),
        DiskError::Failed(_)
    ));
    engine.close();
    assert!(matches!(
        why(engine.make_durable(&id).await),
        DiskError::Closed
    ));
}

/// What a failed write leaves may be found, and never becomes durable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_becomes_durable_after_a_failed_write() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let engine = open(directory.path(), &disk);
    let id = thread("th_1");
    append(&engine, some(&id, 1, Durability::Durable))
        .await
        .unwrap();
    let next = disk.stages.load(Ordering::SeqCst) + 1;
    disk.fails_at.store(next, Ordering::SeqCst);
    append(&engine, some(&id, 1, Durability::Held))
        .await
        .unwrap_err();
    assert!(matches!(
        why(engine.make_durable(&id).await),
        DiskError::Failed(_)
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_appends_are_synced_though_nobody_waits() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let engine = open(directory.path(), &disk);
    append(&engine, some(&thread("th_1"), 1, Durability::Held))
        .await
        .unwrap();
    let synced = async {
        while disk.syncs.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), synced)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_opening_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open_plain(directory.path());
    let error = DiskEngine::open(directory.path(), &DiskOptions::default()).unwrap_err();
    let told = error.to_string();
    assert!(told.contains(directory.path().to_str().unwrap()), "{told}");
    let OpenError::InUse { process, .. } = error else {
        panic!("{error}");
    };
    if cfg!(unix) {
        assert_eq!(process, Some(std::process::id()));
    }
    engine.close();
    open_plain(directory.path());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_engine_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open_plain(directory.path());
    let copy = engine.clone();
    engine.close();
    engine.close();
    let refused = append(&copy, some(&thread("th_1"), 1, Durability::Held)).await;
    assert!(matches!(why(refused), DiskError::Closed));
    assert!(matches!(
        why(copy.head(&thread("th_1")).await),
        DiskError::Closed
    ));
}

#[test]
fn directory_of_someone_else_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("thesis.txt"), "mine").unwrap();
    let error = DiskEngine::open(directory.path(), &DiskOptions::default()).unwrap_err();
    assert!(matches!(&error, OpenError::NotOurs { .. }), "{error}");
    assert_eq!(
        fs::read_dir(directory.path()).unwrap().count(),
        1,
        "nothing was added"
    );
}

#[test]
fn missing_database_is_told() {
    let directory = tempfile::tempdir().unwrap();
    DiskEngine::open(directory.path(), &DiskOptions::default())
        .unwrap()
        .close();
    fs::remove_dir_all(directory.path().join("2")).unwrap();
    let error = DiskEngine::open(directory.path(), &DiskOptions::default()).unwrap_err();
    assert!(
        matches!(error, OpenError::Missing { database: 2, .. }),
        "{error}"
    );
}

#[test]
fn newer_format_is_told_with_both_versions() {
    let directory = tempfile::tempdir().unwrap();
    DiskEngine::open(directory.path(), &DiskOptions::default())
        .unwrap()
        .close();
    fs::write(
        directory.path().join("format"),
        "threadcast data 2\ndatabases 4\n",
    )
    .unwrap();
    let error = DiskEngine::open(directory.path(), &DiskOptions::default()).unwrap_err();
    let told = error.to_string();
    assert!(
        told.contains("threadcast data 2") && told.contains("threadcast data 1"),
        "{told}"
    );
}

#[test]
fn directory_keeps_its_number_of_databases() {
    let directory = tempfile::tempdir().unwrap();
    let two = DiskOptions {
        databases: 2,
        ..DiskOptions::default()
    };
    DiskEngine::open(directory.path(), &two).unwrap().close();
    DiskEngine::open(directory.path(), &DiskOptions::default())
        .unwrap()
        .close();
    assert!(!directory.path().join("2").exists());
}

#[test]
fn creation_that_was_killed_is_begun_anew() {
    let directory = tempfile::tempdir().unwrap();
    DiskEngine::open(directory.path(), &DiskOptions::default())
        .unwrap()
        .close();
    // As if it was killed before the databases were whole.
    fs::remove_file(directory.path().join("format")).unwrap();
    fs::write(directory.path().join("creating"), []).unwrap();
    fs::remove_file(directory.path().join("1").join("version")).unwrap();
    DiskEngine::open(directory.path(), &DiskOptions::default())
        .unwrap()
        .close();
    assert!(!directory.path().join("creating").exists());
}

/// A kill right behind the creation leaves `creating` beside the format.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directory_whose_format_is_lost_is_not_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let id = thread("th_1");
    let engine = open_plain(directory.path());
    append(&engine, some(&id, 3, Durability::Durable))
        .await
        .unwrap();
    engine.close();
    fs::write(directory.path().join("creating"), []).unwrap();
    open_plain(directory.path()).close();
    let format = directory.path().join("format");
    let text = fs::read(&format).unwrap();
    fs::remove_file(&format).unwrap();
    let refused = DiskEngine::open(directory.path(), &DiskOptions::default());
    assert!(matches!(refused, Err(OpenError::NotOurs { .. })));
    fs::write(&format, text).unwrap();
    let engine = open_plain(directory.path());
    assert_eq!(engine.read(&id, Seq::ZERO, ALL).await.unwrap().len(), 3);
}
