//! Memory follows the threads in use, disk space those that are kept.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_disk_log::DiskEngine;
use threadcast_thread_log::engine::{Append, Checkpoint, Durability, Engine};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};

use crate::support::{FailingDisk, append, open, open_plain, some, thread};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_that_nobody_uses_take_no_memory() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open_plain(directory.path());
    let watched = engine.watch(&thread("th_0")).await.unwrap();
    for number in 0..5000 {
        let id = thread(&format!("th_{number}"));
        append(&engine, some(&id, 1, Durability::Held))
            .await
            .unwrap();
    }
    let in_memory = engine.threads_in_memory();
    assert!(
        in_memory <= 64 * 16 + 1,
        "{in_memory} of 5000 are in memory"
    );
    let head = engine.head(&thread("th_1")).await.unwrap();
    assert_eq!(head.seq.get(), 1, "the others come back on demand");
    drop(watched);
}

/// Bytes of the tables; journals go when their tables are written.
fn tables_bytes(directory: &Path) -> u64 {
    let files = std::fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap());
    files
        .map(|file| match file.metadata() {
            Ok(meta) if meta.is_dir() => tables_bytes(&file.path()),
            Ok(meta) if file.path().extension().is_none() => meta.len(),
            _ => 0,
        })
        .sum()
}

/// A keyspace that takes 8 MiB or less is not written anew.
const KEPT_MAX: u64 = 9_000_000;

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
    assert!(waited.is_ok(), "{what}");
}

/// Entries that cannot be made shorter.
struct Noise(u64);

impl Noise {
    fn entry(&mut self, bytes: usize) -> NewEntry {
        let mut value = String::with_capacity(bytes + 16);
        while value.len() < bytes {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            value.push_str(&format!("{:016x}", self.0 ^ (self.0 >> 29)));
        }
        let json = format!(r#"{{"type":"CUSTOM","name":"n","value":"{value}"}}"#);
        let record = Record {
            at: Millis(1),
            run: None,
            origin: Origin::Agent,
            body: Body::Event {
                json: RawJson::from_trusted(json),
                from_chunk: false,
            },
        };
        NewEntry {
            class: Class::NONE,
            record: Arc::new(record),
        }
    }
}

/// Two threads with tables of 40 MB.
async fn two_long_threads(engine: &DiskEngine, directory: &Path) -> [ThreadId; 2] {
    let ids = [thread("th_1"), thread("th_2")];
    let mut noise = Noise(1);
    for id in &ids {
        for _ in 0..100 {
            let many = Append {
                entries: (0..100).map(|_| noise.entry(2000)).collect(),
                ..some(id, 0, Durability::Held)
            };
            append(engine, many).await.unwrap();
        }
    }
    until("tables are written", || {
        tables_bytes(directory) > 15_000_000
    })
    .await;
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disk_space_returns_after_trimming_and_deleting() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open_plain(directory.path());
    let [trimmed, deleted] = two_long_threads(&engine, directory.path()).await;
    let head = engine.head(&trimmed).await.unwrap();
    let checkpoint = Checkpoint {
        seq: head.seq,
        epoch: head.epochs[0].0.clone(),
        bytes: b"fold".to_vec(),
    };
    engine.save_checkpoint(&trimmed, checkpoint).await.unwrap();
    engine.trim(&trimmed, head.seq).await.unwrap();
    engine.delete(&deleted, Vec::new()).await.unwrap();
    until("the space returns", || {
        tables_bytes(directory.path()) < KEPT_MAX
    })
    .await;
    assert_eq!(engine.head(&trimmed).await.unwrap().seq, head.seq);
}

/// Until the next look at the free space has found that there is too little.
async fn until_full(engine: &DiskEngine, id: &ThreadId) {
    let full = async {
        while append(engine, some(id, 1, Durability::Held)).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let full = tokio::time::timeout(Duration::from_secs(60), full).await;
    full.expect("that it is full is seen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disk_that_is_nearly_full_is_freed_by_deleting() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let engine = open(directory.path(), &disk);
    let deleted = two_long_threads(&engine, directory.path()).await;
    // Less than the reserve, more than the tables in memory take.
    disk.free.store(60_000_000, Ordering::SeqCst);
    until_full(&engine, &deleted[0]).await;
    for id in &deleted {
        engine.delete(id, Vec::new()).await.unwrap();
    }
    until("the space returns", || {
        tables_bytes(directory.path()) < KEPT_MAX
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_deleted_where_not_even_marks_have_space_is_removed_once_they_have() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::<FailingDisk>::default();
    let engine = open(directory.path(), &disk);
    let deleted = two_long_threads(&engine, directory.path()).await;
    disk.free.store(1_100_000, Ordering::SeqCst);
    until_full(&engine, &deleted[0]).await;
    for id in &deleted {
        engine.delete(id, Vec::new()).await.unwrap();
        assert!(engine.head(id).await.unwrap().epochs.is_empty());
    }
    assert!(tables_bytes(directory.path()) > 15_000_000);
    disk.free.store(0, Ordering::SeqCst);
    until("the space returns", || {
        tables_bytes(directory.path()) < KEPT_MAX
    })
    .await;
}
