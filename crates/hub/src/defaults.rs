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

/// Making a baseline longer than this takes a millisecond and more; answers do not wait for it.
pub(crate) const LONG_BASELINE_BYTES: usize = 512 << 10;

/// A checkpoint up to this length is read where it is needed; a longer one on a thread of its own.
pub(crate) const CHECKPOINT_INLINE_BYTES: usize = 64 << 10;

/// A fold is kept when at least so much JSON was folded since it last was, and as much as that one took: reading that
/// again takes some 30 ms.
pub(crate) const CHECKPOINT_BYTES: usize = 2 << 20;

/// The fold of a thread that leaves memory is kept if more entries than this were folded since it last was,
pub(crate) const LEAVING_ENTRIES: u64 = 4096;

/// or more JSON than this.
pub(crate) const LEAVING_BYTES: usize = 512 << 10;

/// … and if the entries since take at least this part of what the last one took: reading them is dearer, byte by byte,
/// and writing it anew costs more than they did.
pub(crate) const LEAVING_SHARE: usize = 8;

/// Folds that become bytes at the same time.
pub(crate) const SAVERS_MAX: usize = 2;

/// Logs that are folded for one request each at the same time, to tell what they amounted to at some entry.
pub(crate) const FOLDINGS_MAX: usize = 4;

/// How often the sweeper looks at what is due.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// How often a node shows that it lives.
pub(crate) const NODE_BEAT_EVERY: Duration = Duration::from_secs(5);

/// A lease is seized when so many readings of it,
pub(crate) const LEASE_READINGS: u32 = 3;

/// at least this far apart from each other,
pub(crate) const LEASE_READING_EVERY: Duration = Duration::from_secs(5);

/// and so far from the first to the last, were equal: its owner raises the beat every 5 s.
pub(crate) const LEASE_FOR: Duration = Duration::from_secs(15);

/// Due threads of a bucket asked for at first; all are asked for if there are more.
pub(crate) const WORK_PAGE: usize = 256;

/// Threads that a sweeper reads, or takes over, at the same time.
pub(crate) const SWEEP_WIDTH: usize = 16;

/// How long taking over one thread may take: the store may not answer.
pub(crate) const TAKE_OVER_MAX: Duration = Duration::from_secs(30);

/// How long a thread is left alone that could not be taken over: it may never be readable again.
pub(crate) const TAKE_OVER_AGAIN: Duration = Duration::from_secs(10);

/// How often the threads whose runs ended here are looked at for what need not be kept.
pub(crate) const RETAIN_ENDED_EVERY: Duration = Duration::from_secs(60);

/// And all others.
pub(crate) const RETAIN_ALL_EVERY: Duration = Duration::from_secs(3600);

/// Threads listed at once for it.
pub(crate) const RETAIN_PAGE: usize = 64;

/// Between two such pages: 100,000 threads take some 80 s.
pub(crate) const RETAIN_PAUSE: Duration = Duration::from_millis(50);

/// Threads noted because their runs ended; those over it are found with all others.
pub(crate) const ENDED_MAX: usize = 65_536;

/// Threads of which a handle is kept for a while although nobody else holds one,
pub(crate) const RECENT_THREADS: usize = 256;

/// as long as their messages and states take less than this,
pub(crate) const RECENT_BYTES: usize = 128 << 20;

/// for this long after they were last asked for: a burst of requests reads the log once.
pub(crate) const RECENT_FOR: Duration = Duration::from_secs(30);

/// One read of the engine for a cursor older than the tail: about what one write carries.
pub(crate) const CATCH_UP_LIMIT: ReadLimit = ReadLimit {
    entries: 256,
    bytes: QUANTUM_BYTES,
};

/// A viewer that is so many entries behind is caught up by what they amount to; a fast one never is, under bursts neither.
pub(crate) const FAR_ENTRIES: u64 = 1024;

/// Or so many bytes of frames.
pub(crate) const FAR_BYTES: usize = 256 << 10;

/// So few entries behind a viewer is near: they go out one by one.
pub(crate) const NEAR_ENTRIES: u64 = 16;

/// Compacted blocks kept for one live thread: what 200,000 tokens amount to.
pub(crate) const BLOCKS_BYTES: usize = 1 << 20;

/// A block over this is shared by those who send it, but not kept for later: others would have to go for it.
pub(crate) const BLOCK_KEPT_BYTES_MAX: usize = BLOCKS_BYTES / 4;

/// Longest compacted block that is sent as it is; where it would be longer, blocks of fewer entries are: what a slow
/// viewer has not taken to its end it has for nothing.
pub(crate) const BLOCK_BYTES_MAX: usize = 32 << 10;

/// A viewer is not told to start over for less than this: about what one write carries.
pub(crate) const RESET_BYTES_MIN: u64 = 16 << 10;

/// At least so many entries tell what those after them will amount to,
pub(crate) const SAMPLE_ENTRIES: u64 = 64;

/// and at least this part of them: one in so many.
pub(crate) const SAMPLE_SHARE: u64 = 8;

/// What a baseline is long beside messages and state, about.
pub(crate) const BASELINE_ENVELOPE_BYTES: usize = 2 << 10;

/// A session is slow until its socket was not blocked for so long.
pub(crate) const SLOW_FOR: Duration = Duration::from_secs(2);

/// If it then blocks again within the same time, the next wait is so many times longer: each try costs what the kernel
/// holds, and takes a thin line a second to carry.
pub(crate) const SLOW_FOR_GROWTH: u32 = 4;

/// Longest such wait.
pub(crate) const SLOW_FOR_MAX: Duration = Duration::from_secs(32);

/// Between two sends of a slow session: what piles up meanwhile goes out as one.
pub(crate) const SLOW_SEND_EVERY: Duration = Duration::from_millis(250);

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
