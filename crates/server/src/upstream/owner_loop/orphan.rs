//! Runs whose owner could not begin or is gone: they end, so that their threads are not held for
//! ever.
//!
//! Invariant: the end stands behind whatever the first owner left in the log, under the same lease.

use threadcast_agui::json::RawJson;
use threadcast_hub::hub::{Hub, Start};
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::owner::Owner;
use threadcast_run_registry::registry::RunRecord;
use threadcast_thread_log::error::EngineError;
use tokio::time::sleep;

use super::OwnedRun;
use crate::config::AgentPolicy;
use crate::random;
use crate::upstream::outage::Outage;
use crate::upstream::prepare::accepted_messages;

/// Ends a run in place of its owner, which failed for `reason`; waits while the log store is away.
pub(super) async fn end_orphan(hub: &Hub, start: Start, reason: &str) {
    let messages = accepted_messages(hub, &start).await;
    let owner = match orphan(hub, &start, messages).await {
        Ok(Some(owner)) => owner,
        // It ended after all.
        Ok(None) => return,
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::error!(error, "run cannot be ended");
            return;
        }
    };
    let may_have_called = start.live.with_fold(|fold| {
        let run = fold.registry().run(&start.run);
        run.is_some_and(RunRecord::may_have_been_called)
    });
    let ending = if may_have_called {
        Ending::Lost
    } else {
        Ending::Unreached {
            reason: reason.into(),
        }
    };
    let mut run = OwnedRun::new(AgentPolicy::default(), start, owner);
    run.end(&ending);
    run.drive(None).await;
}

async fn orphan(hub: &Hub, start: &Start, messages: RawJson) -> Result<Option<Owner>, EngineError> {
    let Start {
        live, run, lease, ..
    } = start;
    let mut outage = Outage::begin();
    loop {
        let found = async {
            live.catch_up().await?;
            hub.engine().head(live.thread()).await
        };
        match found.await {
            Ok(head) => {
                let (lease, source) = (lease.clone(), head.source);
                return Ok(
                    live.with_fold(|fold| Owner::of_orphan(fold, run, lease, source, messages))
                );
            }
            Err(EngineError::Unavailable(error)) => {
                tracing::warn!(%error, "log store unavailable");
                sleep(outage.wait(random::small())).await;
            }
            Err(error) => return Err(error),
        }
    }
}
