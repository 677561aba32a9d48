//! `cargo xtask torture`: kills a hub on disk at random moments, under load, and tells what was lost.

use std::process::ExitCode;
use std::time::Instant;

use threadcast_tests::options::{fresh_seed, read_numbers};
use threadcast_tests::torture::torture;

/// Problems are told up to this many.
const PROBLEMS_MAX: usize = 20;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let (mut kills, mut seed) = (200, fresh_seed()?);
    let options = [("--kills", &mut kills), ("--seed", &mut seed)];
    read_numbers(std::env::args().skip(1), options)?;
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
