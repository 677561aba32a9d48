//! `cargo xtask differential`: many generated streams through the hub's core and the published
//! AG-UI client.

use std::process::ExitCode;
use std::time::Instant;

use threadcast_tests::differential::{compare, report};
use threadcast_tests::options::{fresh_seed, read_numbers};

/// Streams that are read differently are told up to this many.
const REPORTS_MAX: usize = 5;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let (mut histories, mut seed) = (100_000, fresh_seed()?);
    let options = [("--histories", &mut histories), ("--seed", &mut seed)];
    read_numbers(std::env::args().skip(1), options)?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let oracles = cores.min(histories.max(1));
    println!("{histories} histories from seed {seed}, {oracles} processes of the client");
    let began = Instant::now();
    let tally = compare(seed..seed + histories, oracles).await;
    let seconds = began.elapsed().as_secs_f64();
    for seed in tally.differing.iter().take(REPORTS_MAX) {
        println!("\n{}", report(*seed).await);
    }
    println!(
        "{histories} histories ({} events): {} legal, {} broken, {} in part; \
         {} rules broken; {} differences; {seconds:.0} s",
        tally.events,
        tally.legal,
        tally.broken,
        tally.in_part,
        tally.rules.len(),
        tally.differing.len(),
    );
    Ok(if tally.differing.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
