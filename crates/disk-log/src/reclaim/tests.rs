//! How long is waited for a table, and what is written anew.

use fjall::{Database, KeyspaceCreateOptions};

use super::*;

/// A keyspace with something in memory that nobody ever writes.
fn stuck(directory: &tempfile::TempDir) -> (Database, Keyspace) {
    let builder = Database::builder(directory.path());
    let database = builder.worker_threads_unchecked(0).open().unwrap();
    let keyspace = database
        .keyspace("k", KeyspaceCreateOptions::default)
        .unwrap();
    keyspace.insert("key", "value").unwrap();
    (database, keyspace)
}

fn waits(health: &Health, closing: &Closing, max: Duration) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let (_database, keyspace) = stuck(&directory);
    let is_written = write_table(&keyspace, health, closing, max).unwrap();
    assert!(keyspace.sealed_memtable_count() > 0);
    is_written
}

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn table_that_is_never_written_is_not_waited_for_without_end() {
    let short = Duration::from_millis(30);
    assert!(!waits(&Health::new(0), &Closing::default(), short));
}

#[test]
fn closing_ends_the_wait_for_a_table() {
    let closing = Closing::default();
    let closer = closing.clone();
    let waiting = std::thread::spawn(move || waits(&Health::new(0), &closing, LONG));
    closer.close();
    assert!(!waiting.join().unwrap());
}

#[test]
fn failure_ends_the_wait_for_a_table() {
    let health = Arc::new(Health::new(0));
    let directory = tempfile::tempdir().unwrap();
    let (_database, keyspace) = stuck(&directory);
    let waiting = {
        let (health, keyspace) = (Arc::clone(&health), keyspace.clone());
        std::thread::spawn(move || write_table(&keyspace, &health, &Closing::default(), LONG))
    };
    while keyspace.sealed_memtable_count() == 0 {
        std::thread::yield_now();
    }
    health.fail("write", 0, "on request");
    assert!(!waiting.join().unwrap().unwrap());
}

#[test]
fn table_that_is_written_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::builder(directory.path()).open().unwrap();
    let keyspace = database
        .keyspace("k", KeyspaceCreateOptions::default)
        .unwrap();
    keyspace.insert("key", "value").unwrap();
    let is_written = write_table(&keyspace, &Health::new(0), &Closing::default(), LONG);
    assert!(is_written.unwrap());
    assert_eq!(keyspace.table_count(), 1);
}

#[test]
fn what_stays_is_what_no_mark_lies_over() {
    let waste = |lines, marks| Waste {
        bytes: 90 << 20,
        lines,
        marks,
    };
    let all = waste(2000, 1000);
    assert!(all.is_much());
    assert_eq!(all.stays(), 0);
    let half = waste(3000, 1000);
    assert!(half.is_much());
    assert_eq!(half.stays(), 45 << 20);
    assert!(!waste(3001, 1000).is_much());
    assert_eq!(waste(1000, 1000).stays(), 0, "nothing but marks");
}

#[test]
fn little_that_stays_is_written_into_the_reserve() {
    let health = Health::new(64 << 20);
    health.set_free(40 << 20, 0);
    assert!(health.has_space_for(9 << 20));
    assert!(!health.has_space_for(10 << 20));
    health.set_free(100 << 20, 0);
    assert!(health.has_space_for(24 << 20));
    assert!(health.has_space_for(35 << 20));
    assert!(!health.has_space_for(36 << 20));
}
