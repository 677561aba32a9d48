//! `threadcast status`: what the hub knows of a thread, once.

use std::process::ExitCode;

use clap::Args;
use threadcast_agui::ids::ThreadId;

use super::hub::{HubArgs, quietly, refused};
use super::render::thread_lines;
use super::terminal::{ColourArgs, Output};

/// Show what the hub knows of a thread: its runs and open questions.
///
/// Exit codes: 0, or 1 on an error. A thread that does not exist is one that has had no run.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The thread
    thread: ThreadId,
    #[command(flatten)]
    hub: HubArgs,
    /// Print the hub's answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    colour: ColourArgs,
}

pub async fn run(args: StatusArgs) -> anyhow::Result<ExitCode> {
    let client = args.hub.connect().await?;
    let answer = client.thread_status(args.thread).await.map_err(refused)?;
    let output = Output::new(&args.colour);
    let written = if args.json {
        output.json_line(&serde_json::to_string(&answer)?)
    } else {
        output.write(&thread_lines(&answer))
    };
    quietly(written.map(|()| ExitCode::SUCCESS).map_err(Into::into))
}
