//! Entries of a log between two places, read in pieces.
//!
//! For what the fold at the head does not hold; it is not how a log is followed.

use std::ops::RangeInclusive;

use threadcast_hub::live_thread::LiveThread;
use threadcast_thread_log::engine::ReadLimit;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;

/// Bounds of one read.
const READ: ReadLimit = ReadLimit {
    entries: 1024,
    bytes: 1 << 20,
};

/// Whether a range was read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadTo {
    End,
    /// The reads were used up, or the log ends earlier.
    Within,
}

/// Gives `each` the entries of the range, as far as `reads_max` reads go.
///
/// # Errors
/// The engine failed.
pub(super) async fn each_entry(
    live: &LiveThread,
    range: RangeInclusive<Seq>,
    reads_max: usize,
    mut each: impl FnMut(&Entry),
) -> Result<ReadTo, EngineError> {
    let last = *range.end();
    let before = range.start().get().saturating_sub(1);
    let mut at = Seq::new(before).expect("what is less than a seq is one");
    for _ in 0..reads_max {
        if at >= last {
            break;
        }
        let entries = live.read(at, READ).await?;
        let Some(end) = entries.last() else {
            break;
        };
        at = end.seq;
        entries
            .iter()
            .take_while(|entry| entry.seq <= last)
            .for_each(&mut each);
    }
    Ok(if at >= last {
        ReadTo::End
    } else {
        ReadTo::Within
    })
}
