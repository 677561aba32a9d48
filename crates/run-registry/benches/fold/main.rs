//! What an event costs on its way into a fold, and what a fold holds: `cargo bench -p
//! threadcast-run-registry`.
//!
//! Times are of one core, an event each unless the name says otherwise, and shown per event as the
//! inverse of the throughput. Memory is measured in a process of its own for each history, from
//! `/proc`.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on fails")]

mod checkpointing;
mod compacting;
mod folding;
mod histories;
mod memory;
mod patching;
mod reading;

use std::time::Duration;

use criterion::Criterion;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == memory::CHILD)
    {
        return memory::tell(&arguments[at + 1..]);
    }
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    folding::measure(&mut criterion);
    reading::measure(&mut criterion);
    patching::measure(&mut criterion);
    compacting::measure(&mut criterion);
    checkpointing::measure(&mut criterion);
    // Run as a test, or for some benchmarks alone, there is nothing to report.
    if arguments.last().is_some_and(|last| last == "--bench") {
        memory::report();
        compacting::report();
        checkpointing::report();
    }
    criterion.final_summary();
}
