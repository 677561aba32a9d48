//! The buckets of the index of work.

use std::collections::HashMap;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::work::{BUCKETS, bucket_of};

fn bucket(id: &str) -> u8 {
    bucket_of(&ThreadId::new(id).unwrap())
}

/// Nodes of different versions look for the same threads in the same buckets.
#[test]
fn bucket_never_changes() {
    let known = [("th_1", 20), ("th_2", 61), ("a", 34), ("é", 28)];
    for (id, expected) in known {
        assert_eq!(bucket(id), expected, "{id}");
    }
}

#[test]
fn threads_spread_over_all_buckets() {
    let mut threads: HashMap<u8, u32> = HashMap::new();
    for number in 0..6400 {
        *threads.entry(bucket(&format!("th_{number}"))).or_default() += 1;
    }
    assert_eq!(threads.len(), usize::from(BUCKETS));
    assert!(
        threads.values().all(|count| (40..=160).contains(count)),
        "{threads:?}"
    );
}
