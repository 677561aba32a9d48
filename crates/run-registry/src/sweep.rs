//! What someone must do for a thread whose owner may be gone.
//!
//! It is asked about threads that the index of work names, and about nothing else; whether an owner
//! is gone is not judged here, but by how its lease stands.
//!
//! Invariant: what is to be done depends on the log and the lease alone, so it is the same on every
//! node, and the same again for the next one if this one dies over it.

use threadcast_agui::ids::RunId;
use threadcast_thread_log::entry::Millis;

use crate::fold::Fold;

/// How the lease of a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseStanding {
    /// Nobody holds it, as after a restart.
    Free,
    /// Its holder was seen to stand still for as long as it takes: it may be seized.
    Lapsed,
    /// Someone holds it who may be alive.
    Held,
}

/// What is to be done for a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// The run's agent may have been called, and whoever called it is gone: the lease is taken, and
    /// the run ends as [`Ending::Lost`](crate::ending::Ending::Lost).
    Lost { run: RunId },
    /// Nothing, and the thread may leave the index of work.
    Nothing {
        /// When the next open interrupt expires. Nothing is appended then and nobody has to do
        /// anything (docs/protocol.md §9.4): only what is shown of it changes.
        look_again: Option<Millis>,
    },
    /// The run's agent was not called: the lease is taken, and the run is started.
    Start { run: RunId },
    /// The run has an owner: its lease is to be watched.
    Watch { run: RunId },
}

/// What is to be done for the thread of `fold`, which must be at its head.
pub fn due(fold: &Fold, lease: LeaseStanding, now: Millis) -> Due {
    let registry = fold.registry();
    let Some(active) = registry.active() else {
        let deadlines = registry
            .interrupts()
            .open()
            .filter_map(|raised| raised.deadline);
        let look_again = deadlines.filter(|deadline| *deadline > now).min();
        return Due::Nothing { look_again };
    };
    let run = active.id.clone();
    match lease {
        LeaseStanding::Held => Due::Watch { run },
        LeaseStanding::Free | LeaseStanding::Lapsed if active.may_have_been_called() => {
            Due::Lost { run }
        }
        LeaseStanding::Free | LeaseStanding::Lapsed => Due::Start { run },
    }
}
