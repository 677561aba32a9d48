use super::*;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A heartbeat under the default limits, and the time of its beginning.
fn beating() -> (Heartbeat, Instant, Limits) {
    let start = Instant::now();
    let limits = Limits::default();
    (Heartbeat::new(limits.heartbeat, start), start, limits)
}

/// Sends the ping that is due at `now`.
fn ping(heartbeat: &mut Heartbeat, limits: &Limits, now: Instant) {
    assert_eq!(heartbeat.check(limits, now), Beat::Ping);
    heartbeat.offered(now, true, false, true);
}

#[test]
fn pings_follow_the_interval() {
    let (mut heartbeat, start, limits) = beating();
    assert_eq!(heartbeat.check(&limits, start + seconds(24)), Beat::Wait);
    assert_eq!(heartbeat.deadline(&limits), start + seconds(25));
    ping(&mut heartbeat, &limits, start + seconds(25));
    heartbeat.received();
    assert_eq!(heartbeat.deadline(&limits), start + seconds(50));
}

#[test]
fn a_quiet_line_is_dead_ten_seconds_after_a_ping() {
    let (mut heartbeat, start, limits) = beating();
    ping(&mut heartbeat, &limits, start + seconds(25));
    heartbeat.received();
    // Nothing but pings was written for more than 30 s.
    ping(&mut heartbeat, &limits, start + seconds(50));
    assert_eq!(heartbeat.deadline(&limits), start + seconds(60));
    assert_eq!(
        heartbeat.check(&limits, start + seconds(60)),
        Beat::Dead(Death::Unanswered)
    );
}

#[test]
fn a_busy_line_is_dead_ninety_seconds_after_a_ping() {
    let (mut heartbeat, start, limits) = beating();
    for at in [25, 50, 75, 100] {
        heartbeat.wrote(start + seconds(at - 1));
        ping(&mut heartbeat, &limits, start + seconds(at));
    }
    assert_eq!(heartbeat.check(&limits, start + seconds(114)), Beat::Wait);
    assert_eq!(
        heartbeat.check(&limits, start + seconds(115)),
        Beat::Dead(Death::Silent)
    );
}

#[test]
fn a_ping_that_waits_for_the_socket_starts_no_clock() {
    let (mut heartbeat, start, limits) = beating();
    assert_eq!(heartbeat.check(&limits, start + seconds(25)), Beat::Ping);
    heartbeat.offered(start + seconds(25), false, true, false);
    // One ping waits, so no other one is sent.
    assert_eq!(heartbeat.check(&limits, start + seconds(50)), Beat::Wait);
    heartbeat.offered(start + seconds(60), true, true, false);
    assert_eq!(heartbeat.check(&limits, start + seconds(144)), Beat::Wait);
    assert_eq!(
        heartbeat.check(&limits, start + seconds(180)),
        Beat::Dead(Death::Stuck)
    );
}

#[test]
fn a_socket_that_takes_a_byte_now_and_then_lives() {
    let (mut heartbeat, start, limits) = beating();
    for at in 0..20 {
        let now = start + seconds(at * 100);
        assert_ne!(heartbeat.check(&limits, now), Beat::Dead(Death::Stuck));
        heartbeat.offered(now, true, true, false);
        heartbeat.received();
    }
}

#[test]
fn the_clock_stands_while_the_hub_does_not_read() {
    let (mut heartbeat, start, limits) = beating();
    heartbeat.wrote(start + seconds(20));
    ping(&mut heartbeat, &limits, start + seconds(25));
    heartbeat.pause(start + seconds(30));
    heartbeat.pause(start + seconds(100));
    for at in [50, 75, 100, 150, 200] {
        assert_ne!(
            heartbeat.check(&limits, start + seconds(at)),
            Beat::Dead(Death::Silent)
        );
    }
    heartbeat.resume(start + seconds(230));
    assert_eq!(heartbeat.check(&limits, start + seconds(314)), Beat::Wait);
    assert_eq!(
        heartbeat.check(&limits, start + seconds(315)),
        Beat::Dead(Death::Silent)
    );
}
