//! `cargo xtask torture`: kills a hub on disk at random moments, under load, and tells what was lost.

use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use threadcast_tests::torture::torture;

/// Problems are told up to this many.
const PROBLEMS_MAX: usize = 20;

struct Options {
    kills: u64,
    seed: u64,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let mut options = Self {
            kills: 200,
            seed: now.as_millis() as u64,
        };
        while let Some(name) = args.next() {
            let value = args
                .next()
                .with_context(|| format!("`{name}` has no value"))?;
            let number = value
                .parse()
                .with_context(|| format!("`{name} {value}` is no number"))?;
            match name.as_str() {
                "--kills" => options.kills = number,
                "--seed" => options.seed = number,
                _ => bail!("there is no option `{name}`"),
            }
        }
        Ok(options)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let Options { kills, seed } = Options::read(std::env::args().skip(1))?;
    println!("{kills} kills from seed {seed}");
    let began = Instant::now();
    let report = torture(kills, seed).await;
    for problem in report.problems.iter().take(PROBLEMS_MAX) {
        println!("{problem}");
    }
    println!(
        "{} kills in {:.0} s: {} entries of {} runs, {} of them lost with their agent; {} commands \
         answered, {} calls of the agent; {} problems",
        report.kills,
        began.elapsed().as_secs_f64(),
        report.entries,
        report.runs,
        report.lost,
        report.answers,
        report.calls,
        report.problems.len(),
    );
    if report.problems.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("again: cargo xtask torture --kills {kills} --seed {seed}");
    Ok(ExitCode::FAILURE)
}
