//! Who may append a run's events: a random token and a beat.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Names one taking of a lease: random, compared for equality only.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseToken(pub Arc<str>);

/// Names one running program of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub Arc<str>);

/// A lease as it stands in the log's meta: raised by every append under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub token: LeaseToken,
    pub node: NodeId,
    pub beat: u64,
}

/// What an append does to the lease; no clock takes part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LeaseChange {
    #[default]
    Keep,
    /// The lease must be free. Starts the source position at 0.
    Take {
        token: LeaseToken,
        node: NodeId,
    },
    /// Only if token and beat still stand as seen.
    Seize {
        token: LeaseToken,
        node: NodeId,
        seen_token: LeaseToken,
        seen_beat: u64,
        source: SeizedSource,
    },
    Free,
    /// Raises the beat of a quiet run: the lease is guarded, entries are none.
    Renew,
}

/// What becomes of the source position when a lease is seized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeizedSource {
    /// Another source speaks from now on.
    Restart,
    /// The same producer came back on another node.
    Continue,
}
