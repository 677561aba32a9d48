//! A fold as bytes and back: what opening a thread of 100,000 entries costs.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::snapshot::snapshot;
use threadcast_thread_log::position::Epoch;

use crate::compacting::entries;
use crate::histories;

/// Deltas of each history; it has more entries with starts and ends.
const DELTAS: usize = 100_000;

pub(crate) fn measure(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("checkpoint");
    for (name, fold) in threads() {
        let bytes = fold.to_checkpoint();
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(format!("written, {name}"), |bencher| {
            bencher.iter(|| black_box(&fold).to_checkpoint());
        });
        group.bench_function(format!("read, {name}"), |bencher| {
            bencher.iter(|| read(black_box(&bytes)));
        });
        group.bench_function(format!("read and told to a viewer, {name}"), |bencher| {
            bencher.iter(|| snapshot(read(black_box(&bytes)).conversation()));
        });
    }
    group.finish();
}

/// Prints how long checkpoints are.
pub(crate) fn report() {
    for (name, fold) in threads() {
        let (bytes, entries) = (fold.to_checkpoint().len(), fold.head());
        println!("checkpoint, {name}: {bytes} bytes for {entries} entries");
    }
}

fn read(bytes: &[u8]) -> Fold {
    Fold::from_checkpoint("t".parse().unwrap(), Epoch::default(), bytes).unwrap()
}

fn threads() -> [(&'static str, Fold); 2] {
    [
        (
            "12,500 messages of eight deltas",
            folded(&histories::many_messages(DELTAS / 8 * 10)),
        ),
        (
            "one message of 100,000 deltas",
            folded(&histories::one_message(DELTAS)),
        ),
    ]
}

fn folded(texts: &[String]) -> Fold {
    let mut fold = Fold::new("t".parse().unwrap());
    for entry in entries(texts) {
        fold.apply(&entry);
    }
    fold
}
