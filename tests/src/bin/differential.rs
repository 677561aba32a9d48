//! `cargo xtask differential`: many generated streams through the hub's core and the published
//! AG-UI client.

use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use threadcast_tests::differential::{compare, report};

/// Streams that are read differently are told up to this many.
const REPORTS_MAX: usize = 5;

struct Options {
    histories: u64,
    seed: u64,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let mut options = Self {
            histories: 100_000,
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
                "--histories" => options.histories = number,
                "--seed" => options.seed = number,
                _ => bail!("there is no option `{name}`"),
            }
        }
        Ok(options)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let Options { histories, seed } = Options::read(std::env::args().skip(1))?;
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
