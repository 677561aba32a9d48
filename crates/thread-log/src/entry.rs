//! What stands in a log: events and facts, each with its seq.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;

use crate::position::Seq;
use crate::principal::Principal;

/// Milliseconds since 1970 by the hub's clock; informational, never compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

/// One numbered entry of a thread's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub seq: Seq,
    pub class: Class,
    /// Shared: an engine, a tail and a fold hold the same record.
    pub record: Arc<Record>,
}

/// What an entry says, without its place in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub at: Millis,
    /// The run it belongs to, if any.
    pub run: Option<RunId>,
    pub origin: Origin,
    pub body: Body,
}

impl Record {
    /// Bytes of JSON it carries, private parts included.
    pub fn size_bytes(&self) -> usize {
        match &self.body {
            Body::Event { json, .. } => json.as_str().len(),
            Body::Fact { public, private } => {
                public.as_str().len() + private.as_ref().map_or(0, |private| private.as_str().len())
            }
        }
    }
}

/// An AG-UI event, or one of the hub's own facts.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Event {
        json: RawJson,
        /// Whether a chunk opened the item this event starts, so that any node can go on
        /// expanding.
        from_chunk: bool,
    },
    Fact {
        /// An object with `type` and `by`; what viewers get.
        public: RawJson,
        /// What only the audit reads: full inputs, forwarded properties, attempt ids.
        private: Option<RawJson>,
    },
}

/// Where an entry comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    Agent,
    Hub,
    Principal(Principal),
    Producer,
}

/// Which versions an entry moves; set by the core, not looked behind by engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// Touches runs, queue, interrupts, answers or claims.
    pub control: bool,
    /// Changes shared state.
    pub state: bool,
}

impl Class {
    pub const NONE: Self = Self {
        control: false,
        state: false,
    };
    pub const CONTROL: Self = Self {
        control: true,
        state: false,
    };
    pub const STATE: Self = Self {
        control: false,
        state: true,
    };
}

/// An entry that wants to be appended.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntry {
    pub class: Class,
    pub record: Arc<Record>,
}
