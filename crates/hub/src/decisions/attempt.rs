//! One try to append: its random names, and how its author finds it when the outcome is unknown.

use threadcast_agui::ids::RunId;
use threadcast_run_registry::decide::Asking;
use threadcast_run_registry::fact::AttemptId;
use threadcast_thread_log::entry::Body;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::{LeaseToken, NodeId};
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;

use crate::defaults::LOAD_LIMIT;
use crate::live_thread::LiveThread;
use crate::{random, view};

/// Names of one try.
pub(super) struct Names {
    pub(super) attempt: AttemptId,
    pub(super) lease: LeaseToken,
    fresh_run: RunId,
}

impl Names {
    pub(super) fn random() -> Self {
        Self {
            attempt: AttemptId(random::name().into()),
            lease: LeaseToken(random::name().into()),
            fresh_run: RunId::new(random::name()).expect("a random name is a run id"),
        }
    }

    pub(super) fn asking<'a>(&'a self, by: &'a Principal, node: &'a NodeId) -> Asking<'a> {
        let Self {
            attempt,
            lease,
            fresh_run,
        } = self;
        Asking {
            by,
            now: view::now(),
            attempt,
            lease,
            node,
            fresh_run,
        }
    }
}

/// Where the last entry of an attempt stands whose append may or may not have happened.
pub(super) async fn find_attempt(
    live: &LiveThread,
    mut after: Seq,
    attempt: &AttemptId,
) -> Result<Option<Seq>, EngineError> {
    live.catch_up().await?;
    loop {
        let entries = live.read(after, LOAD_LIMIT).await?;
        let Some(last) = entries.last() else {
            return Ok(None);
        };
        // The name is random: a fact that holds it is of this attempt.
        let is_of_attempt = |body: &Body| match body {
            Body::Fact {
                private: Some(private),
                ..
            } => private.as_str().contains(&*attempt.0),
            Body::Event { .. } | Body::Fact { private: None, .. } => false,
        };
        if let Some(entry) = entries
            .iter()
            .rfind(|entry| is_of_attempt(&entry.record.body))
        {
            return Ok(Some(entry.seq));
        }
        after = last.seq;
    }
}
