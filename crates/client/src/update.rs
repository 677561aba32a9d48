//! What a subscription yields: the frames of one thread, typed, in order, each entry exactly once.

use std::time::Duration;

use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::{Epoch, Position, Seq};
use threadcast_wire::client_frame::SubscribeStart;
use threadcast_wire::hub_frame::Mode;
use threadcast_wire::view::ThreadView;

use crate::error::Error;

/// Where a subscription begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// A baseline, then what comes.
    #[default]
    Snapshot,
    /// The first retained entry; every entry comes by itself, however far behind the reader is.
    Log,
    /// Only what comes.
    Tail,
    /// What follows a position that was kept, for example over a restart of the program.
    After(Position),
    /// The same, every entry by itself.
    LogAfter(Position),
}

impl Start {
    pub(crate) fn to_wire(&self) -> SubscribeStart {
        match self {
            Self::Snapshot => SubscribeStart::Snapshot,
            Self::Log => SubscribeStart::Log,
            Self::Tail => SubscribeStart::Tail,
            Self::After(position) => SubscribeStart::Position(position.clone()),
            Self::LogAfter(position) => SubscribeStart::LogAfter(position.clone()),
        }
    }
}

/// One step of a thread. The seqs of consecutive updates touch: no gap, no overlap.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Update {
    /// The hub serves the subscription, at the beginning and after every break.
    ///
    /// With [`Mode::Snapshot`] and [`Mode::Log`] what is held of the thread is void. A viewer that
    /// reached `head` is caught up; a thread whose head is 0 has nothing to follow with.
    Subscribed {
        /// What follows.
        mode: Mode,
        /// Where the log stands.
        head: Position,
        /// Why the mode is not the one that was asked for.
        reason: Option<Box<str>>,
    },
    /// Everything up to `seq`, as AG-UI events for an empty client; replaces what is held.
    Baseline {
        /// The last entry it stands for.
        seq: Seq,
        /// To be applied as one step.
        events: Vec<RawJson>,
        /// The hub's own view at `seq`.
        view: Option<ThreadView>,
    },
    /// One AG-UI event, exactly as it stands in the log.
    Event {
        /// Its place in the log.
        seq: Seq,
        /// When it entered the log; informational, never to be compared.
        at: Millis,
        /// The event's own bytes.
        event: RawJson,
    },
    /// One of the hub's own facts: an object with `type` and `by`.
    Fact {
        /// Its place in the log.
        seq: Seq,
        /// When it entered the log; informational, never to be compared.
        at: Millis,
        /// The public part.
        fact: RawJson,
    },
    /// AG-UI events that stand for the entries `from` to `seq` together, for a reader that is far
    /// behind. Whoever folds them holds the same as after the entries themselves.
    Compacted {
        /// The first entry it stands for.
        from: Seq,
        /// The last one.
        seq: Seq,
        /// To be applied as one step.
        events: Vec<RawJson>,
        /// The hub's view at `seq`, where facts were left out.
        view: Option<ThreadView>,
    },
    /// What follows belongs to another epoch; what is held stays.
    Epoch {
        /// The new epoch.
        epoch: Epoch,
        /// The last entry before it.
        seq: Seq,
    },
    /// What is held is void; a baseline follows.
    Reset {
        /// Why, in a word of the protocol.
        reason: Box<str>,
    },
    /// The connection is gone and is tried again after `retry_in`; nothing is lost. A reader that
    /// is far behind when it happens may not be told.
    Lost {
        /// How the connection ended, or why none could be made.
        error: Error,
        /// When the next attempt starts.
        retry_in: Duration,
    },
}

impl Update {
    /// The entries it stands for, first and last; `None` when it is about the subscription itself.
    pub fn range(&self) -> Option<(Seq, Seq)> {
        let first = Seq::ZERO.next();
        match self {
            Self::Baseline { seq, .. } => Some((first, *seq)),
            Self::Event { seq, .. } | Self::Fact { seq, .. } => Some((*seq, *seq)),
            Self::Compacted { from, seq, .. } => Some((*from, *seq)),
            Self::Subscribed { .. }
            | Self::Epoch { .. }
            | Self::Reset { .. }
            | Self::Lost { .. } => None,
        }
    }
}
