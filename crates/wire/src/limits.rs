//! Every bound of the protocol, with its reason (docs/protocol.md §12).
//!
//! A bound that an operator may move is a member of [`Limits`]; the others are constants.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use threadcast_agui::ids::ID_BYTES_MAX;
use threadcast_agui::json::DEPTH_MAX;

/// Longest name of an agent, in bytes: it stands in paths and in facts.
pub const AGENT_NAME_BYTES_MAX: usize = 128;

/// Longest `reason` of a `cancel`, in bytes: a sentence that stands in a fact every viewer gets.
pub const REASON_BYTES_MAX: usize = 1024;

/// A frame joined from parts, in bytes, for clients: more than the longest baseline of a hub with
/// default limits, for an operator may move that one.
pub const JOINED_BYTES_MAX: usize = 80 << 20;

/// An event made up for a plain reader, in UTF-16 units: AG-UI's reference client gives up at 10 Mi
/// with the `data: ` in front of it and the line end behind it.
pub const PLAIN_EVENT_CHARACTERS_MAX: usize = (10 << 20) - 16;

/// What the hub enforces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest frame of a client. Runs with longer inputs go by HTTP.
    pub frame_bytes: usize,
    /// Longest run input by HTTP: histories with pictures inside.
    pub input_bytes: usize,
    /// Requests of one connection without an answer yet; at this many the hub stops reading.
    pub requests_in_flight: usize,
    /// Subscriptions of one connection; each costs a place in the session and keeps its thread in
    /// memory.
    pub subscriptions: usize,
    /// Bad frames of one connection within a minute; the next one closes it.
    pub bad_frames_per_minute: u32,
    /// Longest frame to a client that is sent in one piece.
    pub part_over_bytes: usize,
    /// Length of a piece of a longer one: 16 KiB take 13 ms at 10 Mbit/s, which is what another
    /// thread waits for.
    pub part_bytes: usize,
    /// Longest baseline: what a client must be ready to hold in one frame. The longest conversation
    /// (messages 32 MiB, state 8 MiB) with what stands around it.
    pub baseline_bytes: usize,
    /// Between two pings.
    pub heartbeat: Duration,
    /// Shortest interval a client may ask for.
    pub heartbeat_min: Duration,
    /// Longest interval a client may ask for: a phone's radio sleeps in between.
    pub heartbeat_max: Duration,
    /// A socket is dead when nothing came from it for so long after a ping was written.
    pub dead_after: Duration,
    /// A socket is dead when it takes no byte for so long.
    pub stuck_after: Duration,
    /// A ping unanswered for so long means a dead socket, if the line was quiet before it.
    pub ping_unanswered: Duration,
    /// How long nothing else was written on a quiet line.
    pub quiet_line: Duration,
    /// Unsent bytes in the kernel, per socket: what a slow viewer misses stays a cursor.
    pub unsent_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes: 1 << 20,
            input_bytes: 16 << 20,
            requests_in_flight: 32,
            subscriptions: 1000,
            bad_frames_per_minute: 10,
            part_over_bytes: 64 << 10,
            part_bytes: 16 << 10,
            baseline_bytes: 48 << 20,
            heartbeat: Duration::from_secs(25),
            heartbeat_min: Duration::from_secs(5),
            heartbeat_max: Duration::from_secs(300),
            dead_after: Duration::from_secs(90),
            stuck_after: Duration::from_secs(120),
            ping_unanswered: Duration::from_secs(10),
            quiet_line: Duration::from_secs(30),
            unsent_bytes: 8 << 10,
        }
    }
}

impl Limits {
    /// The interval that is kept for a client that asked for `asked_ms`.
    pub fn heartbeat_for(&self, asked_ms: u64) -> Duration {
        Duration::from_millis(asked_ms).clamp(self.heartbeat_min, self.heartbeat_max)
    }

    /// Every bound by the name the protocol's table gives it, in the table's order; times in
    /// milliseconds.
    pub fn table(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("frameBytes", self.frame_bytes as u64),
            ("inputBytes", self.input_bytes as u64),
            ("depth", DEPTH_MAX as u64),
            ("idBytes", ID_BYTES_MAX as u64),
            ("agentNameBytes", AGENT_NAME_BYTES_MAX as u64),
            ("reasonBytes", REASON_BYTES_MAX as u64),
            ("requestsInFlight", self.requests_in_flight as u64),
            ("subscriptions", self.subscriptions as u64),
            ("badFramesPerMinute", self.bad_frames_per_minute.into()),
            ("partOverBytes", self.part_over_bytes as u64),
            ("partBytes", self.part_bytes as u64),
            ("baselineBytes", self.baseline_bytes as u64),
            ("joinedBytes", JOINED_BYTES_MAX as u64),
            ("plainEventCharacters", PLAIN_EVENT_CHARACTERS_MAX as u64),
            ("heartbeatMs", millis(self.heartbeat)),
            ("heartbeatMsMin", millis(self.heartbeat_min)),
            ("heartbeatMsMax", millis(self.heartbeat_max)),
            ("deadAfterMs", millis(self.dead_after)),
            ("stuckAfterMs", millis(self.stuck_after)),
            ("pingUnansweredMs", millis(self.ping_unanswered)),
            ("quietLineMs", millis(self.quiet_line)),
            ("unsentBytes", self.unsent_bytes as u64),
        ]
    }
}

/// The bounds a client can run into, as `welcome` tells them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToldLimits {
    pub frame_bytes: u64,
    pub input_bytes: u64,
    pub depth: u64,
    pub id_bytes: u64,
    pub requests_in_flight: u64,
    pub subscriptions: u64,
    pub bad_frames_per_minute: u64,
    pub part_over_bytes: u64,
    pub part_bytes: u64,
    pub baseline_bytes: u64,
    pub heartbeat_ms_min: u64,
    pub heartbeat_ms_max: u64,
}

impl From<&Limits> for ToldLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            frame_bytes: limits.frame_bytes as u64,
            input_bytes: limits.input_bytes as u64,
            depth: DEPTH_MAX as u64,
            id_bytes: ID_BYTES_MAX as u64,
            requests_in_flight: limits.requests_in_flight as u64,
            subscriptions: limits.subscriptions as u64,
            bad_frames_per_minute: limits.bad_frames_per_minute.into(),
            part_over_bytes: limits.part_over_bytes as u64,
            part_bytes: limits.part_bytes as u64,
            baseline_bytes: limits.baseline_bytes as u64,
            heartbeat_ms_min: millis(limits.heartbeat_min),
            heartbeat_ms_max: millis(limits.heartbeat_max),
        }
    }
}

impl Default for ToldLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

/// A time on the wire; longer ones than 2^64 ms do not come up.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
