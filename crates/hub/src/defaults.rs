//! Bounds of the hub itself that are no part of the protocol.

use std::time::Duration;

use threadcast_thread_log::engine::ReadLimit;

/// Ready frames kept for one live thread, at least: at 190 bytes a frame, 2,700 entries; nine seconds of a fast agent.
/// Over it the oldest chunk stays until the others fill it: an event longer than this is encoded once for all.
pub(crate) const TAIL_BYTES: usize = 512 << 10;

/// Neighbouring chunks of a tail are merged up to this length: what one turn needs is then one or two slices.
pub(crate) const CHUNK_BYTES_MAX: usize = 64 << 10;

/// What one subscription may send in its turn, and about what one write carries: a write costs the same up to 15 KB.
pub(crate) const QUANTUM_BYTES: usize = 16 << 10;

/// Slices of one write; the kernel takes 1,024, but a turn rarely needs ten.
pub(crate) const SLICES_MAX: usize = 64;

/// Writes of one session before other tasks of its worker get their turn.
pub(crate) const WRITES_PER_POLL: usize = 8;

/// Frames read from one socket before its other business gets its turn.
pub(crate) const READS_PER_POLL: usize = 8;

/// Answers that wait for their socket; over it the session stops reading, and makes no more answers.
pub(crate) const ANSWERS_BYTES_MAX: usize = 16 << 10;

/// Requests without an answer, as they came; over it the session stops reading.
pub(crate) const REQUESTS_BYTES_MAX: usize = 1 << 20;

/// Turns of one write that add nothing to it, before other tasks of the worker get their turn.
pub(crate) const IDLE_TURNS_MAX: usize = 256;

/// The WebSocket read buffer, allocated for every socket: requests are short, longer ones grow it for as long as they
/// take.
pub(crate) const READ_BUFFER_BYTES: usize = 1 << 10;

/// One read of the engine while a fold is loaded or a gap closed.
pub(crate) const LOAD_LIMIT: ReadLimit = ReadLimit {
    entries: 4096,
    bytes: 1 << 20,
};

/// One read of the engine for a cursor older than the tail: about what one write carries.
pub(crate) const CATCH_UP_LIMIT: ReadLimit = ReadLimit {
    entries: 256,
    bytes: QUANTUM_BYTES,
};

/// A stored snapshot is given to a joining viewer if it is no older than this.
pub(crate) const SNAPSHOT_AGE_MAX: Duration = Duration::from_secs(1);

/// And at most so many entries behind the head.
pub(crate) const SNAPSHOT_ENTRIES_BEHIND_MAX: u64 = 256;

/// How often a command is decided before it is answered `overloaded`.
pub(crate) const TRIES_MAX: u32 = 8;

/// Longest wait between two tries; the first waits are shorter.
pub(crate) const TRY_AGAIN_MAX: Duration = Duration::from_millis(20);

/// Longest wait before a log store that is away is asked again, at first.
pub(crate) const AWAY_FIRST: Duration = Duration::from_millis(100);

/// And at last.
pub(crate) const AWAY_MAX: Duration = Duration::from_secs(5);

/// How often the log is read anew if it changes under the reading.
pub(crate) const READS_MAX: u32 = 8;

/// How long a closing session waits for the other side's close frame, reading away what still comes: closing a socket
/// with unread bytes resets it, and the last frames would be lost.
pub(crate) const LINGER: Duration = Duration::from_secs(5);

/// Spread of the times after which the clients of a draining node reconnect.
pub(crate) const RECONNECT_AFTER_MAX: Duration = Duration::from_secs(5);

/// Window over which bad frames are counted.
pub(crate) const BAD_FRAMES_WINDOW: Duration = Duration::from_secs(60);
