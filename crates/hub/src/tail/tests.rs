use proptest::prelude::*;

use super::*;

/// A frame whose bytes tell its seq and its length.
fn frame(seq: u64, length: usize) -> Vec<u8> {
    let mut frame = vec![u8::try_from(seq % 251).unwrap(); length];
    frame[length / 2] = u8::try_from(length % 251).unwrap();
    frame
}

#[derive(Clone, Debug)]
enum Push {
    Frames(Vec<usize>),
    Long(usize),
}

fn pushes() -> impl Strategy<Value = Vec<Push>> {
    let push = prop_oneof![
        6 => prop::collection::vec(1..400_usize, 1..20).prop_map(Push::Frames),
        2 => prop::collection::vec(5_000..40_000_usize, 1..4).prop_map(Push::Frames),
        1 => (70_000..90_000_usize).prop_map(Push::Long),
    ];
    prop::collection::vec(push, 1..60)
}

/// All frames in order, and whether each is a long one.
fn filled(tail: &mut Tail, pushes: &[Push]) -> Vec<(Vec<u8>, bool)> {
    let mut all = Vec::new();
    for push in pushes {
        let seq = all.len() as u64;
        match push {
            Push::Frames(lengths) => {
                let frames: Vec<_> = lengths
                    .iter()
                    .zip(1..)
                    .map(|(length, at)| frame(seq + at, *length))
                    .collect();
                let bytes = frames.concat();
                let mut end = 0;
                let ends = frames.iter().map(|frame| {
                    end += frame.len();
                    u32::try_from(end).unwrap()
                });
                tail.push(vec![Encoded::Frames {
                    ends: ends.collect(),
                    bytes,
                }]);
                all.extend(frames.into_iter().map(|frame| (frame, false)));
            }
            Push::Long(length) => {
                let text = frame(seq + 1, *length);
                tail.push(vec![Encoded::Long(text.clone().into())]);
                all.push((text, true));
            }
        }
    }
    all
}

fn seq(seq: usize) -> Seq {
    Seq::new(seq as u64).unwrap()
}

proptest! {
    #[test]
    fn every_cursor_reads_the_frames_after_it(
        pushes in pushes(), cursor in any::<prop::sample::Index>(), bytes in 1..80_000_usize, ahead in 0..200_usize,
        slices in 1..10_usize,
    ) {
        let mut tail = Tail::new(Seq::ZERO, 256 << 10);
        let all = filled(&mut tail, &pushes);
        prop_assert_eq!(tail.head(), seq(all.len()));
        let oldest = tail.chunks.front().map_or(0, |oldest| oldest.bytes.len());
        prop_assert!(tail.bytes - oldest < tail.bytes_kept, "the oldest chunk is needed to fill the tail");
        let left: usize = all.iter().skip(usize::try_from(tail.start.get()).unwrap()).map(|(frame, _)| frame.len()).sum();
        prop_assert_eq!(tail.bytes, left);
        prop_assert!(tail.start == Seq::ZERO || tail.bytes >= tail.bytes_kept, "a frame left too early");
        let cursor = cursor.index(all.len() + 1);
        let until = seq(cursor + ahead);
        let mut out = Vec::new();
        let taken = tail.slices_after(seq(cursor), Budget { until, bytes, slices }, &mut out);
        match taken {
            Err(TooOld) => prop_assert!(seq(cursor) < tail.start),
            Ok(Taken::CaughtUp) => prop_assert!(cursor == all.len() || ahead == 0),
            Ok(Taken::Long { seq: at, text }) => {
                prop_assert_eq!(at, seq(cursor + 1));
                prop_assert_eq!((text.to_vec(), true), all[cursor].clone());
            }
            Ok(Taken::Frames { last, bytes: taken }) => {
                let last = usize::try_from(last.get()).unwrap();
                prop_assert!(last > cursor && last <= cursor + ahead && out.len() <= slices);
                prop_assert!(taken <= bytes || last == cursor + 1);
                let expected: Vec<u8> = all[cursor..last].iter().flat_map(|(frame, _)| frame.clone()).collect();
                prop_assert!(all[cursor..last].iter().all(|(_, is_long)| !is_long));
                prop_assert_eq!(out.concat(), expected);
                let is_stopped = last == all.len() || last == cursor + ahead || out.len() == slices
                    || all[last].1 || taken + all[last].0.len() > bytes;
                prop_assert!(is_stopped, "stopped at {last} without a reason");
            }
        }
    }

    /// Whatever came how, a full read is a few slices.
    #[test]
    fn a_range_is_a_few_slices(lengths in prop::collection::vec(100..300_usize, 1..2_000)) {
        let mut tail = Tail::new(Seq::ZERO, 512 << 10);
        filled(&mut tail, &lengths.iter().map(|length| Push::Frames(vec![*length])).collect::<Vec<_>>());
        // Full chunks hold more than half their bound, the rest halves from one to the next.
        prop_assert!(tail.chunks.len() <= 512 / 32 + 12, "{} chunks", tail.chunks.len());
    }
}

#[test]
fn a_tail_forgets_its_oldest_frames() {
    let mut tail = Tail::new(Seq::ZERO, 100_000);
    filled(
        &mut tail,
        &[Push::Long(80_000), Push::Long(80_000), Push::Long(80_000)],
    );
    let mut out = Vec::new();
    let all = Budget {
        until: Seq::MAX,
        bytes: usize::MAX,
        slices: 64,
    };
    assert_eq!(tail.slices_after(Seq::ZERO, all, &mut out), Err(TooOld));
    assert!(matches!(
        tail.slices_after(seq(1), all, &mut out),
        Ok(Taken::Long { .. })
    ));
}

/// Whoever is due it takes it from here, and all have the same copy.
#[test]
fn an_event_longer_than_the_tail_stays_until_others_fill_it() {
    let mut tail = Tail::new(Seq::ZERO, 100_000);
    filled(
        &mut tail,
        &[
            Push::Frames(vec![300]),
            Push::Long(900_000),
            Push::Frames(vec![300, 300]),
        ],
    );
    let all = Budget {
        until: Seq::MAX,
        bytes: usize::MAX,
        slices: 64,
    };
    let taken = |tail: &Tail| tail.slices_after(seq(1), all, &mut Vec::new());
    assert!(matches!(taken(&tail), Ok(Taken::Long { text, .. }) if text.len() == 900_000));
    let small = vec![Encoded::Frames {
        bytes: frame(5, 50_000),
        ends: vec![50_000],
    }];
    tail.push(small);
    assert!(matches!(taken(&tail), Ok(Taken::Long { .. })));
    let small = vec![Encoded::Frames {
        bytes: frame(6, 50_000),
        ends: vec![50_000],
    }];
    tail.push(small);
    assert_eq!(taken(&tail), Err(TooOld));
}

#[test]
fn a_cursor_ahead_of_the_tail_waits() {
    let tail = Tail::new(seq(5), 1000);
    let all = Budget {
        until: Seq::MAX,
        bytes: usize::MAX,
        slices: 64,
    };
    assert_eq!(
        tail.slices_after(seq(7), all, &mut Vec::new()),
        Ok(Taken::CaughtUp)
    );
}
