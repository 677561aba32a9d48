//! `threadcast run`: starts a run and follows it to its end.

use std::pin::pin;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::run_input::RunInput;
use threadcast_client::{Client, Mode, Seq, Start, Subscription, Update};
use threadcast_thread_log::run_status::RunStatus;
use tokio::signal;

use super::hub::{HubArgs, quietly, refused};
use super::render::Renderer;
use super::run_end::RunEnd;
use super::terminal::{ColourArgs, Output};
use super::watch::INTERRUPTED;
use crate::random;

/// Start a run of an agent and show it until it ends.
///
/// Exit codes: 0 when the run succeeded, 2 when it stopped to ask (answer with `threadcast
/// approve`), 1 when it failed, was cancelled or could not be started, 130 after Ctrl-C, which
/// leaves the run alone.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Name of the agent
    agent: String,
    /// What to say to it
    text: String,
    /// The thread to run on; a new one by default
    #[arg(long)]
    thread: Option<ThreadId>,
    /// Id of the run; the same id again is the same run and starts nothing
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,
    /// Do not wait for the run: print the ids and end
    #[arg(long)]
    no_follow: bool,
    #[command(flatten)]
    hub: HubArgs,
    #[command(flatten)]
    colour: ColourArgs,
}

/// The run waits for an answer.
const ASKS: u8 = 2;

pub async fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    quietly(start(args).await)
}

async fn start(args: RunArgs) -> anyhow::Result<ExitCode> {
    let input = input(&args)?;
    let client = args.hub.connect().await?;
    let output = Output::new(&args.colour);
    let (thread, run) = (input.thread.clone(), input.run.clone());
    if args.no_follow {
        let answer = client.run(args.agent, input).await.map_err(refused)?;
        output.line(&format!(
            "thread {thread}\nrun {run}\nstatus {}",
            answer.status
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    output.line(&format!("── thread {thread}, run {run}"))?;
    // Subscribed before the run starts, so that nothing of it is missed.
    let mut updates = client
        .subscribe(thread.clone(), Start::Tail)
        .await
        .map_err(refused)?;
    updates.next_update().await.map_err(refused)?;
    let answer = client.run(args.agent, input).await.map_err(refused)?;
    if answer.duplicate {
        // It began earlier: what there is of it comes as a snapshot.
        drop(updates);
        updates = client
            .subscribe(thread, Start::Snapshot)
            .await
            .map_err(refused)?;
    }
    follow(&client, updates, &run, &output).await
}

async fn follow(
    client: &Client,
    mut updates: Subscription,
    run: &RunId,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let mut interrupt = pin!(signal::ctrl_c());
    let mut renderer = Renderer::new(updates.thread().as_str());
    let mut end = RunEnd::new(run.as_str());
    let ended = loop {
        tokio::select! {
            update = updates.next_update() => {
                let Some(update) = update.map_err(refused)? else { anyhow::bail!("the subscription ended") };
                output.write(&renderer.update(&update))?;
                let ended = match end.update(&update) {
                    None if is_void(&update) => ended_by_now(client, updates.thread(), run).await?,
                    ended => ended,
                };
                if let Some(status) = ended { break status; }
            }
            pressed = &mut interrupt => {
                pressed.context("Ctrl-C cannot be heard")?;
                output.write(&renderer.finish())?;
                return Ok(ExitCode::from(INTERRUPTED));
            }
        }
    };
    output.write(&renderer.finish())?;
    Ok(exit_code(ended))
}

/// Whether what is known of the run may have gone with what was held.
fn is_void(update: &Update) -> bool {
    match update {
        Update::Baseline { .. } => true,
        Update::Subscribed { mode, head, .. } => *mode == Mode::Snapshot && head.seq == Seq::ZERO,
        _ => false,
    }
}

/// How the run ended, by the hub's record: a view lists the latest runs only.
async fn ended_by_now(
    client: &Client,
    thread: &ThreadId,
    run: &RunId,
) -> anyhow::Result<Option<RunStatus>> {
    let known = client
        .run_status(thread.clone(), run.clone())
        .await
        .map_err(refused)?;
    if known.status == RunStatus::Unknown {
        anyhow::bail!("the hub does not know run `{run}` any more");
    }
    Ok(Some(known.status).filter(|status| status.has_ended()))
}

fn exit_code(status: RunStatus) -> ExitCode {
    match status {
        RunStatus::Success => ExitCode::SUCCESS,
        RunStatus::Interrupted => ExitCode::from(ASKS),
        RunStatus::Accepted
        | RunStatus::Cancelled
        | RunStatus::Error
        | RunStatus::Queued
        | RunStatus::Running
        | RunStatus::Unknown => ExitCode::FAILURE,
    }
}

fn input(args: &RunArgs) -> anyhow::Result<RunInput> {
    let thread = args
        .thread
        .as_ref()
        .map_or_else(|| format!("thread-{}", random::hex(6)), ToString::to_string);
    let run = args
        .run
        .as_ref()
        .map_or_else(|| format!("run-{}", random::hex(8)), ToString::to_string);
    // A repeated run says the same, so the message is named after its run.
    let message = json!({"id": format!("{run}-text"), "role": "user", "content": args.text});
    let input = json!({"threadId": thread, "runId": run, "protocolVersion": "1.0", "messages": [message],
        "tools": [], "context": []});
    RunInput::read(&input.to_string()).context("the run cannot be described")
}
