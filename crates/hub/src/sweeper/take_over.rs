//! Takes the lease of a thread whose owner is gone, and gives its run to an owner of this node.
//!
//! Invariant: of all who try, one append is admitted; what the former owner appends later is
//! refused.

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::sweep::{Due, LeaseStanding, due};
use threadcast_thread_log::engine::{Append, Durability, Guard, Outcome};
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::{Lease, LeaseChange, LeaseToken, SeizedSource};

use crate::clock;
use crate::hub::{Hub, Start};
use crate::live_thread::LiveThread;
use crate::random;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// An owner of this node has the run, or others were faster.
    Done,
    /// There is no run, and the lease is free.
    Nothing { look_again: Option<Millis> },
}

/// `seen` is the lease that has stood still; `None` if it was free.
pub(super) async fn take_over(
    hub: &Hub,
    thread: &ThreadId,
    seen: Option<Lease>,
) -> Result<Taken, EngineError> {
    let live = hub.live(thread).await?;
    live.catch_up().await?;
    let standing = match seen {
        Some(_) => LeaseStanding::Lapsed,
        None => LeaseStanding::Free,
    };
    let token = LeaseToken(random::name().into());
    let change = change(hub, seen, token.clone());
    let (taking, due) = live.with_fold(|fold| {
        let due = due(fold, standing, clock::now());
        (of_lease(fold, change), due)
    });
    if let (Due::Nothing { look_again }, LeaseStanding::Free) = (&due, standing) {
        let look_again = *look_again;
        return Ok(Taken::Nothing { look_again });
    }
    // From before the append on: nobody of this node takes the new lease for another's.
    let start = |run: &RunId| Start::new(live.clone(), run.clone(), token.clone());
    let agents = hub.agents();
    match &due {
        Due::Lost { run } => {
            let start = start(run);
            if append(hub, &live, taking, &token).await? {
                tracing::info!(%thread, %run, "run taken over that is lost");
                agents.end_lost(hub, start);
            }
        }
        Due::Start { run } => {
            let start = start(run);
            if append(hub, &live, taking, &token).await? {
                tracing::info!(%thread, %run, "run taken over to be started");
                agents.start(hub, start);
            }
        }
        // The log lost the run: its lease would keep everybody out.
        Due::Nothing { .. } => {
            if append(hub, &live, taking, &token).await? {
                free(&live, token).await?;
            }
        }
        Due::Watch { .. } => {}
    }
    Ok(Taken::Done)
}

/// Takes the free lease of a thread without a run, so that none is accepted; whether that was still
/// so.
pub(crate) async fn reserve(hub: &Hub, live: &LiveThread) -> Result<bool, EngineError> {
    let token = LeaseToken(random::name().into());
    let change = change(hub, None, token.clone());
    let taking = live.with_fold(|fold| of_lease(fold, change));
    append(hub, live, taking, &token).await
}

fn change(hub: &Hub, seen: Option<Lease>, token: LeaseToken) -> LeaseChange {
    let node = hub.node().clone();
    match seen {
        Some(seen) => LeaseChange::Seize {
            token,
            node,
            seen_token: seen.token,
            seen_beat: seen.beat,
            source: SeizedSource::Restart,
        },
        None => LeaseChange::Take { token, node },
    }
}

/// An append that changes the lease alone, decided over `fold`.
fn of_lease(fold: &Fold, lease: LeaseChange) -> Append {
    Append {
        thread: fold.thread().clone(),
        known: fold.position().clone(),
        may_create: false,
        guard: Guard {
            control: Some(fold.versions().control),
            ..Guard::default()
        },
        lease,
        source: None,
        entries: Vec::new(),
        record: None,
        durability: Durability::Durable,
    }
}

/// Whether the lease is this token's now.
async fn append(
    hub: &Hub,
    live: &LiveThread,
    append: Append,
    token: &LeaseToken,
) -> Result<bool, EngineError> {
    match live.append(append).await {
        Ok(Outcome::Appended(_)) => Ok(true),
        Ok(Outcome::Refused(refused)) => {
            tracing::debug!(thread = %live.thread(), reason = ?refused.reason, "others were faster");
            Ok(false)
        }
        Err(error) => {
            // The answer may have got lost. If this cannot be read either, the lease stands still
            // and is seized again.
            let head = hub.engine().head(live.thread()).await?;
            match head.lease {
                Some(lease) if lease.token == *token => Ok(true),
                _ => Err(error),
            }
        }
    }
}

async fn free(live: &LiveThread, token: LeaseToken) -> Result<(), EngineError> {
    let mut append = live.with_fold(|fold| of_lease(fold, LeaseChange::Free));
    append.guard.lease = Some(token);
    live.append(append).await.map(drop)
}
