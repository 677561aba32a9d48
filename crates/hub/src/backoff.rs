//! Waits between tries at something that is away for now: each up to twice the one before, none the same on two nodes.

use std::time::Duration;

use crate::defaults::{AWAY_FIRST, AWAY_MAX};
use crate::random;

#[derive(Debug)]
pub(crate) struct Backoff {
    longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            longest: AWAY_FIRST,
        }
    }
}

impl Backoff {
    /// How long to wait before the next try: at least half of what it may be by now.
    pub(crate) fn next(&mut self) -> Duration {
        let half = self.longest / 2;
        self.longest = (self.longest * 2).min(AWAY_MAX);
        half + random::spread(half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..20).map(|_| backoff.next()).collect();
        assert!(
            waits[0] >= AWAY_FIRST / 2 && waits[0] <= AWAY_FIRST,
            "{waits:?}"
        );
        assert!(waits[19] >= AWAY_MAX / 2, "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= AWAY_MAX), "{waits:?}");
    }
}
