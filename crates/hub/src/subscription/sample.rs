//! What entries take when they are compacted, told by those that were, to guess what the rest will take.

use threadcast_thread_log::position::Seq;

use crate::block::Block;
use crate::defaults::{SAMPLE_ENTRIES, SAMPLE_SHARE};

/// Entries that were compacted, and bytes of the frames that stand for them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    entries: u64,
    bytes: u64,
    /// The last of them.
    until: Seq,
}

impl Sample {
    /// With what this block has beyond it: of one that the socket took half of, the rest comes in another.
    pub(super) fn and(self, block: &Block) -> Self {
        let all = block.last().get() - block.after().get();
        let new = block.last().get().saturating_sub(self.until.get()).min(all);
        Self {
            entries: self.entries + new,
            bytes: self.bytes + (block.bytes() as u64).saturating_mul(new) / all.max(1),
            until: self.until.max(block.last()),
        }
    }

    /// Whether enough is known to tell what so many entries more will take.
    pub(super) fn tells(self, entries: u64) -> bool {
        self.entries >= entries.min(SAMPLE_ENTRIES.max(entries / SAMPLE_SHARE))
    }

    /// Bytes that so many entries more will take.
    pub(super) fn estimate(self, entries: u64) -> u64 {
        self.bytes.saturating_mul(entries) / self.entries.max(1)
    }
}

#[cfg(test)]
mod tests;
