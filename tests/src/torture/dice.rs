//! Random choices that a seed repeats.

use std::time::Duration;

/// A generator (splitmix64): small, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Other dice for something that has a name: the same for the same seed and name.
    #[must_use]
    pub fn of(seed: u64, name: &str) -> Self {
        let mix = |mixed: u64, byte: u8| (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    /// Whether something happens that happens `percent` times of a hundred.
    pub fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A time shorter than `end_ms`.
    pub fn pause(&mut self, end_ms: u64) -> Duration {
        Duration::from_millis(self.below(end_ms))
    }
}
