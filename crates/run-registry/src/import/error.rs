//! Why an import stops.

use threadcast_agui::fields::ReadError;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_thread_log::entry::Class;
use threadcast_thread_log::position::Seq;

use crate::checkpoint::CheckpointError;
use crate::event_bounds::OverBound;
use crate::export::ExportError;
use crate::fact::FactError;
use crate::fork::ForkError;
use crate::verify::Violation;

/// Why an import stops; what was appended by then stays.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The entry of this line cannot stand in a log.
    #[error("line {line}: entry {seq}: {problem}")]
    Entry {
        line: u64,
        seq: Seq,
        #[source]
        problem: EntryProblem,
    },
    #[error(transparent)]
    Export(#[from] ExportError),
    /// What the first line says cannot be imported.
    #[error("line 1: {0}")]
    Head(#[from] HeadProblem),
}

/// Why what the first line says cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum HeadProblem {
    #[error("the checkpoint ends at entry {found}, entries begin at {first}")]
    Base { first: Seq, found: Seq },
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Fork(#[from] ForkError),
    #[error("run `{run}` is open in the checkpoint")]
    InsideRun { run: RunId },
    #[error("entries begin at {first} and there is no checkpoint of what comes before")]
    NoBase { first: Seq },
    #[error("it was exported without the private parts of facts")]
    NoPrivate,
    /// What the checkpoint holds cannot stand in a log.
    #[error(transparent)]
    Held(#[from] Box<EntryProblem>),
}

/// Why an entry cannot stand in a log where it comes.
#[derive(Debug, thiserror::Error)]
pub enum EntryProblem {
    #[error(transparent)]
    Bound(#[from] OverBound),
    #[error("{event_type} is a chunk, which no log holds")]
    Chunk { event_type: Box<str> },
    #[error("its class is {found:?}, expected {expected:?}")]
    Class { expected: Class, found: Class },
    #[error(transparent)]
    Event(#[from] ReadError),
    #[error(transparent)]
    Fact(#[from] FactError),
    #[error(transparent)]
    Illegal(#[from] Violation),
    #[error("run `{run}` is accepted while run `{active}` is active")]
    Busy { run: RunId, active: RunId },
    #[error("run `{run}` is there already")]
    Repeated { run: RunId },
    #[error("it belongs to {}, expected {}", named(.found.as_ref()), named(.expected.as_ref()))]
    Run {
        expected: Option<RunId>,
        found: Option<RunId>,
    },
    /// A log without one could not be told from no log.
    #[error("it is the first of the log and of class {found:?}, expected one that touches control")]
    First { found: Class },
    #[error("it names thread `{found}`, expected `{expected}`")]
    Thread { expected: ThreadId, found: Box<str> },
}

fn named(run: Option<&RunId>) -> String {
    run.map_or_else(|| "no run".to_owned(), |run| format!("run `{run}`"))
}
