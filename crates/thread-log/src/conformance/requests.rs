//! Appends for the cases to ask for.

use std::sync::Arc;

use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;

use crate::engine::{Append, Durability, Guard};
use crate::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use crate::lease::{LeaseChange, LeaseToken, NodeId};
use crate::position::Position;

/// An append that asks for nothing and does nothing: cases name what matters to them.
pub fn request(thread: &ThreadId) -> Append {
    Append {
        thread: thread.clone(),
        known: Position::default(),
        may_create: false,
        guard: Guard::default(),
        lease: LeaseChange::Keep,
        source: None,
        entries: Vec::new(),
        record: None,
        durability: Durability::Held,
    }
}

/// An entry of that class which says `number`.
pub fn entry(class: Class, number: u64) -> NewEntry {
    custom(class, number, &number.to_string())
}

/// An entry without a class of so many bytes and a few more.
pub fn large(bytes: usize) -> NewEntry {
    custom(Class::NONE, 1, &format!("\"{}\"", "x".repeat(bytes)))
}

fn custom(class: Class, at: u64, value: &str) -> NewEntry {
    let json = RawJson::from_trusted(format!(
        "{{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":{value}}}"
    ));
    let body = Body::Event {
        json,
        from_chunk: false,
    };
    NewEntry {
        class,
        record: Arc::new(Record {
            at: Millis(at),
            run: None,
            origin: Origin::Agent,
            body,
        }),
    }
}

/// Entries without a class, numbered from 1.
pub fn texts(count: u64) -> Vec<NewEntry> {
    (1..=count)
        .map(|number| entry(Class::NONE, number))
        .collect()
}

pub fn token(name: &str) -> LeaseToken {
    LeaseToken(name.into())
}

pub fn node(name: &str) -> NodeId {
    NodeId(name.into())
}

/// Takes the lease under that token.
pub fn take(name: &str) -> LeaseChange {
    LeaseChange::Take {
        token: token(name),
        node: node("n1"),
    }
}
