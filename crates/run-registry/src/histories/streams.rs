//! Legal streams as agents send them: chunks, retired shapes and material that nobody describes
//! among the rest.

use serde_json::{Value, json};

use crate::histories::writer::{Writer, spelled};
use crate::stream_judge::StreamJudge;

/// The events of a random stream with a few runs, as JSON texts; the last run may be open.
///
/// Every event is one that [`StreamJudge`] takes.
pub fn stream(seed: u64) -> Vec<String> {
    values(seed).iter().map(spelled).collect()
}

/// The same before it is spelled, which no value can be.
pub(super) fn values(seed: u64) -> Vec<Value> {
    let mut author = Author {
        writer: Writer::new(seed),
        style: [Style::Explicit, Style::Mixed, Style::Chunks, Style::Retired]
            [(seed / 3 % 4) as usize],
        judge: StreamJudge::new(),
        events: Vec::new(),
    };
    author.write();
    author.events
}

/// What most events of a stream are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Style {
    Explicit,
    Mixed,
    Chunks,
    Retired,
}

struct Author {
    writer: Writer,
    style: Style,
    judge: StreamJudge,
    events: Vec<Value>,
}

impl Author {
    fn write(&mut self) {
        if self.writer.random.one_in(20) {
            self.propose(json!({"type": "RUN_ERROR", "message": "no"}));
        }
        let runs = 1 + self.writer.random.below(4);
        for run in 1..=runs {
            self.write_run(run, run == runs);
        }
    }

    fn write_run(&mut self, run: usize, is_last: bool) {
        if self.writer.random.one_in(12) {
            self.propose(json!({"type": "SOMETHING_NEWER", "between": "runs"}));
        }
        let started = self.writer.run_started(run);
        let started = self.writer.with_whole_input(started);
        if !self.propose(started) {
            // An item that was built from chunks and ended by itself stands in the way of every
            // end.
            return;
        }
        for _ in 0..self.writer.random.below(32) {
            let proposal = self.some_event();
            self.propose(proposal);
        }
        if is_last && self.writer.random.one_in(3) {
            return;
        }
        if self.writer.random.one_in(6) {
            let error = self
                .writer
                .with_usage(json!({"type": "RUN_ERROR", "message": "broke", "code": "E"}));
            self.propose(error);
            return;
        }
        let ends = self.writer.ends();
        let thinking_ends =
            ["THINKING_TEXT_MESSAGE_END", "THINKING_END"].map(|end| json!({"type": end}));
        for end in ends.into_iter().chain(thinking_ends) {
            self.propose(end);
        }
        let outcome = self.writer.some_outcome();
        let outcome = self.writer.with_whole_outcome(outcome);
        if !self.propose(outcome) {
            // A thinking span that another one took the place of has no id to be ended by, for one.
            self.propose(json!({"type": "RUN_ERROR", "message": "left open"}));
            return;
        }
        if self.writer.random.one_in(8) {
            self.propose(json!({"type": "RUN_ERROR", "message": "late"}));
        }
    }

    fn some_event(&mut self) -> Value {
        let held = self.judge.conversation();
        let chunks = match self.style {
            Style::Explicit => 0,
            Style::Mixed | Style::Retired => 4,
            Style::Chunks => 12,
        };
        if self.writer.random.below(16) < chunks {
            return self.writer.some_chunk();
        }
        if self.writer.random.one_in(3)
            && let Some(event) = self.writer.some_continuation(held)
        {
            return event;
        }
        if self.style == Style::Retired && self.writer.random.one_in(3) {
            return self.writer.some_retired_event();
        }
        match self.writer.random.below(9) {
            0 => self.writer.some_whole_event(held),
            1 => self.writer.some_document_event(),
            _ => self.writer.some_event(held),
        }
    }

    /// Keeps the event if it is legal now.
    ///
    /// # Panics
    /// It is legal, but not with members that nobody describes.
    fn propose(&mut self, proposal: Value) -> bool {
        let plain = spelled(&proposal);
        let dressed = self.writer.with_undescribed(proposal);
        let mut judge = self.judge.clone();
        if let Err(broken) = judge.take(&spelled(&dressed)) {
            // A chunk goes on with its item for metadata alone.
            let is_chunk = plain.contains("_CHUNK");
            let is_legal = !is_chunk && self.judge.clone().take(&plain).is_ok();
            assert!(!is_legal, "{broken}, but only as {dressed}");
            return false;
        }
        self.judge = judge;
        self.events.push(dressed);
        true
    }
}
