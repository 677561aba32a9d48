//! Trims logs: what a configuration does not want kept makes room.
//!
//! Through which entry is decided in `threadcast-run-registry`; here a checkpoint is made of the
//! fold at that entry and kept, then the log is trimmed through it. Invariant: nothing is dropped
//! that a kept checkpoint does not hold, and nothing while a run is active, for its end may need
//! what came before it.

use std::collections::HashSet;

use parking_lot::Mutex;
use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::retention::{Extent, Retention};
use threadcast_thread_log::engine::{Head, Listed, ReadLimit};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::checkpoints::keep;
use crate::clock;
use crate::defaults::{
    ENDED_MAX, LOAD_LIMIT, RETAIN_ALL_EVERY, RETAIN_ENDED_EVERY, RETAIN_PAGE, RETAIN_PAUSE,
};
use crate::history::FoldAtError;
use crate::hub::Hub;

/// Threads of which a run ended here since they were last looked at; none are noted unless somebody
/// looks.
#[derive(Debug, Default)]
pub(crate) struct EndedRuns(Mutex<Option<HashSet<ThreadId>>>);

impl EndedRuns {
    pub(crate) fn note(&self, thread: &ThreadId) {
        // What is over the bound is found when all threads are looked at.
        if let Some(threads) = &mut *self.0.lock()
            && threads.len() < ENDED_MAX
        {
            threads.insert(thread.clone());
        }
    }

    fn take(&self) -> HashSet<ThreadId> {
        self.0.lock().replace(HashSet::new()).unwrap_or_default()
    }
}

impl Hub {
    /// Trims what `retention` does not want kept, until `stop`: of threads whose runs end here
    /// within a minute, of all others within an hour. To be spawned once; ends at once if nothing
    /// is bounded.
    pub async fn retain(&self, retention: Retention, stop: CancellationToken) {
        if retention == Retention::default() {
            return;
        }
        let retaining =
            async { tokio::join!(retain_ended(self, &retention), retain_all(self, &retention)) };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            _ = retaining => {}
        }
    }

    /// Trims the log of one thread; gives the entry through which it was trimmed, if it was.
    ///
    /// # Errors
    /// The engine failed.
    pub async fn trim(
        &self,
        thread: &ThreadId,
        retention: &Retention,
    ) -> Result<Option<Seq>, EngineError> {
        let head = self.engine().head(thread).await?;
        if head.lease.is_some() || !self.may_trim(thread, &head, retention).await? {
            return Ok(None);
        }
        let live = self.live(thread).await?;
        live.catch_up().await?;
        let extent = live.with_fold(|fold| {
            let is_at_rest = fold.registry().active().is_none();
            is_at_rest.then(|| Extent::of(fold, head.first))
        });
        let Some(mut extent) = extent else {
            return Ok(None);
        };
        if retention.bytes.is_some() {
            self.measure(thread, &mut extent).await?;
        }
        let Some(through) = extent.trim_through(retention, clock::now()) else {
            return Ok(None);
        };
        let fold = match self.fold_at(thread, through).await {
            Ok(fold) => fold,
            Err(FoldAtError::Engine(error)) => return Err(error),
            // Somebody trimmed or deleted it.
            Err(_) => return Ok(None),
        };
        keep(&**self.engine(), fold).await?;
        // A run may be accepted by now. Its entries come behind the head that was looked at, and
        // what it can carry on was not let go: that only becomes less while nobody asks anew.
        self.engine().trim(thread, through).await?;
        live.trimmed(through.next());
        tracing::info!(%thread, %through, "log trimmed");
        Ok(Some(through))
    }

    /// Whether anything may be over a bound, without the fold.
    async fn may_trim(
        &self,
        thread: &ThreadId,
        head: &Head,
        retention: &Retention,
    ) -> Result<bool, EngineError> {
        let kept = head.seq.get() + 1 - head.first.get();
        if kept == 0 {
            return Ok(false);
        }
        if retention.entries.is_some_and(|max| kept > max) {
            return Ok(true);
        }
        let before = Seq::new(head.first.get() - 1).expect("it is one less");
        if let Some(age_ms) = retention.age_ms {
            let limit = ReadLimit {
                entries: 1,
                ..LOAD_LIMIT
            };
            let first = self.engine().read(thread, before, limit).await?;
            let is_old = |at: u64| at.saturating_add(age_ms) <= clock::now().0;
            if first.first().is_some_and(|entry| is_old(entry.record.at.0)) {
                return Ok(true);
            }
        }
        let Some(max) = retention.bytes else {
            return Ok(false);
        };
        let (mut after, mut bytes) = (before, 0);
        loop {
            let entries = self.engine().read(thread, after, LOAD_LIMIT).await?;
            let Some(last) = entries.last() else {
                return Ok(false);
            };
            after = last.seq;
            bytes += entries
                .iter()
                .map(|entry| entry.record.size_bytes() as u64)
                .sum::<u64>();
            if bytes > max {
                return Ok(true);
            }
            tokio::task::yield_now().await;
        }
    }

    /// Fills in the bytes of the spans.
    async fn measure(&self, thread: &ThreadId, extent: &mut Extent) -> Result<(), EngineError> {
        let Some(first) = extent.spans.first() else {
            return Ok(());
        };
        let mut after = Seq::new(first.first.get() - 1).expect("it is one less");
        while after < extent.head {
            let entries = self.engine().read(thread, after, LOAD_LIMIT).await?;
            let Some(last) = entries.last() else { break };
            after = last.seq;
            for entry in &entries {
                let at = extent.spans.partition_point(|span| span.first <= entry.seq);
                if let Some(span) = at.checked_sub(1).and_then(|at| extent.spans.get_mut(at)) {
                    span.bytes += entry.record.size_bytes() as u64;
                }
            }
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

async fn retain_ended(hub: &Hub, retention: &Retention) {
    loop {
        for thread in hub.threads().ended().take() {
            trim(hub, &thread, retention).await;
        }
        sleep(RETAIN_ENDED_EVERY).await;
    }
}

async fn retain_all(hub: &Hub, retention: &Retention) {
    loop {
        let next = Instant::now() + RETAIN_ALL_EVERY;
        let mut after: Option<ThreadId> = None;
        loop {
            let page = match hub.engine().list(after.as_ref(), RETAIN_PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%error, "threads cannot be listed");
                    break;
                }
            };
            let Some(Listed { thread: last, .. }) = page.last() else {
                break;
            };
            after = Some(last.clone());
            for Listed { thread, .. } in page {
                trim(hub, &thread, retention).await;
            }
            // There is no hurry.
            sleep(RETAIN_PAUSE).await;
        }
        sleep_until(next).await;
    }
}

async fn trim(hub: &Hub, thread: &ThreadId, retention: &Retention) {
    if let Err(error) = hub.trim(thread, retention).await {
        let cause = std::error::Error::source(&error);
        tracing::warn!(%thread, %error, ?cause, "log not trimmed");
    }
}
