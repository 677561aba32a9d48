use std::sync::Arc;

use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_wire::hub_frame::ThreadTag;

use super::*;

/// A block of the entries after `after` up to `last`, which cannot be merged.
fn block(after: u64, last: u64) -> Block {
    let entry = |seq| Entry {
        seq: Seq::new(seq).unwrap(),
        class: Class::NONE,
        record: Arc::new(Record {
            at: Millis(7),
            run: None,
            origin: Origin::Agent,
            body: Body::Event {
                json: RawJson::from_value(&json!({ "type": "RAW", "event": "x".repeat(300) })),
                from_chunk: false,
            },
        }),
    };
    let entries: Vec<Entry> = (after + 1..=last).map(entry).collect();
    let tag = ThreadTag::new(&ThreadId::new("t").unwrap());
    Block::of_entries(&tag, Seq::new(after).unwrap(), &entries, usize::MAX)
}

/// A socket that blocks within a block is sent the rest as another one.
#[test]
fn an_entry_counts_once_however_often_a_block_with_it_is_made() {
    let whole = Sample::default().and(&block(100, 164));
    assert_eq!(whole.entries, 64);
    let again = whole.and(&block(110, 164)).and(&block(130, 164));
    assert_eq!((again.entries, again.bytes), (whole.entries, whole.bytes));
    let further = again.and(&block(150, 178));
    assert_eq!(further.entries, 78);
    let each = whole.bytes / 64;
    assert!((further.bytes / 78).abs_diff(each) <= 1, "{further:?}");
}

#[test]
fn a_sample_tells_what_follows_if_it_is_large_enough() {
    let sample = Sample::default().and(&block(0, 64));
    assert!(sample.tells(512) && !sample.tells(520));
    assert!(!Sample::default().and(&block(0, 63)).tells(64));
    assert!(Sample::default().and(&block(0, 20)).tells(20));
    assert_eq!(sample.estimate(640), sample.bytes * 10);
}
