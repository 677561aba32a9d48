//! A log store that does not answer: since when, and how long to wait before it is asked again.

use std::time::Duration;

use tokio::time::Instant;

/// Bound of the first wait; it doubles up to the cap.
const FIRST: Duration = Duration::from_millis(50);
const CAP: Duration = Duration::from_secs(2);

/// Failures in a row.
#[derive(Debug)]
pub(crate) struct Outage {
    pub(crate) since: Instant,
    failures: u32,
}

impl Outage {
    pub(crate) fn begin() -> Self {
        Self {
            since: Instant::now(),
            failures: 0,
        }
    }

    /// The wait after one more failure: half the bound and up to half again at random, so that
    /// owners do not come in step.
    pub(crate) fn wait(&mut self, random: u16) -> Duration {
        let bound = FIRST
            .saturating_mul(2_u32.saturating_pow(self.failures))
            .min(CAP);
        self.failures = self.failures.saturating_add(1);
        bound / 2 + bound * u32::from(random) / (2 * u32::from(u16::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_the_cap_and_never_vanish() {
        let mut outage = Outage::begin();
        let longest: Vec<_> = (0..8).map(|_| outage.wait(u16::MAX).as_millis()).collect();
        assert_eq!(longest, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(Outage::begin().wait(0), FIRST / 2);
    }
}
