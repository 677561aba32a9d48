//! What an append came to, and what the owner does then.

use threadcast_thread_log::engine::{Appended, Refused, RefusedReason};

use super::group::Group;
use super::{InFlight, Owner, Phase};
use crate::ending::Ending;
use crate::fold::Fold;

/// What to do after a refused append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Ask for the next append again.
    Again,
    /// The log had it before: go on as if it had been appended.
    Done,
    /// The log lost events of this run: stop reading; the next append ends the run.
    Diverged,
    /// Another owner has the run, or the thread is gone: stop, write nothing.
    Fenced,
}

impl Owner {
    /// Takes note that the last append asked for was made.
    pub fn appended(&mut self, appended: &Appended) {
        match self.in_flight.take() {
            Some(InFlight::Batch { to, ends }) => {
                self.acknowledge(to);
                if ends {
                    self.phase = Phase::Ended {
                        terminal: appended.last,
                    };
                }
            }
            Some(InFlight::LateError) => self.late.error_is_settled(),
            Some(InFlight::Trailing { facts }) => self.late.facts_are_written(facts),
            None => {}
        }
    }

    fn acknowledge(&mut self, to: u64) {
        while self.acknowledged < to
            && let Some(group) = self.queue.pop_front()
        {
            self.acknowledged += 1;
            self.queued_bytes -= group.bytes();
            self.queued_events -= group.entries.len();
        }
        debug_assert_eq!(
            self.newest - self.acknowledged,
            self.queue.len() as u64,
            "groups are numbered without a gap"
        );
    }

    fn clear_queue(&mut self) {
        self.queue.clear();
        (self.queued_bytes, self.queued_events) = (0, 0);
        self.acknowledged = self.newest;
    }

    /// Takes note that the last append asked for was refused; `fold` has what the refusal said was
    /// missed.
    pub fn refused(&mut self, refused: &Refused, fold: &Fold) -> Retry {
        let Some(in_flight) = self.in_flight.take() else {
            return Retry::Again;
        };
        match (refused.reason, in_flight) {
            (RefusedReason::Conflict, InFlight::LateError) => {
                self.late.give_up_error(fold.registry().run(&self.run));
                Retry::Again
            }
            (RefusedReason::Conflict, _) => Retry::Again,
            (RefusedReason::Position, InFlight::Batch { to, .. }) => {
                self.place(refused.head.source, to, fold)
            }
            (RefusedReason::Fenced, InFlight::Batch { ends: true, .. }) => self.look_for_end(fold),
            (
                RefusedReason::Fenced
                | RefusedReason::Gone
                | RefusedReason::Held
                | RefusedReason::Position,
                _,
            ) => self.fence(),
        }
    }

    /// The log has groups up to `source`, not up to where the append began.
    fn place(&mut self, source: u64, to: u64, fold: &Fold) -> Retry {
        if source < self.acknowledged {
            self.diverge(source, fold);
            return Retry::Diverged;
        }
        self.acknowledge(source);
        if source >= to {
            Retry::Done
        } else {
            Retry::Again
        }
    }

    /// Drops what the log cannot take any more and ends the run; a log that lost the dispatch, too,
    /// is told again that the agent may have been reached.
    fn diverge(&mut self, source: u64, fold: &Fold) {
        self.clear_queue();
        (self.newest, self.acknowledged) = (source, source);
        self.stream.start_over(fold.registry().status(&self.run));
        let mut end = self.stream.end(&Ending::LogDiverged, self.now);
        let record = fold.registry().run(&self.run);
        if self.is_dispatched && record.is_some_and(|run| !run.is_dispatched) {
            let dispatched = Group::dispatched(&self.run, self.now);
            end.entries.splice(0..0, dispatched.entries);
        }
        self.push(end);
        self.phase = Phase::Ending;
    }

    /// The lease is gone: freed by our own end, whose outcome was unknown, or taken by another.
    fn look_for_end(&mut self, fold: &Fold) -> Retry {
        let record = fold.registry().run(&self.run);
        let ended = record.and_then(|record| Some((record, record.ended?)));
        let last = self.queue.back();
        match (ended, last) {
            (Some((record, ended)), Some(group)) if group.is_end_of(record) => {
                self.acknowledge(self.newest);
                self.phase = Phase::Ended {
                    terminal: ended.seq,
                };
                Retry::Done
            }
            _ => self.fence(),
        }
    }

    fn fence(&mut self) -> Retry {
        self.clear_queue();
        self.phase = Phase::Fenced;
        Retry::Fenced
    }
}
