//! What the hub says (docs/protocol.md §4).
//!
//! The hub writes frames with the functions here, into a buffer it shares between all viewers; a
//! client reads [`HubFrame`]. An event's bytes are copied and never looked into.

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::{Position, Seq};

use crate::client_frame::RequestId;
use crate::error_body::ReceivedError;
use crate::limits::ToldLimits;
use crate::view::ThreadView;

mod read;
mod write;

pub use read::HubFrameError;
pub use write::{
    ThreadTag, write_draining, write_epoch, write_error, write_event, write_events,
    write_events_by, write_fact, write_ok, write_part, write_reset, write_subscribed,
    write_unsubscribed, write_welcome,
};

/// One frame from the hub, as a client reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum HubFrame {
    /// The first frame of a connection (docs/protocol.md §4.1).
    Welcome(Welcome),
    /// The answer to a request that was served (§4.2); [`AnswerText::read`] gives it a type.
    Ok { id: RequestId, answer: AnswerText },
    /// The answer to a request that was not served (§4.2).
    Error {
        id: Option<RequestId>,
        error: ReceivedError,
    },
    /// The beginning of a subscription (§4.3).
    Subscribed(Subscribed),
    /// One AG-UI event (§4.4).
    Event {
        thread: ThreadId,
        seq: Seq,
        at: Millis,
        event: RawJson,
    },
    /// The public part of a fact (§4.4).
    Fact {
        thread: ThreadId,
        seq: Seq,
        at: Millis,
        fact: RawJson,
    },
    /// AG-UI events that stand for the entries `from` to `seq` together (§4.5).
    Events {
        thread: ThreadId,
        from: Seq,
        seq: Seq,
        events: Vec<RawJson>,
        view: Option<ThreadView>,
    },
    /// A piece of a longer frame (§4.6).
    Part {
        thread: ThreadId,
        /// From 1.
        n: u64,
        last: bool,
        text: String,
    },
    /// Entries after `position.seq` belong to `position.epoch` (§4.7).
    Epoch {
        thread: ThreadId,
        position: Position,
    },
    /// What is held of the thread is void (§4.7); the log now stands at `position`.
    Reset {
        thread: ThreadId,
        position: Position,
        reason: Box<str>,
    },
    /// The hub ended the subscription (§4.8).
    Unsubscribed {
        thread: ThreadId,
        code: Box<str>,
        message: Box<str>,
    },
    /// The node is going away (§4.9).
    Draining { reconnect_after_ms: u64 },
    /// An op that a later version made; to be ignored.
    Unknown { op: Box<str> },
}

/// The first frame of every connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// Names the connection in the hub's log.
    pub connection: String,
    pub protocol: String,
    /// Names the program that serves it.
    pub node: String,
    pub heartbeat_ms: u64,
    pub limits: ToldLimits,
}

/// The beginning of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribed {
    /// Of the request it answers.
    pub id: Option<RequestId>,
    pub thread: ThreadId,
    /// The log's head: a viewer that reached it is caught up.
    pub head: Position,
    pub mode: Mode,
    /// Why the mode is not the one that was asked for.
    pub reason: Option<Box<str>>,
}

/// What follows a `subscribed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The entries after the position.
    Resumed,
    /// A baseline; the client drops what it holds of the thread.
    Snapshot,
    /// The entries from the first retained one; the client drops what it holds of the thread.
    Log,
    /// Only what comes.
    Tail,
}

/// Why a position or a viewer's place in the log was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetReason {
    /// The viewer fell so far behind that a baseline is cheaper than what it missed.
    Behind,
    /// The log does not know the epoch: the thread's log began anew, or the position is too old.
    EpochUnknown,
    /// Entries the viewer has seen are no longer in the log.
    Lost,
    /// Entries the viewer has not seen are no longer in the log.
    Trimmed,
}

impl ResetReason {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Behind, Self::EpochUnknown, Self::Lost, Self::Trimmed];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Behind => "behind",
            Self::EpochUnknown => "epoch_unknown",
            Self::Lost => "lost",
            Self::Trimmed => "trimmed",
        }
    }
}

/// The text of an `ok` frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerText(Box<str>);

impl AnswerText {
    /// Reads one of the types of [`crate::answer`].
    ///
    /// # Errors
    /// The answer is one to another request.
    pub fn read<T: for<'de> Deserialize<'de>>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// The whole frame.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
