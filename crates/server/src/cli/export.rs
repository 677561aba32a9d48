//! `threadcast export`: a thread's log as lines.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use bytes::Bytes;
use clap::{Args, ValueEnum};
use http::Method;
use http_body_util::{BodyExt, Empty};
use threadcast_agui::ids::ThreadId;

use super::http::{Answer, send, thread_path};
use super::hub::{HubArgs, quietly};
use super::terminal::{OutputError, tell};

/// Write a thread's log, one entry a line.
///
/// `threadcast import` and `threadcast replay` make a thread of it again, on any hub. With --format
/// ag-ui it is a plain AG-UI stream, for `threadcast check` and for other programs. Exit codes: 0,
/// or 1 on an error, which leaves the output unfinished.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The thread
    thread: ThreadId,
    /// What is written
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,
    /// Leave out what only the hub reads: full inputs, forwarded properties. Cannot be imported
    #[arg(long, conflicts_with = "format")]
    public: bool,
    /// Where to; standard output by default
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    hub: HubArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Events alone
    AgUi,
    /// Events and facts, with all that stands beside them
    #[default]
    Threadcast,
}

pub async fn run(args: ExportArgs) -> anyhow::Result<ExitCode> {
    quietly(export(args).await)
}

async fn export(args: ExportArgs) -> anyhow::Result<ExitCode> {
    let rest = match args.format {
        ExportFormat::AgUi => "/export?format=ag-ui",
        ExportFormat::Threadcast if args.public => "/export",
        ExportFormat::Threadcast => "/export?private=true",
    };
    let path = thread_path(args.thread.as_str(), rest);
    let answer = send(&args.hub, Method::GET, &path, Empty::<Bytes>::new()).await?;
    let open_run = answer
        .response
        .headers()
        .get("threadcast-open-run")
        .cloned();
    match &args.output {
        Some(path) => {
            let created = File::create(path);
            let mut file = created.with_context(|| format!("{}", path.display()))?;
            copy(answer, &mut file).await?;
        }
        None => copy(answer, &mut io::stdout().lock()).await?,
    }
    if let Some(run) = open_run {
        let run = String::from_utf8_lossy(run.as_bytes());
        tell(&format!(
            "threadcast: run `{run}` is active: the stream stops inside it"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

async fn copy(mut answer: Answer, to: &mut impl Write) -> anyhow::Result<()> {
    while let Some(frame) = answer.response.frame().await {
        if let Some(data) = frame.context("the export broke off")?.data_ref() {
            to.write_all(data).map_err(OutputError::from)?;
        }
    }
    to.flush().map_err(OutputError::from)?;
    Ok(())
}
