//! `cargo xtask measure`: what the program costs on this machine.

use anyhow::bail;
use threadcast_tests::measure::{latency, many, opening};

const HELP: &str = "\
measure opening [ENTRIES]          a long thread after a restart, and looking back (100000)
measure latency [EVENTS]           from agent to viewer on either engine (10000 a round)
measure many [THREADS] [ACTIVE]    memory with many threads on disk (100000, 200)
measure                            all of them";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let what = args.next();
    let mut number = |default: usize| match args.next() {
        Some(text) => text.parse(),
        None => Ok(default),
    };
    match what.as_deref() {
        Some("opening") => opening::measure(number(100_000)?).await,
        Some("latency") => latency::measure(number(10_000)?).await,
        Some("many") => many::measure(number(100_000)?, number(200)?).await,
        None => {
            opening::measure(100_000).await;
            latency::measure(10_000).await;
            many::measure(100_000, 200).await;
        }
        Some(other) => bail!("there is nothing to measure by the name `{other}`\n{HELP}"),
    }
    Ok(())
}
