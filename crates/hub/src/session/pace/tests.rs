use super::*;

/// A pace that is told what became of a write at some millisecond.
struct Told {
    pace: Pace,
    start: Instant,
}

impl Told {
    fn new() -> Self {
        let start = Instant::now();
        Self {
            pace: Pace::new(start),
            start,
        }
    }

    fn at(&mut self, ms: u64) -> &mut Pace {
        self.pace.tick(self.start + Duration::from_millis(ms));
        &mut self.pace
    }

    /// The milliseconds from `from` to `to` at which rounds begin, if one always waits.
    fn rounds(&mut self, from: u64, to: u64) -> Vec<u64> {
        let mut rounds = Vec::new();
        for ms in from..to {
            let pace = self.at(ms);
            if pace.may_begin() {
                pace.begin();
                rounds.push(ms);
            } else {
                assert!(
                    pace.deadline().is_some(),
                    "it is told when the next one is due"
                );
            }
        }
        rounds
    }

    fn block(&mut self, from: u64, to: u64) {
        self.at(from).offered(true);
        self.at(to).offered(false);
    }
}

#[test]
fn a_socket_that_takes_bytes_is_never_slow() {
    let mut told = Told::new();
    told.at(0).offered(false);
    assert_eq!(told.rounds(0, 50).len(), 50);
    assert!(!told.at(50).is_slow());
}

#[test]
fn a_blocked_socket_begins_nothing_and_waits_for_nothing_but_itself() {
    let mut told = Told::new();
    told.at(10).offered(true);
    let pace = told.at(60_000);
    assert!(pace.is_slow() && !pace.may_begin());
    assert_eq!(pace.deadline(), None);
}

#[test]
fn rounds_begin_every_250_ms_until_the_socket_was_free_for_2_s() {
    let mut told = Told::new();
    told.block(10, 1_000);
    let rounds = told.rounds(1_000, 3_010);
    let slow = [1_000, 1_250, 1_500, 1_750, 2_000, 2_250, 2_500, 2_750];
    assert_eq!(rounds[..8], slow);
    // Then whenever there is something.
    assert_eq!(rounds[8..], (3_000..3_010).collect::<Vec<_>>());
}

#[test]
fn a_socket_that_blocks_in_a_round_stays_slow_from_then_on() {
    let mut told = Told::new();
    told.block(0, 100);
    told.block(1_900, 2_000);
    assert!(told.at(3_999).is_slow());
    assert!(!told.at(4_000).is_slow());
}

#[test]
fn who_blocks_again_soon_is_slow_for_longer_and_at_last_forgiven() {
    let mut told = Told::new();
    let (mut now, mut waits) = (0, Vec::new());
    for _ in 0..4 {
        told.block(now, now + 100);
        let free = now + 100;
        now = (free..)
            .find(|ms| !told.at(*ms).is_slow())
            .unwrap_or_default();
        waits.push(now - free);
    }
    assert_eq!(waits, [2_000, 8_000, 32_000, 32_000]);
    now += 32_000;
    told.block(now, now + 100);
    assert!(!told.at(now + 2_100).is_slow());
}
