//! The `threadcast` program: reads the command line, starts the log output, runs one subcommand.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use threadcast_server::cli::{self, Cli};
use threadcast_server::logging;

/// Longest wait for blocking work that nobody waited for before.
const BLOCKING_WAIT: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let cli = Cli::parse();
    logging::start(cli.log_filter());
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            cli::tell_failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.context("the async runtime did not start")?;
    let ended = runtime.block_on(cli::run(cli));
    // A disk that hangs does not keep the program.
    runtime.shutdown_timeout(BLOCKING_WAIT);
    ended
}
