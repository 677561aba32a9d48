//! Finds the threads that a node left behind, and those that are listed as work without being any.
//!
//! ```text
//! index of work ─▶ owned here: left alone
//!        ├─ lease free, a run active ─────────────▶ taken over at once
//!        ├─ another's lease, three equal readings ▶ taken over
//!        └─ nothing to do, three equal readings ──▶ cleared from the index
//! ```
//!
//! Every node has one; they need not know of each other, for what they do are conditional appends.
//! It never ends a run by itself: it takes the lease, and an owner does the rest. Invariant: no
//! clock but this node's own decides over a lease, and a reading that fails is no reading.

use std::collections::HashSet;

use futures::StreamExt;
use futures::stream;
use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::thread_record::StoredRecord;
use threadcast_thread_log::engine::{Head, Work};
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::Lease;
use threadcast_thread_log::work::BUCKETS;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::defaults::{
    NODE_BEAT_EVERY, SWEEP_EVERY, SWEEP_WIDTH, TAKE_OVER_AGAIN, TAKE_OVER_MAX, WORK_PAGE,
};
use crate::hub::Hub;

use readings::{Reading, Readings};
use take_over::{Taken, take_over};

mod readings;
mod take_over;

pub(crate) use take_over::reserve;

impl Hub {
    /// Shows that this node lives, and looks after what others left behind, until `stop`; to be
    /// spawned once.
    pub async fn sweep(&self, stop: CancellationToken) {
        let sweeping = async { tokio::join!(beat(self), sweep(self)) };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            _ = sweeping => {}
        }
    }
}

async fn beat(hub: &Hub) {
    let mut beats = interval(NODE_BEAT_EVERY);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beats.tick().await;
        if let Err(error) = hub.engine().beat(hub.node()).await {
            tracing::warn!(node = %hub.node().0, %error, "the node's beat was not raised");
        }
    }
}

async fn sweep(hub: &Hub) {
    let mut rounds = interval(SWEEP_EVERY);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut readings = Readings::default();
    loop {
        rounds.tick().await;
        // Who goes away takes nothing over.
        if !hub.sessions().is_draining() {
            round(hub, &mut readings).await;
        }
    }
}

/// What is to be done for a thread that is due.
#[derive(Debug)]
enum Task {
    /// Nobody has to look at it any more.
    Clear(Work),
    /// Its lease is free, or stood still for too long as it was `seen`.
    TakeOver {
        work: Work,
        seen: Option<Lease>,
        /// Whether it may be cleared from the index if there is nothing to take over.
        is_still: bool,
    },
}

/// Looks once at everything that is due.
async fn round(hub: &Hub, readings: &mut Readings) {
    let mut due = HashSet::new();
    for bucket in 0..BUCKETS {
        match all_due(hub, bucket).await {
            Ok(works) => {
                let works = works
                    .into_iter()
                    .filter(|work| !hub.threads().owned().contains(&work.thread));
                let works: Vec<_> = works.collect();
                due.extend(works.iter().map(|work| work.thread.clone()));
                look_at(hub, works, readings).await;
            }
            Err(error) => {
                tracing::warn!(%error, "the index of work cannot be read");
                // Those of the other buckets were not read in time either.
                return readings.clear();
            }
        }
    }
    readings.retain(|thread| due.contains(thread));
}

/// Everything in a bucket that is due: the index tells the soonest only, and those of living owners
/// stay in it.
async fn all_due(hub: &Hub, bucket: u8) -> Result<Vec<Work>, EngineError> {
    let (now, mut page) = (clock::now(), WORK_PAGE);
    loop {
        let works = hub.engine().work(bucket, now, page).await?;
        if works.len() < page {
            return Ok(works);
        }
        page *= 4;
    }
}

async fn look_at(hub: &Hub, works: Vec<Work>, readings: &mut Readings) {
    let heads = stream::iter(works).map(async |work| {
        let head = hub.engine().head(&work.thread).await;
        (work, head)
    });
    let mut heads = heads.buffer_unordered(SWEEP_WIDTH);
    let mut tasks = Vec::new();
    while let Some((work, head)) = heads.next().await {
        match head {
            Ok(head) => tasks.extend(judge(work, head, readings)),
            Err(error) => {
                tracing::warn!(thread = %work.thread, %error, "a thread that is due cannot be read");
                readings.failed(&work.thread);
            }
        }
    }
    let carried = stream::iter(tasks).map(|task| carry_out(hub, task));
    let mut carried = carried.buffer_unordered(SWEEP_WIDTH);
    while let Some(done) = carried.next().await {
        if let Err(Failed(thread)) = done {
            readings.postpone(thread, Instant::now() + TAKE_OVER_AGAIN);
        }
    }
}

fn judge(work: Work, head: Head, readings: &mut Readings) -> Option<Task> {
    if readings.is_postponed(&work.thread, Instant::now()) {
        return None;
    }
    let record = head.record.as_deref().map(StoredRecord::from_bytes);
    let has_run = match (head.epochs.is_empty(), record) {
        (true, _) => false,
        (false, Some(Some(record))) => record.active_run.is_some(),
        // It says nothing that can be read here: its fold does.
        (false, _) => true,
    };
    let reading = Reading {
        due: work.due,
        lease: head.lease.clone(),
    };
    let is_still = readings.note(&work.thread, reading, Instant::now());
    match head.lease {
        None if has_run => Some(Task::TakeOver {
            work,
            seen: None,
            is_still,
        }),
        // Not at once: whoever is about to take the lease has listed the thread before.
        None => is_still.then_some(Task::Clear(work)),
        seen => is_still.then_some(Task::TakeOver {
            work,
            seen,
            is_still,
        }),
    }
}

/// What was to be done for this thread was not done; why is told in the log.
struct Failed(ThreadId);

async fn carry_out(hub: &Hub, task: Task) -> Result<(), Failed> {
    let (work, done) = match task {
        Task::Clear(work) => {
            let done = settle(hub, &work, None).await;
            (work, done)
        }
        Task::TakeOver {
            work,
            seen,
            is_still,
        } => {
            let taking = take_over_or_settle(hub, &work, seen, is_still);
            let Ok(done) = timeout(TAKE_OVER_MAX, taking).await else {
                tracing::warn!(thread = %work.thread, "taking over took too long");
                return Err(Failed(work.thread));
            };
            (work, done)
        }
    };
    done.map_err(|error| {
        let cause = std::error::Error::source(&error);
        tracing::warn!(thread = %work.thread, %error, ?cause, "work left behind was not done");
        Failed(work.thread)
    })
}

async fn take_over_or_settle(
    hub: &Hub,
    work: &Work,
    seen: Option<Lease>,
    is_still: bool,
) -> Result<(), EngineError> {
    match take_over(hub, &work.thread, seen).await? {
        Taken::Nothing { look_again } if is_still => settle(hub, work, look_again).await,
        Taken::Nothing { .. } | Taken::Done => Ok(()),
    }
}

/// Nobody has to look at the thread, or not before its next deadline.
async fn settle(hub: &Hub, work: &Work, look_again: Option<Millis>) -> Result<(), EngineError> {
    match look_again {
        Some(due) => hub.engine().set_work(&work.thread, due).await,
        None => hub.engine().clear_work(&work.thread, work.due).await,
    }
}
