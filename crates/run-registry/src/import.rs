//! An export becomes the log of a new thread.
//!
//! Entries come in as lines and go out as appends of bounded length, under a lease that is held
//! from the first to the last, so that nobody starts a run, or ends one, in a log that is half
//! there. A trimmed log begins as a fork of what its checkpoint holds (docs/protocol.md §16.2).
//!
//! Invariant: what is appended was judged: every event can be read, is within bounds and legal
//! where it stands, and classes are those that the hub would have set. So a file can hold lies, but
//! nothing that a node cannot live with.

mod batch;
mod error;
mod judge;

use std::collections::VecDeque;

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_agui::make;
use threadcast_thread_log::entry::{Body, Entry, Millis, NewEntry, Record};
use threadcast_thread_log::lease::{LeaseToken, NodeId};
use threadcast_thread_log::position::{Position, Seq};
use threadcast_thread_log::principal::Principal;

use crate::class;
use crate::export::{ExportHead, ExportReader, Taken};
use crate::fact::{Fact, ForkedFrom};
use crate::fold::Fold;
use crate::fork;

pub use error::{EntryProblem, HeadProblem, ImportError};
pub use judge::PRIVATE_BYTES_MAX;

/// What an import begins with.
#[derive(Clone, Debug)]
pub struct ImportStart {
    /// The thread that is to be; it must have no log.
    pub thread: ThreadId,
    pub by: Principal,
    pub now: Millis,
    /// Random; held by the import until its last append.
    pub lease: LeaseToken,
    pub node: NodeId,
}

/// Takes the lines of an export and gives the appends that make a thread of them.
#[derive(Debug)]
pub struct Importer {
    start: ImportStart,
    reader: ExportReader,
    /// The thread whose export it is; none before the first line.
    from: Option<ThreadId>,
    /// With all that was taken, as the new thread will hold it.
    fold: Fold,
    /// The messages of the run accepted last, should it have to be ended.
    messages: RawJson,
    queue: VecDeque<NewEntry>,
    queued_bytes: usize,
    /// How far the new log is written.
    written: Position,
    /// The last entry of it that touched control; one that somebody else wrote shows by it.
    control: Seq,
    /// Whether an append with the lease was given out.
    has_begun: bool,
    /// Whether there are no more lines.
    is_finished: bool,
    /// Whether the append that frees the lease was given out.
    has_ended: bool,
}

impl Importer {
    pub fn new(start: ImportStart) -> Self {
        Self {
            reader: ExportReader::new(),
            from: None,
            fold: Fold::new(start.thread.clone()),
            messages: RawJson::from_trusted("[]"),
            queue: VecDeque::new(),
            queued_bytes: 0,
            written: Position::default(),
            control: Seq::ZERO,
            has_begun: false,
            is_finished: false,
            has_ended: false,
            start,
        }
    }

    /// Takes the next line, without its line break; then appends may be due.
    ///
    /// # Errors
    /// It is no line of an export, or its entry cannot stand in a log.
    pub fn take(&mut self, line: &str) -> Result<(), ImportError> {
        match self.reader.take(line)? {
            Taken::Head(head) => Ok(self.begin(&head)?),
            Taken::Entry(entry) => {
                let seq = entry.seq;
                self.add(&entry).map_err(|problem| ImportError::Entry {
                    line: self.reader.lines(),
                    seq,
                    problem,
                })
            }
        }
    }

    /// There are no more lines: a run that is left open ends, and the last appends are due.
    ///
    /// # Errors
    /// Entries are missing.
    pub fn finish(&mut self) -> Result<(), ImportError> {
        self.reader.finish()?;
        self.end_open_run();
        self.is_finished = true;
        Ok(())
    }

    /// What the new thread holds once all that was taken is appended.
    pub fn fold(&self) -> &Fold {
        &self.fold
    }

    fn begin(&mut self, head: &ExportHead) -> Result<(), HeadProblem> {
        self.from = Some(head.thread_id.clone());
        if !head.private {
            return Err(HeadProblem::NoPrivate);
        }
        let Some(checkpoint) = &head.checkpoint else {
            return if head.first == Seq::ZERO.next() {
                Ok(())
            } else {
                Err(HeadProblem::NoBase { first: head.first })
            };
        };
        let epoch = head
            .epochs
            .iter()
            .rev()
            .find(|(_, first)| *first < head.first);
        let epoch = epoch.map(|(epoch, _)| epoch.clone()).unwrap_or_default();
        let bytes = checkpoint.as_bytes();
        let base = Fold::from_checkpoint(head.thread_id.clone(), epoch.clone(), bytes)?;
        if base.head().next() != head.first {
            let (first, found) = (head.first, base.head());
            return Err(HeadProblem::Base { first, found });
        }
        if let Some(run) = base.conversation().verifier().active_run() {
            return Err(HeadProblem::InsideRun { run: run.clone() });
        }
        let ImportStart {
            thread, by, now, ..
        } = &self.start;
        let from = ForkedFrom {
            thread_id: head.thread_id.clone(),
            epoch,
            seq: base.head(),
        };
        let entries = fork::beginning(base.conversation(), thread, by, *now, from)?;
        for entry in entries {
            self.push(entry);
        }
        judge::messages(&self.fold).map_err(Box::new)?;
        Ok(())
    }

    fn add(&mut self, entry: &Entry) -> Result<(), EntryProblem> {
        let (expected, body) = match &entry.record.body {
            Body::Event { json, from_chunk } => {
                let event = self.moved(Event::from_raw(json.clone())?)?;
                judge::event(&self.fold, &event, entry.record.run.as_ref())?;
                let body = Body::Event {
                    from_chunk: *from_chunk,
                    json: event.json,
                };
                (class::of_event(&event.body), body)
            }
            body @ Body::Fact { public, private } => {
                let fact = judge::fact(&self.fold, public, private.as_ref())?;
                if let Some(Fact::RunAccepted { public, .. }) = &fact {
                    self.messages = public.messages.clone();
                }
                // What a later version means by a fact of its own is not known.
                let class = fact.as_ref().map_or(entry.class, class::of_fact);
                (class, body.clone())
            }
        };
        if entry.class != expected {
            let found = entry.class;
            return Err(EntryProblem::Class { expected, found });
        }
        if self.fold.head() == Seq::ZERO && !expected.control {
            return Err(EntryProblem::First { found: expected });
        }
        let mut record = Record::clone(&entry.record);
        record.body = body;
        self.push(NewEntry {
            class: expected,
            record: record.into(),
        });
        judge::messages(&self.fold)
    }

    /// The event as one of the new thread.
    fn moved(&self, event: Event) -> Result<Event, EntryProblem> {
        let found = match &event.body {
            EventBody::RunStarted { thread, .. } => thread.as_str(),
            EventBody::RunFinished { thread, .. } => thread,
            _ => return Ok(event),
        };
        let expected = self.from.as_ref().expect("entries come behind a head");
        if found != expected.as_str() {
            return Err(EntryProblem::Thread {
                expected: expected.clone(),
                found: found.into(),
            });
        }
        Ok(if *expected == self.start.thread {
            event
        } else {
            make::on_thread(&event, &self.start.thread)
        })
    }

    fn push(&mut self, entry: NewEntry) {
        self.queued_bytes += entry.record.size_bytes();
        self.fold.apply(&Entry {
            seq: self.fold.head().next(),
            class: entry.class,
            record: entry.record.clone(),
        });
        self.queue.push_back(entry);
    }
}
