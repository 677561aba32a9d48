//! What one line, or one block, of an input says.

use threadcast_agui::json::RawJson;
use threadcast_thread_log::position::Seq;

/// One piece of an input and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Item {
    /// From 1.
    pub(in crate::cli) line: u64,
    pub(in crate::cli) piece: Piece,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Piece {
    /// An event as an agent sent it, not looked into.
    Event { json: Box<str> },
    /// One entry of a log; `text` is its line.
    Entry {
        seq: Seq,
        body: EntryBody,
        text: Box<str>,
    },
    /// Events that stand for the entries `from` to `seq` together; `state` is what no event could
    /// carry.
    Range {
        from: Seq,
        seq: Seq,
        events: Vec<RawJson>,
        state: Option<RawJson>,
        text: Box<str>,
    },
    /// What stood before is void, and what follows begins anew.
    Anew { text: Box<str> },
    /// A frame that changes nothing.
    Aside { text: Box<str> },
    /// A line of a stream that is no UTF-8: nothing behind it is read.
    NoText { beginning: Box<str> },
    /// `data: [DONE]`: nothing behind it is read.
    Done,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum EntryBody {
    Event(RawJson),
    Fact(RawJson),
}
