//! How much of a log may go: through which entry it is trimmed.
//!
//! A log is cut between runs only, in front of what accepted the next one; its latest run always
//! stays, and so does all that an interrupted run needs whose answers may still come or go out again.
//! Nothing is trimmed here: who trims makes a checkpoint of the fold at the cut first.
//!
//! Invariant: what stays begins with a run, and the same facts give the same cut.

use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;

use crate::fold::Fold;
use crate::registry::{Ended, RaisedInterrupt, RunRecord};

/// How much is kept; what is not named is not bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// What ended longer ago than this goes, in milliseconds.
    pub age_ms: Option<u64>,
    /// Oldest runs go while there are more entries than this.
    pub entries: Option<u64>,
    /// Oldest runs go while entries have more bytes than this.
    pub bytes: Option<u64>,
}

/// The entries of one run, from what accepted it up to what accepted the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first of its entries: an answer that it takes, or its `run.accepted`; of the first span
    /// the first entry of the log.
    pub first: Seq,
    /// When the run ended; none while it is active.
    pub ended_at: Option<Millis>,
    /// Bytes of its entries; only looked at if bytes are bounded.
    pub bytes: u64,
}

/// What of a log there is to trim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// One a run, in the order of the log, from the first entry that is kept.
    pub spans: Vec<Span>,
    /// The last entry.
    pub head: Seq,
    /// From here on entries are needed: the interrupted run whose answers may come, or the run
    /// whose tools and context it carries on.
    pub needed_from: Option<Seq>,
}

impl Extent {
    /// Of the log of `fold`, which is kept from `first` on; bytes are zero, and for the caller to
    /// fill in.
    pub fn of(fold: &Fold, first: Seq) -> Self {
        let kept = fold.registry().runs().iter();
        let kept = kept.filter(|run| run.accepted >= first);
        let mut spans: Vec<_> = kept.map(Span::of).collect();
        if let Some(span) = spans.first_mut() {
            span.first = first;
        }
        Self {
            spans,
            head: fold.head(),
            needed_from: needed_from(fold),
        }
    }

    /// The entry through which the log is to be trimmed; none if all of it stays.
    pub fn trim_through(&self, retention: &Retention, now: Millis) -> Option<Seq> {
        let last_cut = self.last_cut();
        let wanted = [
            retention
                .age_ms
                .and_then(|age_ms| self.by_age(last_cut, age_ms, now)),
            retention
                .entries
                .and_then(|max| self.by_entries(last_cut, max)),
            retention.bytes.and_then(|max| self.by_bytes(last_cut, max)),
        ];
        let cut = wanted.into_iter().flatten().max()?;
        Some(self.through(cut))
    }

    /// The place of the last span in front of which the log may be cut, as it may be in front of
    /// every earlier one but the first; 0 if there is none.
    fn last_cut(&self) -> usize {
        let has_ended = |span: &&Span| span.ended_at.is_some();
        let ended = self.spans.iter().take_while(has_ended).count();
        let is_kept = |span: &&Span| self.needed_from.is_none_or(|needed| span.first <= needed);
        let later = self.spans.iter().skip(1).take(ended);
        later.take_while(is_kept).count()
    }

    /// The last entry in front of a span.
    fn through(&self, cut: usize) -> Seq {
        let before = self.spans[cut].first.get() - 1;
        Seq::new(before).expect("what is before a seq is one")
    }

    /// The last cut that leaves nothing behind it but what is old enough.
    fn by_age(&self, last_cut: usize, age_ms: u64, now: Millis) -> Option<usize> {
        let is_old = |at: Millis| at.0.saturating_add(age_ms) <= now.0;
        let may_go = self.spans[..last_cut].iter();
        let old = may_go.take_while(|span| span.ended_at.is_some_and(is_old));
        Some(old.count()).filter(|cut| *cut > 0)
    }

    /// The first cut after which few enough entries are left, or the last there is.
    fn by_entries(&self, last_cut: usize, max: u64) -> Option<usize> {
        let left = |span: &Span| self.head.get() + 1 - span.first.get();
        if left(self.spans.first()?) <= max {
            return None;
        }
        let mut cuts = 1..=last_cut;
        let enough = cuts.find(|cut| left(&self.spans[*cut]) <= max);
        enough.or(Some(last_cut)).filter(|cut| *cut > 0)
    }

    /// The same for bytes.
    fn by_bytes(&self, last_cut: usize, max: u64) -> Option<usize> {
        let mut left: u64 = self.spans.iter().map(|span| span.bytes).sum();
        if left <= max {
            return None;
        }
        let enough = (1..=last_cut).find(|cut| {
            left -= self.spans[*cut - 1].bytes;
            left <= max
        });
        enough.or(Some(last_cut)).filter(|cut| *cut > 0)
    }
}

impl Span {
    fn of(run: &RunRecord) -> Self {
        Self {
            first: begin(run),
            ended_at: run.ended.map(|ended| ended.at),
            bytes: 0,
        }
    }
}

/// The answers that a run takes stand right in front of its acceptance, in the same append.
fn begin(run: &RunRecord) -> Seq {
    let answers = run.took.as_ref().map_or(0, |took| took.interrupts.len());
    let first = run.accepted.get().saturating_sub(answers as u64).max(1);
    Seq::new(first).expect("what is before a seq is one")
}

/// What a later run can carry on: the latest interrupted run, for as long as its answers may come,
/// or go out again. Once they cannot, they never can, so a cut that was allowed stays allowed
/// whatever is accepted since.
fn needed_from(fold: &Fold) -> Option<Seq> {
    let registry = fold.registry();
    let interrupts = registry.interrupts();
    let of = interrupts.latest_run()?;
    let may_go_out = |raised: &RaisedInterrupt| {
        let answer = interrupts.answer(of, &raised.interrupt.id);
        let taker = answer.and_then(|answer| registry.run(&answer.run));
        taker.is_none_or(|taker| may_have_failed(fold, taker))
    };
    let raised = interrupts.latest();
    // A question list that is empty is answered by an empty one, any time.
    let is_needed = raised.is_empty() || raised.iter().any(may_go_out);
    let asked = registry.run(of).filter(|_| is_needed)?;
    Some(begin(asked).min(asked.input()))
}

/// Whether a run failed or still may: behind its end a late failure counts until something else is
/// decided (docs/protocol.md §8.7).
fn may_have_failed(fold: &Fold, run: &RunRecord) -> bool {
    let is_last_word = |ended: Ended| ended.seq == fold.versions().control;
    run.has_failed() || run.ended.is_none_or(is_last_word)
}
