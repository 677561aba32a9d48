//! The appends of an import, and the end of a run that its export leaves open.

use threadcast_agui::make;
use threadcast_thread_log::engine::{Append, Appended, Durability, Guard};
use threadcast_thread_log::entry::{Body, Class, NewEntry, Origin, Record};
use threadcast_thread_log::lease::LeaseChange;
use threadcast_thread_log::position::Position;

use super::{ImportStart, Importer};
use crate::ending::Ending;
use crate::owner::{BATCH_BYTES_MAX, BATCH_EVENTS_MAX, Owner};
use crate::thread_record::StoredRecord;

/// Entries of an undispatched run that wait for what follows it: its submission may be 16 MiB, and
/// a file that says more than that is no hub's.
const UNDISPATCHED_BYTES_MAX: usize = 64 << 20;

impl Importer {
    /// The append that is due, if any: to be asked after every line, and after the last until there
    /// is none. It is refused if the thread has a log, if the lease was lost, or if somebody else
    /// wrote what touches control: then the import is over.
    ///
    /// Each is told as [`appended`](Self::appended) before the next one is asked for. The first one
    /// takes the lease; the last one is durable and frees it, with or without entries.
    pub fn next_append(&mut self) -> Option<Append> {
        let is_full = self.queue.len() >= BATCH_EVENTS_MAX || self.queued_bytes >= BATCH_BYTES_MAX;
        (self.is_finished || (is_full && !self.would_start_a_run())).then(|| self.append())?
    }

    /// The same although it is short: what was taken is shown before more of it comes.
    pub fn flush(&mut self) -> Option<Append> {
        (!self.queue.is_empty() && !self.would_start_a_run()).then(|| self.append())?
    }

    /// Whether what was taken ends in a run whose agent was not called yet: if this program went
    /// away now, another one would call it.
    fn would_start_a_run(&self) -> bool {
        let active = self.fold.registry().active();
        active.is_some_and(|run| !run.may_have_been_called())
            && self.queued_bytes < UNDISPATCHED_BYTES_MAX
    }

    fn append(&mut self) -> Option<Append> {
        let is_over = self.has_ended || (!self.has_begun && self.queue.is_empty());
        if is_over {
            return None;
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        // The lease alone tells what is half there: also a short log is written under it.
        self.has_ended = self.is_finished && !is_first;
        self.queued_bytes = 0;
        let ImportStart { lease, node, .. } = &self.start;
        let change = if is_first {
            let (token, node) = (lease.clone(), node.clone());
            LeaseChange::Take { token, node }
        } else if self.has_ended {
            LeaseChange::Free
        } else {
            LeaseChange::Keep
        };
        let mut append = self.next(change);
        if is_first {
            append.may_create = true;
            append.guard.lease = None;
        }
        if self.has_ended {
            append.durability = Durability::Durable;
        }
        append.entries = self.queue.drain(..).collect();
        append.record = Some(StoredRecord::of(&self.fold).to_bytes());
        Some(append)
    }

    /// An append that only says that the import goes on; none before the first one was given out.
    pub fn beat(&self) -> Option<Append> {
        self.has_begun.then(|| self.next(LeaseChange::Renew))
    }

    /// An append without entries behind what is written.
    fn next(&self, lease: LeaseChange) -> Append {
        Append {
            thread: self.start.thread.clone(),
            known: self.written.clone(),
            may_create: false,
            guard: Guard {
                lease: Some(self.start.lease.clone()),
                control: Some(self.control),
                state: None,
            },
            lease,
            source: None,
            entries: Vec::new(),
            record: None,
            durability: Durability::Held,
        }
    }

    /// Takes note that the append given out last was made.
    pub fn appended(&mut self, appended: &Appended) {
        self.fold.enter_epoch(appended.epoch.clone());
        self.control = appended.versions.control;
        self.written = Position {
            epoch: appended.epoch.clone(),
            seq: appended.last,
        };
    }

    /// Whoever called its agent is elsewhere, and so is what became of it.
    pub(super) fn end_open_run(&mut self) {
        let (now, lease) = (self.start.now, self.start.lease.clone());
        if let Some(active) = self.fold.registry().active() {
            let ending = if active.may_have_been_called() {
                Ending::Lost
            } else {
                let reason = "its thread was exported before".into();
                Ending::Unreached { reason }
            };
            let (run, messages) = (active.id.clone(), self.messages.clone());
            let owner = Owner::of_orphan(&self.fold, &run, lease, 0, messages);
            let mut owner = owner.expect("an active run has not ended");
            owner.end(&ending, now);
            let append = owner.next_append(&self.fold, now);
            let entries = append.expect("an end is queued").entries;
            entries.into_iter().for_each(|entry| self.push(entry));
        }
        // One that nobody asked for has no owner.
        if let Some(run) = self.fold.conversation().verifier().active_run().cloned() {
            let (message, code) = (Ending::Lost.message(), Ending::Lost.code());
            let json = make::run_error(&message, Some(code.as_str())).json;
            let from_chunk = false;
            let record = Record {
                at: now,
                run: Some(run),
                origin: Origin::Hub,
                body: Body::Event { json, from_chunk },
            };
            self.push(NewEntry {
                class: Class::CONTROL,
                record: record.into(),
            });
        }
    }
}
