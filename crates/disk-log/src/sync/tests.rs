//! When a sync is due, with the time as an argument.

use super::*;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// When it is due after `start`, for what was written at `oldest` after a sync at `last`.
fn due_after(start: Instant, oldest: u64, is_awaited: bool, last: Option<u64>) -> Duration {
    let pending = Pending {
        oldest: Some(start + ms(oldest)),
        is_awaited,
        last_began: last.map(|last| start + ms(last)),
    };
    due(&pending).unwrap() - start
}

#[test]
fn nothing_is_synced_while_nothing_is_unsynced() {
    let pending = Pending {
        is_awaited: true,
        last_began: Some(Instant::now()),
        ..Pending::default()
    };
    assert_eq!(due(&pending), None);
}

#[test]
fn who_waits_is_served_at_once() {
    let start = Instant::now();
    assert_eq!(due_after(start, 100, true, None), ms(100));
    assert_eq!(due_after(start, 100, true, Some(50)), ms(100));
}

#[test]
fn syncs_are_ten_milliseconds_apart() {
    let start = Instant::now();
    assert_eq!(due_after(start, 103, true, Some(100)), ms(110));
    assert_eq!(due_after(start, 100, true, Some(99)), ms(109));
}

#[test]
fn what_nobody_waits_for_is_synced_within_200_milliseconds() {
    let start = Instant::now();
    assert_eq!(due_after(start, 100, false, None), ms(300));
    assert_eq!(due_after(start, 100, false, Some(95)), ms(300));
}
