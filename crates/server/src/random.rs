//! Randomness for names that must not repeat.

/// `bytes` random bytes in hexadecimal.
///
/// # Panics
/// When the operating system has no randomness, without which no hub can run.
pub(crate) fn hex(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).expect("the operating system gives random bytes");
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number spread evenly over all of `u16`.
pub(crate) fn small() -> u16 {
    let mut random = [0; 2];
    getrandom::fill(&mut random).expect("the operating system gives random bytes");
    u16::from_le_bytes(random)
}
