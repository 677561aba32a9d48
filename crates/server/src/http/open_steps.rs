//! How an older reader is told the rest of a run within which it comes back (docs/protocol.md
//! §13.8): it depends on the steps that are open there.
//!
//! They follow from what came before or from what comes after; the nearer end of the run is read.
//! Nothing is kept for those who may come back, and no return costs more than a few reads.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use threadcast_agui::downgrade::Downgrade;
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::StepName;
use threadcast_hub::live_thread::LiveThread;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::registry::RunRecord;
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;

use super::log_range::{ReadTo, each_entry};

/// Most reads for one return.
const READS_MAX: usize = 4;

/// In every event that opens or closes a step; others are not looked into.
const STEP: &str = "STEP_";

/// How a stream goes on behind the entry at `seq`; `None` if that is too far within its run.
///
/// # Errors
/// The engine failed.
pub(super) async fn downgrade_at(
    live: &LiveThread,
    seq: Seq,
) -> Result<Option<Downgrade>, EngineError> {
    let mut steps = match live.with_fold(|fold| Place::of(fold, seq)) {
        Place::Within(steps) => steps,
        Place::BehindCancelled => return Ok(Some(Downgrade::behind_cancelled())),
        Place::Elsewhere => return Ok(Some(Downgrade::default())),
    };
    let range = steps.range.clone();
    let read = each_entry(live, range, READS_MAX, |entry| steps.note(entry)).await?;
    Ok((read == ReadTo::End).then(|| Downgrade::within_run(steps.open())))
}

/// Where a reader left.
enum Place {
    Within(Steps),
    BehindCancelled,
    Elsewhere,
}

impl Place {
    fn of(fold: &Fold, seq: Seq) -> Self {
        match fold.registry().latest_started(seq) {
            Some(run) if !run.has_ended_by(seq) => Self::Within(Steps::of(fold, run, seq)),
            Some(run) if run.has_finished_cancelled() => Self::BehindCancelled,
            _ => Self::Elsewhere,
        }
    }
}

/// The steps that are open at a place, found from one end of its run.
struct Steps {
    /// What stands between the place and that end.
    range: RangeInclusive<Seq>,
    /// Whether that end lies behind the place, so that what is read is undone.
    is_undone: bool,
    /// How often each is open, as far as it was read.
    counts: HashMap<StepName, isize>,
}

impl Steps {
    fn of(fold: &Fold, run: &RunRecord, seq: Seq) -> Self {
        let started = run.started.unwrap_or(run.accepted);
        let end = run.ended.map_or_else(|| fold.head(), |ended| ended.seq);
        // What a failure leaves open cannot be told from behind it.
        let is_known_behind = run.ended.is_none_or(|ended| !ended.by_error);
        let is_nearer_behind = end.get() - seq.get() < seq.get() - started.get();
        let is_undone = is_known_behind && is_nearer_behind;
        let mut counts = HashMap::new();
        if is_undone && run.ended.is_none() {
            for step in fold.conversation().verifier().open_steps() {
                *counts.entry(step.clone()).or_default() += 1;
            }
        }
        Self {
            range: if is_undone {
                seq.next()..=end
            } else {
                started..=seq
            },
            is_undone,
            counts,
        }
    }

    fn note(&mut self, entry: &Entry) {
        let json = match &entry.record.body {
            Body::Event { json, .. } if json.as_str().contains(STEP) => json,
            _ => return,
        };
        let (step, change) = match Event::from_raw(json.clone()).map(|event| event.body) {
            Ok(EventBody::StepStarted { step }) => (step, 1),
            Ok(EventBody::StepFinished { step }) => (step, -1),
            _ => return,
        };
        let change = if self.is_undone { -change } else { change };
        *self.counts.entry(step).or_default() += change;
    }

    fn open(self) -> HashMap<StepName, usize> {
        let counts = self.counts.into_iter();
        let open = counts.filter_map(|(step, count)| Some((step, usize::try_from(count).ok()?)));
        open.filter(|(_, count)| *count > 0).collect()
    }
}
