//! What a client says (docs/protocol.md §3).
//!
//! A frame is read `op` first, then its own members: the raw JSON inside a run's input stays the
//! client's bytes.
//!
//! Invariant: a `ClientOp` is well-formed; whether it is allowed now is not decided here.

use serde::Serialize;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::run_input::RunInput;
use threadcast_thread_log::position::Position;

mod error;
mod read;
mod write;

pub use error::{FrameError, FrameProblem};
pub(crate) use read::request_id;

/// One frame from a client.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientFrame {
    /// Without it the request gets no `ok`.
    pub id: Option<RequestId>,
    pub op: ClientOp,
}

/// Names a request on its connection; echoed as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum RequestId {
    /// From −(2^53 − 1) to 2^53 − 1.
    Number(i64),
    /// 1 to 256 bytes.
    Text(Box<str>),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientOp {
    /// Says who connects (docs/protocol.md §3.1).
    Hello {
        client: ClientName,
        /// The heartbeat the client would like; the hub moves it inside its bounds.
        heartbeat_ms: Option<u64>,
    },
    /// Follows a thread (§3.2).
    Subscribe {
        thread: ThreadId,
        start: SubscribeStart,
    },
    /// Stops following a thread (§3.3).
    Unsubscribe { thread: ThreadId },
    /// Calls an agent (§3.4).
    Run {
        /// Name of the agent.
        agent: String,
        input: RunInput,
        on_busy: OnBusy,
    },
    /// Answers all open interrupts of a run (§3.5).
    Resume {
        thread: ThreadId,
        /// The run that raised the interrupts.
        of: RunId,
        /// The run to start.
        run: RunId,
        entries: Vec<ResumeEntry>,
    },
    /// Asks for the end of a run (§3.6).
    Cancel {
        thread: ThreadId,
        run: RunId,
        reason: Option<String>,
    },
    /// Asks what is known of a thread or a run (§3.7).
    Status {
        thread: ThreadId,
        /// `None` asks for the thread.
        run: Option<RunId>,
    },
    /// Asks for an answer, nothing else (§3.8).
    Ping,
}

/// Who connects, for the hub's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientName {
    pub name: String,
    pub version: String,
}

/// Where a subscription begins.
#[derive(Clone, Debug, PartialEq)]
pub enum SubscribeStart {
    /// Neither position nor start was given: as `Snapshot`, but a subscription that stands already
    /// is left alone.
    Keep,
    /// The fold at the head, then what comes.
    Snapshot,
    /// Every entry from the first retained one on.
    Log,
    /// Only what comes.
    Tail,
    /// What follows the position.
    Position(Position),
    /// The same, every entry by itself.
    LogAfter(Position),
}

/// What to do while another run is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBusy {
    /// Refuse the run.
    #[default]
    Reject,
}
