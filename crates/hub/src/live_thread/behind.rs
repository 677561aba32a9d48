//! Frames for viewers that are behind: entries as the engine holds them, or compacted, made once for all who need the
//! same range.

use std::sync::Arc;

use threadcast_thread_log::engine::ReadLimit;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;

use super::LiveThread;
use crate::baseline::write_baseline;
use crate::block::Block;
use crate::blocks::{Made, Range};
use crate::defaults::{BLOCK_BYTES_MAX, CATCH_UP_LIMIT, LOAD_LIMIT};
use crate::history::FoldAtError;

/// Why there is no block.
#[derive(Debug)]
enum NotMade {
    Engine(EngineError),
    /// The log does not hold what comes first in it.
    Gone,
}

impl LiveThread {
    /// What some of the entries after `after` up to `until` amount to, at least the next one; `None` if that is gone.
    ///
    /// `generation` is that of the log in which `after` is a place.
    ///
    /// Cancel safe: who waits for the same block makes it instead.
    ///
    /// # Errors
    /// The engine failed.
    pub(crate) async fn compacted(
        &self,
        generation: u32,
        after: Seq,
        until: Seq,
    ) -> Result<Option<Arc<Block>>, EngineError> {
        loop {
            let (range, slot) = self.0.blocks.lock().next(generation, after, until);
            let made = slot.get_or_try_init(|| self.make_counted(generation, range));
            let failed = match made.await.cloned() {
                Ok(Made::Block(block)) => return Ok(Some(block)),
                Ok(Made::TooLong) => continue,
                Err(failed) => failed,
            };
            self.0.blocks.lock().failed(generation, range, &slot);
            return match failed {
                NotMade::Gone => Ok(None),
                NotMade::Engine(error) => Err(error),
            };
        }
    }

    /// The next entries after `after` up to `until`, each by itself; `None` if they are gone.
    ///
    /// # Errors
    /// The engine failed.
    pub(crate) async fn as_they_are(
        &self,
        after: Seq,
        until: Seq,
    ) -> Result<Option<Arc<Block>>, EngineError> {
        let entries = self.read(after, CATCH_UP_LIMIT).await?;
        let entries = following(&entries, after, until);
        let block = Block::of_entries(self.tag(), after, entries, self.0.threads.part_over_bytes());
        Ok((!entries.is_empty()).then(|| Arc::new(block.cut())))
    }

    /// What was trimmed from the log, as the baseline of whoever is to read every entry that is kept; `None` if nothing was.
    ///
    /// # Errors
    /// The engine failed.
    pub(crate) async fn edge(&self) -> Result<Option<Arc<Block>>, EngineError> {
        let head = self.0.engine().head(self.thread()).await?;
        self.0.trimmed(head.first);
        let edge = Seq::new(head.first.get() - 1).expect("it is one less");
        if edge == Seq::ZERO {
            // Whoever asked thought otherwise: the log may be another one.
            self.0.catch_up().await?;
            return Ok(None);
        }
        let fold = match self.0.threads.fold_at(self.thread(), edge).await {
            Ok(fold) => fold,
            Err(FoldAtError::Engine(error)) => return Err(error),
            // It was trimmed or replaced just now.
            Err(error) => return Err(EngineError::Unavailable(error.into())),
        };
        let payload = |out: &mut Vec<u8>| write_baseline(out, &fold, self.tag());
        let block = Block::of_frame(edge, self.0.threads.part_over_bytes(), payload);
        Ok(Some(Arc::new(block)))
    }

    async fn make_counted(&self, generation: u32, range: Range) -> Result<Made, NotMade> {
        let made = self.make(range).await?;
        self.0.blocks.lock().made(generation, range, &made);
        Ok(made)
    }

    async fn make(&self, range: Range) -> Result<Made, NotMade> {
        let Range { after, last } = range;
        let limit = ReadLimit {
            entries: usize::try_from(last.get() - after.get()).unwrap_or(LOAD_LIMIT.entries),
            bytes: LOAD_LIMIT.bytes,
        };
        let entries = self.read(after, limit).await.map_err(NotMade::Engine)?;
        let entries = following(&entries, after, last);
        let Some(end) = entries.last() else {
            return Err(NotMade::Gone);
        };
        if end.seq < last && range.has_smaller() {
            return Ok(Made::TooLong);
        }
        let block = self.block(after, entries);
        if block.bytes() <= BLOCK_BYTES_MAX {
            return Ok(Made::Block(Arc::new(block.cut())));
        }
        if range.has_smaller() {
            return Ok(Made::TooLong);
        }
        let block = self.shorter(block, entries);
        Ok(Made::Block(Arc::new(block.cut())))
    }

    fn block(&self, after: Seq, entries: &[Entry]) -> Block {
        Block::compacted(self.tag(), after, entries, self.0.threads.part_over_bytes())
    }

    /// The long block of `entries`, or one of the first few of them that is not long. Where fewer entries would not be much
    /// shorter, they stay together: of states or activities that take each other's place one is sent.
    fn shorter(&self, mut block: Block, mut entries: &[Entry]) -> Block {
        while block.bytes() > BLOCK_BYTES_MAX && entries.len() > 1 {
            entries = &entries[..entries.len() / 2];
            let half = self.block(block.after(), entries);
            if half.bytes() > block.bytes() / 4 * 3 {
                break;
            }
            block = half;
        }
        block
    }
}

/// Those of `entries` up to `until`; none if they do not follow `after`.
fn following(entries: &[Entry], after: Seq, until: Seq) -> &[Entry] {
    match entries.first() {
        Some(first) if first.seq == after.next() => {
            &entries[..entries.partition_point(|entry| entry.seq <= until)]
        }
        _ => &[],
    }
}
