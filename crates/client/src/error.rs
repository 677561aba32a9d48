//! What can go wrong, as one opaque error: a code for programs, a sentence for people.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use threadcast_agui::ids::ThreadId;
use threadcast_wire::error_body::ReceivedError;
use threadcast_wire::part::PartError;

/// Why a request, a subscription or a connection failed; a copy is a reference count.
///
/// Either the hub refused (then [`code`](Self::code) is a code of the protocol, possibly one of a
/// later version) or the client could not do its part: `bad_url`, `closed`, `disconnected`,
/// `already_subscribed`, `handshake`, `protocol`, `timeout`, `too_large`, `unsupported`.
#[derive(Clone)]
pub struct Error(Arc<Cause>);

#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error("a subscription of thread `{thread}` is open on this client")]
    AlreadySubscribed { thread: ThreadId },
    #[error("hub address `{url}` is no ws:// URL: {reason}")]
    BadUrl { url: String, reason: String },
    #[error("the hub closed the connection with {code} ({reason})")]
    Closed { code: u16, reason: String },
    #[error("{0}")]
    Disconnected(Disconnect),
    #[error("the hub refused the connection with HTTP {status}{}", with_colon(.body))]
    Handshake {
        status: u16,
        body: String,
        retry_after: Option<Duration>,
    },
    #[error("{}", .0.message)]
    Hub(ReceivedError),
    #[error("the hub broke the protocol: {0}")]
    Protocol(String),
    #[error("{what} had no answer within {after:?}{}", because(.last))]
    Timeout {
        what: &'static str,
        after: Duration,
        last: Option<Error>,
    },
    #[error("a frame of the thread is longer than this client takes: {0}")]
    TooLargeToHold(PartError),
    #[error("`{what}` is a frame of {found} bytes, the hub takes {max}")]
    TooLarge {
        what: &'static str,
        found: usize,
        max: u64,
    },
    #[error("hub address `{url}` asks for TLS, which this client does not speak")]
    Unsupported { url: String },
}

/// How a connection ended without a word from the hub.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Disconnect {
    #[error("`{address}` could not be reached")]
    Connect { address: String, source: io::Error },
    #[error("the hub is going away")]
    Draining,
    #[error("the connection ended")]
    End,
    #[error("the connection broke")]
    Broken { source: io::Error },
    #[error("nothing was received for {0:?}")]
    Silent(Duration),
    #[error("nothing could be written for {0:?}")]
    Stuck(Duration),
    #[error("all handles of the client are gone")]
    Unused,
}

fn with_colon(body: &str) -> String {
    if body.is_empty() {
        String::new()
    } else {
        format!(": {body}")
    }
}

fn because(last: &Option<Error>) -> String {
    last.as_ref()
        .map(|error| format!("; {error}"))
        .unwrap_or_default()
}

impl Error {
    /// The reason's name, stable across versions.
    pub fn code(&self) -> &str {
        match &*self.0 {
            Cause::AlreadySubscribed { .. } => "already_subscribed",
            Cause::BadUrl { .. } => "bad_url",
            Cause::Closed { .. } => "closed",
            Cause::Disconnected(_) => "disconnected",
            Cause::Handshake { .. } => "handshake",
            Cause::Hub(error) => &error.code,
            Cause::Protocol(_) => "protocol",
            Cause::Timeout { .. } => "timeout",
            Cause::TooLarge { .. } | Cause::TooLargeToHold(_) => "too_large",
            Cause::Unsupported { .. } => "unsupported",
        }
    }

    /// Whether the same thing may succeed later without being changed.
    ///
    /// A request that may be repeated under the same run id loses nothing: the hub answers with the
    /// run it started.
    pub fn is_retryable(&self) -> bool {
        match &*self.0 {
            Cause::Disconnected(_) | Cause::Timeout { .. } => true,
            Cause::Handshake { status, .. } => *status >= 500 || *status == 429,
            Cause::Hub(error) => error.retryable,
            Cause::AlreadySubscribed { .. }
            | Cause::BadUrl { .. }
            | Cause::Closed { .. }
            | Cause::Protocol(_)
            | Cause::TooLarge { .. }
            | Cause::TooLargeToHold(_)
            | Cause::Unsupported { .. } => false,
        }
    }

    /// What the hub added for programs: an object whose members the code determines.
    pub fn details(&self) -> Option<&Value> {
        match &*self.0 {
            Cause::Hub(error) => error.details.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn cause(&self) -> &Cause {
        &self.0
    }
}

impl From<Cause> for Error {
    fn from(cause: Cause) -> Self {
        Self(Arc::new(cause))
    }
}

impl From<Disconnect> for Error {
    fn from(disconnect: Disconnect) -> Self {
        Cause::Disconnected(disconnect).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Error")
            .field(&self.code())
            .field(&self.0)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Cause::Disconnected(
                Disconnect::Broken { source } | Disconnect::Connect { source, .. },
            ) => Some(source),
            _ => None,
        }
    }
}
