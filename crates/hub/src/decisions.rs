//! Carries a command to the log: decide, append under the guard, and decide again when someone was faster.
//!
//! What may happen is decided in `threadcast_run_registry::decide`; this is the loop around it. Invariant: an agent is
//! started, and a command answered, only after the append was durable; a command that was begun is carried to its end
//! whether or not anyone still waits for its answer.

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::decide::{
    Answer, Asking, Command, Decision, Proposal, decide, verdicts,
};
use threadcast_run_registry::fact::AttemptId;
use threadcast_thread_log::engine::Outcome;
use threadcast_thread_log::entry::Body;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::LeaseToken;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::answer::CommandAnswer;
use tokio::time::sleep;

use crate::defaults::{LOAD_LIMIT, TRIES_MAX, TRY_AGAIN_MAX};
use crate::hub::{Hub, Start};
use crate::live_thread::LiveThread;
use crate::{random, view};

mod error;

pub use error::{CommandError, engine_error_body};

/// Names of one try.
struct Names {
    attempt: AttemptId,
    lease: LeaseToken,
    fresh_run: RunId,
}

impl Hub {
    /// Carries out a command on a thread for a principal; grants are the caller's to check.
    ///
    /// The command is carried to its end even if the future is dropped.
    ///
    /// # Errors
    /// The command is refused, or could not be carried out.
    pub async fn command(
        &self,
        thread: ThreadId,
        by: &Principal,
        command: Command,
    ) -> Result<CommandAnswer, CommandError> {
        if let Command::Run(run) = &command
            && !self.agents().knows(&run.agent)
        {
            return Err(CommandError::AgentUnknown {
                agent: run.agent.clone(),
            });
        }
        let (hub, by) = (self.clone(), by.clone());
        let task = tokio::spawn(async move { hub.carry_out(thread, &by, command).await });
        task.await?
    }

    async fn carry_out(
        &self,
        thread: ThreadId,
        by: &Principal,
        command: Command,
    ) -> Result<CommandAnswer, CommandError> {
        let live = self.live(&thread).await?;
        for attempt in 0..TRIES_MAX {
            if attempt > 0 {
                sleep(random::spread(TRY_AGAIN_MAX / TRIES_MAX * attempt)).await;
            }
            let names = Names::random();
            let Names {
                attempt,
                lease,
                fresh_run,
            } = &names;
            let asking = Asking {
                by,
                now: view::now(),
                attempt,
                lease,
                node: self.node(),
                fresh_run,
            };
            let decision = live.with_fold(|fold| {
                let verdicts = verdicts(fold, &command);
                decide(fold, &command, &verdicts, &asking)
            })?;
            let proposal = match decision {
                Decision::Append(proposal) => *proposal,
                Decision::Settled(answer) => return Ok(settled(&live, thread, answer)),
            };
            if let Some(answer) = self.append(&live, proposal, &names).await? {
                return Ok(answer);
            }
        }
        Err(CommandError::Overloaded { tries: TRIES_MAX })
    }

    /// Appends, and starts what is to be started then; `None` when someone was faster.
    async fn append(
        &self,
        live: &LiveThread,
        proposal: Proposal,
        names: &Names,
    ) -> Result<Option<CommandAnswer>, CommandError> {
        let Proposal {
            append,
            answer,
            starts,
        } = proposal;
        let after = append.known.seq;
        let last = match live.append(append).await {
            Ok(Outcome::Appended(appended)) => appended.last,
            Ok(Outcome::Refused(refused)) => {
                tracing::debug!(thread = %live.thread(), reason = ?refused.reason, "append refused");
                return Ok(None);
            }
            Err(error) => match find_attempt(live, after, &names.attempt).await? {
                Some(last) => last,
                None => return Err(error.into()),
            },
        };
        if let Some(run) = starts {
            let start = Start {
                live: live.clone(),
                run,
                lease: names.lease.clone(),
            };
            self.agents().start(self, start);
        }
        let Answer {
            run,
            status,
            duplicate,
        } = answer;
        Ok(Some(CommandAnswer {
            thread: live.thread().clone(),
            run,
            seq: last,
            status,
            duplicate,
        }))
    }
}

impl Names {
    fn random() -> Self {
        Self {
            attempt: AttemptId(random::name().into()),
            lease: LeaseToken(random::name().into()),
            fresh_run: RunId::new(random::name()).expect("a random name is a run id"),
        }
    }
}

/// Where the last entry of an attempt stands whose append may or may not have happened.
async fn find_attempt(
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

fn settled(live: &LiveThread, thread: ThreadId, answer: Answer) -> CommandAnswer {
    let Answer {
        run,
        status,
        duplicate,
    } = answer;
    let seq = live.with_fold(|fold| {
        let record = fold.registry().run(&run);
        record.map_or_else(
            || fold.head(),
            |record| {
                record
                    .cancel
                    .as_ref()
                    .map_or(record.accepted, |cancel| cancel.seq)
            },
        )
    });
    CommandAnswer {
        thread,
        run,
        seq,
        status,
        duplicate,
    }
}
