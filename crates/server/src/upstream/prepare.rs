//! What an owner begins with: the run as it was accepted, and the request for its agent.

use serde_json::Value;
use threadcast_agui::json::RawJson;
use threadcast_hub::hub::{Hub, Start};
use threadcast_run_registry::fact::{Fact, RunAccepted};
use threadcast_run_registry::owner::{self, Owner, OwnerStart};
use threadcast_run_registry::request::{
    AgentRequest, RequestError, RequestSources, agent_request, sources,
};
use threadcast_thread_log::engine::ReadLimit;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;
use tokio::time::sleep;

use super::agents::Agent;
use super::outage::Outage;
use crate::random;

/// Why an accepted run cannot be started: the log does not hold what its acceptance said.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrepareError {
    #[error("the log cannot be read")]
    Engine(#[from] EngineError),
    #[error("entry {seq} is missing")]
    Missing { seq: Seq },
    #[error("the run has no record")]
    NoRecord,
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Reads the entries a run is made of; waits while the log store is away.
pub(crate) async fn prepare(
    hub: &Hub,
    agent: &Agent,
    start: &Start,
) -> Result<(Owner, AgentRequest), PrepareError> {
    let Start {
        live, run, lease, ..
    } = start;
    let RequestSources {
        accepted,
        inherits,
        asked,
    } = live
        .with_fold(|fold| sources(fold, run))
        .ok_or(PrepareError::NoRecord)?;
    let accepted = read(hub, start, accepted).await?;
    let inherited = match inherits {
        Some(seq) => Some(read(hub, start, seq).await?),
        None => None,
    };
    // It is written out at leisure: nothing is folded while the fold is looked at.
    let conversation = live.with_fold(|fold| fold.conversation().clone());
    let request = agent_request(
        live.thread(),
        &conversation,
        &accepted,
        inherited.as_ref(),
        &asked,
    )?;
    let owner = Owner::new(OwnerStart {
        thread: live.thread().clone(),
        accepted: accepted_fact(&accepted)?,
        lease: lease.clone(),
        policy: owner::AgentPolicy {
            keep_raw: agent.policy.keep_raw,
            strict: agent.policy.strict,
        },
    });
    Ok((owner, request))
}

/// The messages of the run's acceptance, for an owner that only ends the run; none if they cannot be
/// read.
pub(super) async fn accepted_messages(hub: &Hub, start: &Start) -> RawJson {
    let read = async {
        let sources = start.live.with_fold(|fold| sources(fold, &start.run));
        let RequestSources { accepted, .. } = sources.ok_or(PrepareError::NoRecord)?;
        let entry = read(hub, start, accepted).await?;
        Ok::<_, PrepareError>(accepted_fact(&entry)?.messages)
    };
    read.await
        .unwrap_or_else(|_| RawJson::from_value(&Value::Array(Vec::new())))
}

fn accepted_fact(entry: &Entry) -> Result<RunAccepted, RequestError> {
    match Fact::of(entry) {
        Some(Fact::RunAccepted { public, .. }) => Ok(public),
        _ => Err(RequestError::NotAccepted { seq: entry.seq }),
    }
}

async fn read(hub: &Hub, start: &Start, seq: Seq) -> Result<Entry, PrepareError> {
    let before = Seq::new(seq.get().saturating_sub(1)).unwrap_or_default();
    let one = ReadLimit {
        entries: 1,
        bytes: usize::MAX,
    };
    let mut outage = Outage::begin();
    loop {
        match hub.engine().read(start.live.thread(), before, one).await {
            Ok(entries) => {
                return entries
                    .into_iter()
                    .next()
                    .ok_or(PrepareError::Missing { seq });
            }
            Err(EngineError::Unavailable(error)) => {
                tracing::warn!(%error, "log store unavailable");
                sleep(outage.wait(random::small())).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
