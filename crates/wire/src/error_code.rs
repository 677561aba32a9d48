//! Why a request was not served: one table for socket and HTTP (docs/protocol.md §10).

use std::fmt;

use serde::{Serialize, Serializer};

/// What the table says of one code.
struct Row {
    code: &'static str,
    http_status: u16,
    retryable: bool,
    when: &'static str,
}

macro_rules! retryable {
    (yes) => {
        true
    };
    (no) => {
        false
    };
}

macro_rules! table {
    ($($code:ident = $name:literal $http_status:literal $retryable:ident $when:literal,)+) => {
        /// Names a reason. In the order of the protocol's table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $(#[doc = $when] $code,)+
        }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$code,)+];

            const fn row(self) -> Row {
                match self {
                    $(Self::$code => Row {
                        code: $name,
                        http_status: $http_status,
                        retryable: retryable!($retryable),
                        when: $when,
                    },)+
                }
            }
        }
    };
}

table! {
    // code, HTTP status, retryable, when
    BadFrame         = "bad_frame"         400 no  "the frame or request body is malformed",
    UnknownOp        = "unknown_op"        400 no  "this version does not serve the op",
    Forbidden        = "forbidden"         403 no  "the caller may not do this",
    NotFound         = "not_found"         404 no  "there is no such run, thread or path",
    AgentUnknown     = "agent_unknown"     404 no  "no agent of that name is configured",
    ThreadBusy       = "thread_busy"       409 yes "another run of the thread is active",
    RunConflict      = "run_conflict"      409 no  "the run id was used with another submission",
    InterruptsOpen   = "interrupts_open"   409 no  "the thread waits for answers",
    ResumeDuplicate  = "resume_duplicate"  422 no  "one interrupt is answered twice",
    ResumeIncomplete = "resume_incomplete" 422 no  "open interrupts are left unanswered",
    InterruptUnknown = "interrupt_unknown" 422 no  "the run raised no such interrupt",
    InterruptExpired = "interrupt_expired" 410 no  "the interrupt can only be cancelled",
    PayloadInvalid   = "payload_invalid"   422 no  "a payload breaks its response schema",
    AlreadyResolved  = "already_resolved"  409 no  "someone answered otherwise before",
    ThreadExists     = "thread_exists"     409 no  "a new thread was to begin under the id of one with a log",
    Trimmed          = "trimmed"           410 no  "the entries that this needs are no longer kept",
    TooLarge         = "too_large"         413 no  "a limit is passed",
    Overloaded       = "overloaded"        503 yes "the hub is busy",
    Unavailable      = "unavailable"       503 yes "the log store cannot be reached",
    Internal         = "internal"          500 no  "the hub broke a promise",
}

impl ErrorCode {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        self.row().code
    }

    /// The status of an HTTP answer that says this and nothing more precise.
    pub const fn http_status(self) -> u16 {
        self.row().http_status
    }

    /// Whether the same request may succeed later without being changed.
    pub const fn is_retryable(self) -> bool {
        self.row().retryable
    }

    /// The cause in a few words.
    pub const fn when(self) -> &'static str {
        self.row().when
    }

    /// The code of that name, unless a later version made it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}
