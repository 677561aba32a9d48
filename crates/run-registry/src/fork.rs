//! A new thread that begins with what another one held at some entry.
//!
//! Its log says so itself: the fact `thread.forked`, then a made-up run that restates messages and
//! state and ends. What the other thread had open, pending or asked is not in it (docs/protocol.md
//! §6.5), so no call can be executed twice and no question answered twice.
//!
//! Invariant: the log alone is the truth; nothing of a fork stands anywhere else, and the other
//! thread may be trimmed or deleted.

use std::sync::Arc;

use threadcast_agui::event::Event;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::make;
use threadcast_agui::message::Message;
use threadcast_thread_log::engine::{Append, Durability, Guard};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::lease::LeaseChange;
use threadcast_thread_log::position::{Position, Seq};
use threadcast_thread_log::principal::Principal;

use crate::conversation::Conversation;
use crate::event_bounds::{EVENT_BYTES_MAX, STATE_SNAPSHOT_BYTES_MAX};
use crate::fact::{Fact, ForkedFrom, ThreadForked};
use crate::fold::Fold;
use crate::thread_record::StoredRecord;

/// Why a thread cannot be forked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// Messages or state are longer than one event may be.
    #[error("{what} take an event of {found} bytes, at most {max} are allowed")]
    TooLarge {
        what: &'static str,
        found: usize,
        max: usize,
    },
}

/// The append that begins thread `to` with messages and state of `fold`, which has the entries of
/// its thread up to `from`; refused as a conflict if `to` has a log by then.
///
/// # Errors
/// Messages or state are too large.
pub fn fork(
    fold: &Fold,
    to: &ThreadId,
    by: &Principal,
    at: Millis,
    from: &Position,
) -> Result<Append, ForkError> {
    let from = ForkedFrom {
        thread_id: fold.thread().clone(),
        epoch: from.epoch.clone(),
        seq: from.seq,
    };
    let entries = beginning(fold.conversation(), to, by, at, from)?;
    let empty = Fold::new(to.clone());
    let record = StoredRecord::of(&empty).at(&empty, entries.len());
    Ok(Append {
        thread: to.clone(),
        known: Position::default(),
        may_create: true,
        guard: Guard {
            lease: None,
            control: Some(Seq::ZERO),
            state: None,
        },
        lease: LeaseChange::Keep,
        source: None,
        entries,
        record: Some(record.to_bytes()),
        durability: Durability::Durable,
    })
}

/// The first entries of a log that begins with what `held` holds; the last of them touches control.
///
/// # Errors
/// Messages or state are too large.
pub(crate) fn beginning(
    held: &Conversation,
    to: &ThreadId,
    by: &Principal,
    at: Millis,
    from: ForkedFrom,
) -> Result<Vec<NewEntry>, ForkError> {
    let run = RunId::new("threadcast:fork").expect("the id is short");
    let fact = Fact::ThreadForked(ThreadForked {
        by: by.clone(),
        from,
        run_id: run.clone(),
    });
    let fact = Record {
        at,
        run: None,
        origin: Origin::Principal(by.clone()),
        body: fact.to_body(),
    };
    let mut entries = vec![new_entry(Class::CONTROL, fact)];
    for (class, event) in carrying(held, to, &run)? {
        let body = Body::Event {
            json: event.json,
            from_chunk: false,
        };
        entries.push(new_entry(
            class,
            Record {
                at,
                run: Some(run.clone()),
                origin: Origin::Hub,
                body,
            },
        ));
    }
    Ok(entries)
}

/// A run that restates messages and state and leaves nothing pending.
fn carrying(
    held: &Conversation,
    thread: &ThreadId,
    run: &RunId,
) -> Result<[(Class, Event); 4], ForkError> {
    let messages: Vec<Message> = held.messages().cloned().collect();
    let messages = make::messages_snapshot(&messages);
    let state = make::state_snapshot(held.state());
    must_fit("the messages", &messages, EVENT_BYTES_MAX)?;
    must_fit("the state", &state, STATE_SNAPSHOT_BYTES_MAX)?;
    let started = make::run_started(thread, run, None, None, None);
    Ok([
        (Class::CONTROL, started),
        (Class::NONE, messages),
        (Class::STATE, state),
        (Class::CONTROL, make::run_finished(thread, run)),
    ])
}

fn must_fit(what: &'static str, event: &Event, max: usize) -> Result<(), ForkError> {
    let found = event.json.as_str().len();
    if found > max {
        return Err(ForkError::TooLarge { what, found, max });
    }
    Ok(())
}

fn new_entry(class: Class, record: Record) -> NewEntry {
    NewEntry {
        class,
        record: Arc::new(record),
    }
}
