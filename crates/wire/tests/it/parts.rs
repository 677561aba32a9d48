//! Long frames in pieces: cut anywhere, joined to the same text.

use proptest::prelude::*;
use threadcast_agui::ids::ThreadId;
use threadcast_wire::hub_frame::{HubFrame, ThreadTag, write_part};
use threadcast_wire::part::{PartError, PartJoiner, pieces};

/// Sends `frame` as parts and joins what is read from them.
fn through_parts(frame: &str, piece_bytes: usize) -> String {
    let tag = ThreadTag::new(&ThreadId::new("t").unwrap());
    let mut joiner = PartJoiner::new(frame.len());
    let pieces: Vec<&str> = pieces(frame, piece_bytes).collect();
    let mut joined = None;
    for (n, piece) in (1..).zip(&pieces) {
        assert!(joined.is_none(), "the last part came before part {n}");
        let mut out = Vec::new();
        write_part(&mut out, &tag, n, n == pieces.len() as u64, piece);
        let HubFrame::Part { n, last, text, .. } =
            HubFrame::read(std::str::from_utf8(&out).unwrap()).unwrap()
        else {
            panic!("a part is read as one");
        };
        joined = joiner.push(n, last, &text).unwrap();
    }
    joined.unwrap()
}

proptest! {
    #[test]
    fn pieces_join_to_the_frame(frame in ".{1,400}", piece_bytes in 4_usize..64) {
        prop_assert!(pieces(&frame, piece_bytes).all(|piece| !piece.is_empty() && piece.len() <= piece_bytes));
        prop_assert_eq!(through_parts(&frame, piece_bytes), frame);
    }
}

#[test]
fn a_missing_part_is_told_and_what_was_held_is_dropped() {
    let mut joiner = PartJoiner::new(100);
    assert_eq!(joiner.push(1, false, "a"), Ok(None));
    assert_eq!(
        joiner.push(3, true, "c"),
        Err(PartError::Gap {
            expected: 2,
            found: 3
        })
    );
    assert_eq!(
        joiner.push(2, true, "b"),
        Err(PartError::Gap {
            expected: 1,
            found: 2
        })
    );
}

#[test]
fn a_first_part_begins_anew() {
    let mut joiner = PartJoiner::new(100);
    assert_eq!(joiner.push(1, false, "old"), Ok(None));
    assert_eq!(joiner.push(1, false, "ne"), Ok(None));
    assert_eq!(joiner.push(2, true, "w"), Ok(Some("new".to_owned())));
    assert_eq!(joiner.push(1, true, "next"), Ok(Some("next".to_owned())));
}

#[test]
fn parts_join_up_to_the_bound_and_no_further() {
    let mut joiner = PartJoiner::new(3);
    assert_eq!(joiner.push(1, false, "abc"), Ok(None));
    assert_eq!(
        joiner.push(2, true, "d"),
        Err(PartError::TooLong { found: 4, max: 3 })
    );
    assert_eq!(joiner.push(1, true, "abc"), Ok(Some("abc".to_owned())));
}

#[test]
fn dropped_parts_do_not_come_back() {
    let mut joiner = PartJoiner::new(100);
    assert_eq!(joiner.push(1, false, "a"), Ok(None));
    joiner.clear();
    assert_eq!(
        joiner.push(2, true, "b"),
        Err(PartError::Gap {
            expected: 1,
            found: 2
        })
    );
}
