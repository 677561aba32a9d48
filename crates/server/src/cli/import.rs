//! `threadcast import`: an export becomes a thread.

use std::process::ExitCode;

use clap::Args;
use threadcast_agui::ids::ThreadId;

use super::exported::{ExportedArgs, import};
use super::hub::{HubArgs, quietly};
use super::terminal::{ColourArgs, Output};

/// Make a new thread of an export.
///
/// It has the entries of the exported one, with their times. A run that was active then ends, as
/// its agent is elsewhere. Exit codes: 0, or 1 on an error, which leaves no thread.
#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(flatten)]
    file: ExportedArgs,
    /// The new thread; by default the exported one's id
    #[arg(long)]
    thread: Option<ThreadId>,
    #[command(flatten)]
    hub: HubArgs,
    #[command(flatten)]
    colour: ColourArgs,
}

pub async fn run(args: ImportArgs) -> anyhow::Result<ExitCode> {
    let exported = args.file.open().await?;
    let thread = args
        .thread
        .unwrap_or_else(|| exported.head.thread_id.clone());
    let entries = import(&args.hub, &thread, exported.into_lines()).await?;
    let output = Output::new(&args.colour);
    let written = output.line(&format!("thread {thread}\nentries {entries}"));
    quietly(written.map(|()| ExitCode::SUCCESS).map_err(Into::into))
}
