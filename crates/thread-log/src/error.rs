//! What can go wrong in an engine: failures an operator must hear of, not refusals.

/// Why an engine did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store is away; the outcome of what was under way is unknown. Worth trying again.
    #[error("the log store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What was read is not what was written.
    #[error("entry {seq} of thread `{thread}` cannot be read")]
    Corrupt {
        thread: String,
        seq: u64,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the thread's record is {found} bytes long, at most {max} are allowed")]
    RecordTooLong { found: usize, max: usize },
    #[error(
        "trimming thread `{thread}` through {through} needs a checkpoint at or after it, found {found:?}"
    )]
    NoCheckpoint {
        thread: String,
        through: u64,
        found: Option<u64>,
    },
}
