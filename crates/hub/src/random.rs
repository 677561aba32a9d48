//! Random names and spreads; not for keys.

use std::time::Duration;

/// 128 random bits in hexadecimal: a connection, a lease token, an attempt.
pub(crate) fn name() -> String {
    let mut bytes = [0; 16];
    fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A time from zero to `max`, evenly spread.
pub(crate) fn spread(max: Duration) -> Duration {
    let mut bytes = [0; 4];
    fill(&mut bytes);
    max.mul_f64(f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX))
}

fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system has random numbers");
}
