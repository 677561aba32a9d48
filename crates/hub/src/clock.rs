//! The wall clock, read here alone.

use std::time::{SystemTime, UNIX_EPOCH};

use threadcast_thread_log::entry::Millis;

/// Now, in milliseconds since 1970; its beginning for a clock that stands before it.
pub fn now() -> Millis {
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Millis(u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX))
}
