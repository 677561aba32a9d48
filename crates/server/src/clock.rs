//! The wall clock, read here alone.

use std::time::{SystemTime, UNIX_EPOCH};

use threadcast_thread_log::entry::Millis;

/// Now; the beginning of 1970 for a clock before it.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
