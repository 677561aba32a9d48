use proptest::prelude::*;
use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_wire::hub_frame::ThreadTag;

use super::*;

fn seq(seq: u64) -> Seq {
    Seq::new(seq).unwrap()
}

/// A block with a text of so many bytes.
fn block(bytes: usize) -> Made {
    let event = json!({ "type": "RAW", "event": "x".repeat(bytes) });
    let record = Record {
        at: Millis(7),
        run: None,
        origin: Origin::Agent,
        body: Body::Event {
            json: RawJson::from_value(&event),
            from_chunk: false,
        },
    };
    let entry = Entry {
        seq: seq(1),
        class: Class::NONE,
        record: Arc::new(record),
    };
    let tag = ThreadTag::new(&ThreadId::new("t").unwrap());
    let block = Block::of_entries(&tag, Seq::ZERO, &[entry], usize::MAX);
    Made::Block(Arc::new(block))
}

/// The ranges from `cursor` to `head`.
fn walk(blocks: &mut Blocks, cursor: u64, head: u64) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    let mut cursor = seq(cursor);
    while cursor < seq(head) {
        let (range, _) = blocks.next(0, cursor, seq(head));
        assert_eq!(range.after, cursor);
        ranges.push((range.after.get(), range.last.get()));
        cursor = range.last;
    }
    ranges
}

#[test]
fn a_way_goes_over_the_largest_blocks_that_fit() {
    let ranges = walk(&mut Blocks::default(), 3, 5_300);
    let lengths: Vec<u64> = ranges.iter().map(|(after, last)| last - after).collect();
    let mut expected = vec![61];
    expected.extend([64; 7]);
    expected.extend([512; 7]);
    expected.extend([512, 512]);
    expected.extend([64, 64, 52]);
    assert_eq!(lengths, expected);
    let whole = walk(&mut Blocks::default(), 4_096, 8_192);
    assert_eq!(whole, [(4_096, 8_192)]);
}

#[test]
fn a_block_that_would_be_long_is_left_to_the_smaller_ones() {
    let mut blocks = Blocks::default();
    let (range, slot) = blocks.next(0, seq(512), seq(2000));
    assert_eq!(range.last, seq(1024));
    slot.set(Made::TooLong).unwrap();
    let ranges = walk(&mut blocks, 512, 1536);
    assert_eq!(ranges.len(), 9);
    assert_eq!(ranges[0], (512, 576));
    assert_eq!(ranges[8], (1024, 1536));
}

#[test]
fn another_log_shares_nothing() {
    let mut blocks = Blocks::default();
    let (_, slot) = blocks.next(1, seq(0), seq(64));
    let (_, again) = blocks.next(1, seq(0), seq(64));
    assert!(Arc::ptr_eq(&slot, &again));
    let (range, other) = blocks.next(2, seq(0), seq(64));
    assert!(!Arc::ptr_eq(&slot, &other));
    // What became of a range of the log before is not counted.
    blocks.made(1, range, &block(100));
    assert_eq!(blocks.bytes, PLACE_BYTES);
    blocks.made(2, range, &block(100));
    assert!(blocks.bytes > PLACE_BYTES + 100);
}

/// Goal: an event of megabytes neither costs others their blocks nor a copy for each who is sent it at the same time.
#[test]
fn a_block_too_long_to_be_kept_is_shared_while_it_is_sent_and_takes_no_place() {
    let mut blocks = Blocks::default();
    let (kept, _) = blocks.next(0, seq(0), seq(64));
    blocks.made(0, kept, &block(1000));
    let before = blocks.bytes;
    let (range, slot) = blocks.next(0, seq(64), seq(128));
    let long = block(2 * BLOCKS_BYTES);
    blocks.made(0, range, &long);
    slot.set(long.clone()).unwrap();
    drop(slot);
    assert_eq!(blocks.bytes, before + PLACE_BYTES);
    assert!(blocks.kept.contains_key(&kept));
    let again = |blocks: &mut Blocks| blocks.next(0, seq(64), seq(128)).1.get().cloned();
    let (Made::Block(long), Some(Made::Block(shared))) = (long, again(&mut blocks)) else {
        panic!("a copy of its own");
    };
    assert!(Arc::ptr_eq(&long, &shared));
    drop((long, shared));
    // Nobody sends it any more.
    assert!(again(&mut blocks).is_none());
}

/// While an engine fails, or whoever reads goes away, places are made that nothing comes of.
#[test]
fn places_of_blocks_that_are_never_made_are_bounded_too() {
    let mut blocks = Blocks::default();
    for at in 0..20_000 {
        let (range, slot) = blocks.next(0, seq(at), seq(at + 1));
        if at % 2 == 0 {
            blocks.failed(0, range, &slot);
            assert!(!blocks.kept.contains_key(&range));
        }
        assert!(blocks.bytes <= BLOCKS_BYTES);
        assert_eq!(blocks.bytes, blocks.kept.len() * PLACE_BYTES);
        assert_eq!(blocks.ages.len(), blocks.kept.len());
    }
    // What another one made meanwhile stays.
    let (range, slot) = blocks.next(0, seq(0), seq(64));
    blocks.failed(0, range, &Slot::default());
    assert!(Arc::ptr_eq(&blocks.next(0, seq(0), seq(64)).1, &slot));
}

proptest! {
    /// Whatever is asked for in whatever order, the places are counted right, and the ones asked for longest go.
    #[test]
    fn what_is_kept_is_bounded(cursors in prop::collection::vec((0_u64..40_000, 0_u64..9000), 1..200)) {
        let mut blocks = Blocks::default();
        for (cursor, behind) in cursors {
            let mut at = seq(cursor);
            let head = seq(cursor + behind);
            while at < head {
                let (range, _) = blocks.next(0, at, head);
                blocks.count(range, PLACE_BYTES + 9_000);
                prop_assert!(blocks.kept.contains_key(&range), "the newest stays");
                at = range.last;
            }
            prop_assert!(blocks.bytes <= BLOCKS_BYTES);
            prop_assert_eq!(blocks.bytes, blocks.kept.values().map(|kept| kept.bytes).sum::<usize>());
            prop_assert_eq!(blocks.ages.len(), blocks.kept.len());
        }
    }
}
