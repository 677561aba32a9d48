//! How long to wait between attempts to connect, or to subscribe to a thread that is refused for
//! now: full jitter under a growing bound with a cap.
//!
//! Knows no clock and no randomness; the caller sleeps and brings the random number.
//!
//! Invariant: a wait is at most `base · 2^failures` and at most `cap`.

use std::time::Duration;

/// The bounds of the waits between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Bound of the wait after the first failure; default 250 ms.
    pub base: Duration,
    /// Bound of every wait; default 30 s.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(250),
            cap: Duration::from_secs(30),
        }
    }
}

/// Counts failures in a row.
#[derive(Debug)]
pub(crate) struct Failures {
    backoff: Backoff,
    count: u32,
}

impl Failures {
    pub(crate) fn new(backoff: Backoff) -> Self {
        Self { backoff, count: 0 }
    }

    /// The wait after one more failure; `random` is spread evenly over all of `u64`.
    pub(crate) fn wait(&mut self, random: u64) -> Duration {
        let factor = 2_u32.saturating_pow(self.count);
        let bound = self
            .backoff
            .base
            .saturating_mul(factor)
            .min(self.backoff.cap);
        self.count = self.count.saturating_add(1);
        let nanos = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        let spread = (u128::from(nanos) * u128::from(random)) >> 64;
        Duration::from_nanos(
            u64::try_from(spread).expect("a product of two u64, shifted by 64, fits u64"),
        )
    }

    pub(crate) fn reset(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_doubles_up_to_the_cap_and_starts_over_after_success() {
        let mut failures = Failures::new(Backoff {
            base: Duration::from_millis(100),
            cap: Duration::from_millis(500),
        });
        let mut longest = || failures.wait(u64::MAX).as_millis();
        assert_eq!(
            [longest(), longest(), longest(), longest(), longest()],
            [99, 199, 399, 499, 499]
        );
        failures.reset();
        assert_eq!(failures.wait(u64::MAX).as_millis(), 99);
    }

    #[test]
    fn a_wait_is_anything_from_nothing_to_the_bound() {
        let wait = |random| Failures::new(Backoff::default()).wait(random);
        assert_eq!(wait(0), Duration::ZERO);
        assert_eq!(wait(u64::MAX / 2).as_millis(), 124);
    }

    #[test]
    fn many_failures_do_not_overflow() {
        let mut failures = Failures::new(Backoff {
            base: Duration::from_secs(1),
            cap: Duration::MAX,
        });
        for _ in 0..100 {
            failures.wait(u64::MAX);
        }
        assert!(failures.wait(u64::MAX) > Duration::from_secs(1_000_000));
    }
}
