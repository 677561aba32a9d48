use std::time::Duration;

use threadcast_thread_log::lease::{LeaseToken, NodeId};

use super::*;

fn thread() -> ThreadId {
    ThreadId::new("t").unwrap()
}

fn reading(beat: u64) -> Reading {
    Reading {
        lease: Some(Lease {
            token: LeaseToken("one".into()),
            node: NodeId("n1".into()),
            beat,
        }),
        due: Millis(1),
    }
}

/// At which of the seconds a lease is seized that is read in all of them, the beat being what
/// `beat` says.
fn seized(seconds: impl Iterator<Item = u64>, beat: impl Fn(u64) -> u64) -> Option<u64> {
    let (mut readings, start) = (Readings::default(), Instant::now());
    let mut still = seconds.filter(|second| {
        readings.note(
            &thread(),
            reading(beat(*second)),
            start + Duration::from_secs(*second),
        )
    });
    still.next()
}

#[test]
fn a_lease_that_stands_still_is_seized_after_its_time() {
    assert_eq!(seized(0..100, |_| 1), Some(15));
}

#[test]
fn few_readings_are_not_enough_however_far_apart() {
    assert_eq!(seized([0, 60].into_iter(), |_| 1), None);
    assert_eq!(seized([0, 60, 61].into_iter(), |_| 1), None);
    assert_eq!(seized([0, 60, 65].into_iter(), |_| 1), Some(65));
}

#[test]
fn a_beat_in_time_keeps_the_lease() {
    assert_eq!(seized(0..1000, |second| second / 14), None);
    assert_eq!(seized(0..100, |second| second.min(40)), Some(55));
}

#[test]
fn a_reading_that_failed_counts_for_nothing() {
    let (mut readings, start) = (Readings::default(), Instant::now());
    let mut at = |second, is_failing: bool| {
        if is_failing {
            readings.failed(&thread());
            return false;
        }
        readings.note(&thread(), reading(1), start + Duration::from_secs(second))
    };
    assert!((0..15).all(|second| !at(second, second == 14)));
    assert!((15..30).all(|second| !at(second, false)));
    assert!(at(30, false));
}

#[test]
fn work_that_moved_was_not_still() {
    let (mut readings, start) = (Readings::default(), Instant::now());
    for second in 0..60 {
        let free = Reading {
            lease: None,
            due: Millis(second / 10),
        };
        assert!(!readings.note(&thread(), free, start + Duration::from_secs(second)));
    }
}
