//! Carries a command to the log: decide, append under the guard, and decide again when someone was faster.
//!
//! What may happen is decided in `threadcast_run_registry::decide`; this is the loop around it. Invariant: an agent is
//! started, and a command answered, only after the append was durable; a command that was begun is carried to its end
//! whether or not anyone still waits for its answer.

use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{
    Answer, Command, Decision, Proposal, Unjudged, Verdicts, decide,
};
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::engine::Outcome;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::answer::CommandAnswer;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::Instrument;

use crate::defaults::{TRIES_MAX, TRY_AGAIN_MAX};
use crate::hub::{Hub, Start};
use crate::live_thread::LiveThread;
use crate::random;

mod attempt;
mod error;

use attempt::{Names, find_attempt};
pub use error::{CommandError, engine_error_body};

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
        let span = tracing::info_span!("command", %thread, by = %by.id);
        let carried = async move { hub.carry_out(thread, &by, command).await };
        self.commands().spawn(carried.instrument(span)).await?
    }

    async fn carry_out(
        &self,
        thread: ThreadId,
        by: &Principal,
        command: Command,
    ) -> Result<CommandAnswer, CommandError> {
        let live = self.live(&thread).await?;
        let mut verdicts = Verdicts::none();
        for attempt in 0..TRIES_MAX {
            if attempt > 0 {
                sleep(random::spread(TRY_AGAIN_MAX / TRIES_MAX * attempt)).await;
            }
            let names = Names::random();
            let decided = self
                .decide(&live, &command, by, &names, &mut verdicts)
                .await;
            // What the fold holds need not be durable yet, and nobody hears of a decision that
            // could still be lost.
            let proposal = match decided {
                Ok(Decision::Append(proposal)) => *proposal,
                Ok(Decision::Settled(answer)) => {
                    live.make_durable().await?;
                    return Ok(settled(&live, thread, answer));
                }
                Err(error) => {
                    if matches!(error, CommandError::Refused(_)) {
                        live.make_durable().await?;
                    }
                    return Err(error);
                }
            };
            if let Some(answer) = self.append(&live, proposal, &names).await? {
                return Ok(answer);
            }
        }
        Err(CommandError::Overloaded { tries: TRIES_MAX })
    }

    /// Decides by the fold as it stands.
    ///
    /// Payloads are judged before, while the thread goes on; again if other questions were raised meanwhile.
    async fn decide(
        &self,
        live: &LiveThread,
        command: &Command,
        by: &Principal,
        names: &Names,
        verdicts: &mut Verdicts,
    ) -> Result<Decision, CommandError> {
        loop {
            let decided = live.with_fold(|fold| {
                let unjudged = verdicts.unjudged(fold, command);
                if !unjudged.is_empty() {
                    return Err(unjudged);
                }
                let decision = decide(fold, command, verdicts, &names.asking(by, self.node()));
                Ok((decision, agent_of(fold, command).cloned()))
            });
            let (decision, agent) = match decided {
                Ok((decision, agent)) => (decision?, agent),
                Err(unjudged) => {
                    let judged = judge(std::mem::take(verdicts), unjudged);
                    *verdicts = spawn_blocking(judged).await?;
                    continue;
                }
            };
            return match (&decision, agent) {
                // What cannot be started must not be accepted.
                (Decision::Append(proposal), Some(agent))
                    if proposal.starts.is_some() && !self.agents().knows(&agent) =>
                {
                    Err(CommandError::AgentUnknown { agent })
                }
                _ => Ok(decision),
            };
        }
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
                Some(last) => {
                    live.make_durable().await?;
                    last
                }
                None => return Err(error.into()),
            },
        };
        if let Some(run) = starts {
            let start = Start::new(live.clone(), run, names.lease.clone());
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

/// The agent of the run that a command starts, if it starts one: answers go to the agent that asked.
fn agent_of<'a>(fold: &'a Fold, command: &'a Command) -> Option<&'a AgentName> {
    let asked_by = |run| fold.registry().run(run).map(|run| &run.agent);
    match command {
        Command::Cancel(command) => asked_by(&command.run),
        Command::Resume(command) => asked_by(&command.of),
        Command::Run(command) => Some(&command.agent),
    }
}

fn judge(mut verdicts: Verdicts, unjudged: Vec<Unjudged>) -> impl FnOnce() -> Verdicts {
    move || {
        verdicts.judge(unjudged);
        verdicts
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
