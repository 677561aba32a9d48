//! How much of a log may go: through which entry it is trimmed.
//!
//! A log is cut between runs only, in front of what accepted the next one; its latest run always
//! stays, and so does all that an interrupted run needs whose interrupts are still asked. Nothing
//! is trimmed here: who trims makes a checkpoint of the fold at the cut first.
//!
//! Invariant: what stays begins with a run, and the same facts give the same cut.

use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;

use crate::fold::Fold;
use crate::registry::RunRecord;

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
    /// From here on entries are needed: the interrupted run whose interrupts are asked, or the run
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
        let cuts = self.cuts();
        let wanted = [
            retention
                .age_ms
                .and_then(|age_ms| self.by_age(&cuts, age_ms, now)),
            retention
                .entries
                .and_then(|max| self.by_entries(&cuts, max)),
            retention.bytes.and_then(|max| self.by_bytes(&cuts, max)),
        ];
        let cut = wanted.into_iter().flatten().max()?;
        Some(self.through(cut))
    }

    /// Spans in front of which the log may be cut, by their places.
    fn cuts(&self) -> Vec<usize> {
        let places = 1..self.spans.len();
        let is_allowed = |cut: &usize| {
            let has_ended = self.spans[..*cut]
                .iter()
                .all(|span| span.ended_at.is_some());
            has_ended
                && self
                    .needed_from
                    .is_none_or(|needed| self.spans[*cut].first <= needed)
        };
        places.take_while(is_allowed).collect()
    }

    /// The last entry in front of a span.
    fn through(&self, cut: usize) -> Seq {
        let before = self.spans[cut].first.get() - 1;
        Seq::new(before).expect("what is before a seq is one")
    }

    /// The last cut that leaves nothing behind it but what is old enough.
    fn by_age(&self, cuts: &[usize], age_ms: u64, now: Millis) -> Option<usize> {
        let is_old = |at: Millis| at.0.saturating_add(age_ms) <= now.0;
        let is_wanted = |cut: &&usize| self.spans[**cut - 1].ended_at.is_some_and(is_old);
        cuts.iter().take_while(is_wanted).last().copied()
    }

    /// The first cut after which few enough entries are left, or the last there is.
    fn by_entries(&self, cuts: &[usize], max: u64) -> Option<usize> {
        let left = |cut: usize| self.head.get() - self.through(cut).get();
        let all = self.head.get() + 1 - self.spans.first()?.first.get();
        first_within(cuts, all, max, left)
    }

    /// The same for bytes.
    fn by_bytes(&self, cuts: &[usize], max: u64) -> Option<usize> {
        let left = |cut: usize| self.spans[cut..].iter().map(|span| span.bytes).sum();
        first_within(cuts, left(0), max, left)
    }
}

fn first_within(cuts: &[usize], all: u64, max: u64, left: impl Fn(usize) -> u64) -> Option<usize> {
    if all <= max {
        return None;
    }
    let enough = cuts.iter().find(|cut| left(**cut) <= max);
    enough.or_else(|| cuts.last()).copied()
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

/// Asked is what has no answer, and what clients still hold pending because all that answered it
/// failed: the answers may go out again.
fn needed_from(fold: &Fold) -> Option<Seq> {
    let registry = fold.registry();
    let interrupts = registry.interrupts();
    let is_asked = interrupts.has_open() || !fold.conversation().pending_interrupts().is_empty();
    let asked = interrupts.latest_run().filter(|_| is_asked)?;
    let asked = registry.run(asked)?;
    Some(begin(asked).min(asked.input()))
}
