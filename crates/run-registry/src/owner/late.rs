//! What an agent still sends after its run has ended.
//!
//! The first RUN_ERROR behind RUN_FINISHED is that run's late failure, as long as nothing else was
//! decided in between and the agent began no other run: it carries no ids, so it would be taken for
//! the failure of that one. The rest is recorded as facts, the first few of it.

use std::collections::VecDeque;
use std::sync::Arc;

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::RunId;
use threadcast_thread_log::engine::{Append, Durability, Guard};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::lease::LeaseChange;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;

use super::group::fact_entry;
use super::{AgentPolicy, InFlight, Owner};
use crate::fact::{Fact, RunTrailing};
use crate::fold::Fold;
use crate::registry::RunRecord;
use crate::thread_record::StoredRecord;

/// Most facts about what came too late.
pub const TRAILING_MAX: usize = 8;

/// What the type of an event that cannot be read is recorded as.
const UNREADABLE: &str = "unreadable";

/// Longest event type that is recorded, in characters.
const TYPE_CHARS_MAX: usize = 64;

/// Late events that are not in the log yet.
#[derive(Debug)]
pub(super) struct Late {
    policy: AgentPolicy,
    error: Option<LateError>,
    /// Whether a RUN_ERROR that comes next is this run's.
    may_fail: bool,
    facts: VecDeque<NewEntry>,
    /// How many facts were recorded or wait for it.
    count: usize,
}

#[derive(Debug)]
struct LateError {
    entry: NewEntry,
    message: Box<str>,
}

impl Late {
    pub(super) fn new(policy: AgentPolicy) -> Self {
        Self {
            policy,
            error: None,
            may_fail: true,
            facts: VecDeque::new(),
            count: 0,
        }
    }

    pub(super) fn take(&mut self, data: &str, run: &RunId, now: Millis) {
        if !self.may_fail && self.count == TRAILING_MAX {
            return;
        }
        let Ok(event) = Event::read(data) else {
            return self.trail(UNREADABLE, run, now);
        };
        match &event.body {
            EventBody::RunError { message, .. } if self.may_fail => {
                self.may_fail = false;
                let message = message.clone();
                self.error = self.policy.keep(event).map(|event| LateError {
                    entry: error_entry(event, run, now),
                    message,
                });
            }
            body => {
                self.may_fail &= !matches!(body, EventBody::RunStarted { .. });
                self.trail(event.type_name(), run, now);
            }
        }
    }

    fn trail(&mut self, event_type: &str, run: &RunId, now: Millis) {
        if self.count == TRAILING_MAX {
            return;
        }
        self.count += 1;
        let fact = Fact::RunTrailing(RunTrailing {
            by: Principal::hub(),
            run_id: run.clone(),
            event_type: event_type
                .chars()
                .take(TYPE_CHARS_MAX)
                .collect::<String>()
                .into(),
            is_last: self.count == TRAILING_MAX,
        });
        self.facts.push_back(fact_entry(run, now, &fact));
    }

    pub(super) fn has_work(&self) -> bool {
        self.error.is_some() || !self.facts.is_empty()
    }

    pub(super) fn error_is_settled(&mut self) {
        self.error = None;
    }

    pub(super) fn facts_are_written(&mut self, count: usize) {
        self.facts.drain(..count.min(self.facts.len()));
    }

    /// The error may no longer stand as an event, unless `record` shows that it does already.
    pub(super) fn give_up_error(&mut self, record: Option<&RunRecord>) {
        let Some(error) = self.error.take() else {
            return;
        };
        let failure = record.and_then(|record| record.failure.as_ref());
        if failure.is_some_and(|failure| error.message.starts_with(&*failure.message)) {
            return;
        }
        if let Some(run) = &error.entry.record.run {
            self.trail("RUN_ERROR", run, error.entry.record.at);
        }
    }
}

fn error_entry(event: Event, run: &RunId, now: Millis) -> NewEntry {
    let record = Record {
        at: now,
        run: Some(run.clone()),
        origin: Origin::Agent,
        body: Body::Event {
            json: event.json,
            from_chunk: false,
        },
    };
    NewEntry {
        class: Class::CONTROL,
        record: Arc::new(record),
    }
}

impl Owner {
    /// The append of what came late; `terminal` is the seq of the run's end.
    pub(super) fn next_late(&mut self, fold: &Fold, terminal: Seq) -> Option<Append> {
        let run = fold.registry().run(&self.run);
        // Behind a RUN_ERROR another is illegal.
        if run.is_none_or(|run| run.ended.is_none_or(|ended| ended.by_error)) {
            self.late.give_up_error(None);
        }
        if let Some(error) = &self.late.error {
            let entries = vec![error.entry.clone()];
            self.in_flight = Some(InFlight::LateError);
            let open = fold.registry().interrupts().open();
            let status = run.map_or(RunStatus::Error, RunRecord::status_after_error);
            let record = StoredRecord::of(fold).with_end(status, open).at(fold, 1);
            let guard = Guard {
                lease: None,
                control: Some(terminal),
                state: None,
            };
            return Some(Append {
                record: Some(record.to_bytes()),
                ..self.late_append(fold, guard, entries)
            });
        }
        let entries: Vec<_> = self.late.facts.iter().cloned().collect();
        if entries.is_empty() {
            return None;
        }
        self.in_flight = Some(InFlight::Trailing {
            facts: entries.len(),
        });
        Some(self.late_append(fold, Guard::default(), entries))
    }

    fn late_append(&self, fold: &Fold, guard: Guard, entries: Vec<NewEntry>) -> Append {
        Append {
            thread: self.thread.clone(),
            known: fold.position().clone(),
            may_create: false,
            guard,
            lease: LeaseChange::Keep,
            source: None,
            entries,
            record: None,
            durability: Durability::Held,
        }
    }
}
