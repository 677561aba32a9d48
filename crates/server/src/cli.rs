//! The command line: one subcommand a file.

pub mod approve;
pub mod check;
pub mod compact;
pub mod export;
pub mod fold;
pub mod import;
pub mod replay;
pub mod run;
pub mod serve;
pub mod status;
pub mod watch;

mod exported;
mod file;
mod form;
mod http;
mod hub;
mod render;
mod run_end;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A hub between AI agents and the people who watch and steer them.
#[derive(Debug, Parser)]
#[command(name = "threadcast", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeArgs),
    Watch(watch::WatchArgs),
    Run(run::RunArgs),
    Approve(approve::ApproveArgs),
    Status(status::StatusArgs),
    Check(check::CheckArgs),
    Fold(fold::FoldArgs),
    Compact(compact::CompactArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Replay(replay::ReplayArgs),
}

impl Cli {
    /// Which log lines are shown unless `RUST_LOG` says otherwise: a hub tells its lifecycle, a
    /// command only trouble.
    pub fn log_filter(&self) -> &'static str {
        match self.command {
            Command::Serve(_) => "warn,threadcast=info",
            Command::Watch(_)
            | Command::Run(_)
            | Command::Approve(_)
            | Command::Status(_)
            | Command::Check(_)
            | Command::Fold(_)
            | Command::Compact(_)
            | Command::Export(_)
            | Command::Import(_)
            | Command::Replay(_) => "warn",
        }
    }
}

/// Says on standard error why the program failed.
pub fn tell_failure(error: &anyhow::Error) {
    terminal::tell(&format!("threadcast: {error:#}"));
}

/// Runs the subcommand; its exit code is the program's.
///
/// # Errors
/// Whatever the subcommand could not do, ready to be shown as one line.
pub async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Serve(args) => serve::run(args).await,
        Command::Watch(args) => watch::run(args).await,
        Command::Run(args) => run::run(args).await,
        Command::Approve(args) => approve::run(args).await,
        Command::Status(args) => status::run(args).await,
        Command::Check(args) => check::run(&args),
        Command::Fold(args) => fold::run(&args),
        Command::Compact(args) => compact::run(&args),
        Command::Export(args) => export::run(args).await,
        Command::Import(args) => import::run(args).await,
        Command::Replay(args) => replay::run(args).await,
    }
}
