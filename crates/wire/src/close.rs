//! Why the hub closed a socket, and what the client does next (docs/protocol.md §11).

/// A close code the hub sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseCode {
    /// The node stops.
    Draining,
    /// The client sent a binary message.
    Binary,
    /// The client sent too much that is no frame.
    BadFrames,
    /// The client sent a frame over the limit.
    TooLarge,
}

/// Whether a client comes back by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconnect {
    /// After the wait that the `draining` frame named.
    AfterDraining,
    /// After the client's own backoff.
    WithBackoff,
    /// The same client would be closed for the same reason again.
    No,
}

struct Row {
    code: u16,
    reason: &'static str,
    reconnect: Reconnect,
}

impl CloseCode {
    /// Every code.
    pub const ALL: [Self; 4] = [
        Self::Draining,
        Self::Binary,
        Self::BadFrames,
        Self::TooLarge,
    ];

    const fn row(self) -> Row {
        let (code, reason, reconnect) = match self {
            Self::Draining => (1001, "draining", Reconnect::AfterDraining),
            Self::Binary => (1003, "binary message", Reconnect::No),
            Self::BadFrames => (1008, "too many bad frames", Reconnect::No),
            Self::TooLarge => (1009, "frame too large", Reconnect::No),
        };
        Row {
            code,
            reason,
            reconnect,
        }
    }

    /// The number in the WebSocket close frame.
    pub const fn code(self) -> u16 {
        self.row().code
    }

    /// The text in the WebSocket close frame.
    pub const fn reason(self) -> &'static str {
        self.row().reason
    }

    /// What a client does next.
    pub const fn reconnect(self) -> Reconnect {
        self.row().reconnect
    }

    /// The meaning of a number, unless the hub does not send it; then a client backs off and comes
    /// back.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.code() == code)
    }
}
