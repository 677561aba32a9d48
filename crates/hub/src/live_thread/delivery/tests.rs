use super::*;

fn seq(seq: u64) -> Seq {
    Seq::new(seq).unwrap()
}

#[test]
fn what_the_engine_holds_beyond_the_fold_is_not_sent() {
    let mut delivery = Delivery::default();
    let mut place = delivery.place();
    delivery.skip_to(seq(20));
    place.cursor = seq(3);
    let step = delivery.step(&place, Serve::Entries, 1000, 10, &mut Vec::new());
    let behind = |is_compacted| Step::Behind {
        until: seq(20),
        is_compacted,
        is_all: true,
    };
    assert_eq!(step, behind(false));
    let step = delivery.step(&place, Serve::Near, 1000, 10, &mut Vec::new());
    assert_eq!(step, behind(true));
}

/// Goal: an event of megabytes is encoded once, whoever is behind and wherever. Method: a tail with a long frame in it,
/// and cursors around it.
#[test]
fn a_long_frame_that_the_tail_holds_is_never_made_again_for_who_is_behind() {
    let ready = |count: usize| Encoded::Frames {
        bytes: b"\x81\x01x".repeat(count),
        ends: (1..=count)
            .map(|at| u32::try_from(at * 3).unwrap())
            .collect(),
    };
    let long = Bytes::from("x".repeat(1000));
    let mut delivery = Delivery::default();
    delivery.push(vec![ready(40), Encoded::Long(long.clone()), ready(40)]);
    let mut place = delivery.place();
    for serve in [Serve::Near, Serve::CatchingUp, Serve::Slow] {
        for (cursor, until, is_all) in [(10, 40, false), (39, 40, false), (41, 81, true)] {
            place.cursor = seq(cursor);
            let step = delivery.step(&place, serve, 1000, 10, &mut Vec::new());
            if serve != Serve::Near {
                let is_compacted = true;
                let until = seq(until);
                let behind = Step::Behind {
                    until,
                    is_compacted,
                    is_all,
                };
                assert_eq!(step, behind, "after {cursor}");
            }
        }
        place.cursor = seq(40);
        let step = delivery.step(&place, serve, 1000, 10, &mut Vec::new());
        let Step::Long { text, .. } = &step else {
            panic!("{step:?}");
        };
        assert_eq!(text.as_ptr(), long.as_ptr(), "the same for all");
    }
}
