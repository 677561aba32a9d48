//! What an append costs on the disk, beside the memory engine in the same run; and what reading
//! and loading cost.
//!
//! One thread does all the appending. Entries are text deltas of about 190 bytes, as agents send
//! them most. The figures of durable appends are those of the disk's syncs.

#[path = "support/mod.rs"]
mod support;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use support::{begin, delta, open, runtime, thread, tokens};
use threadcast_disk_log::DiskEngine;
use threadcast_thread_log::engine::{Checkpoint, Durability, Engine, Outcome, ReadLimit};
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::position::Seq;

fn appends_to(c: &mut Criterion, name: &str, engine: &impl Engine, durability: Durability) {
    let runtime = runtime();
    runtime.block_on(begin(engine));
    let mut group = c.benchmark_group(name);
    group.measurement_time(Duration::from_secs(4));
    for batch in [1, 20] {
        group.throughput(Throughput::Elements(batch as u64));
        let entries: Vec<_> = (0..batch).map(delta).collect();
        let mut number = 0;
        group.bench_function(BenchmarkId::new("batches of", batch), |bencher| {
            bencher.iter(|| {
                number += 1;
                let append = tokens(number, entries.clone(), durability);
                let outcome = runtime.block_on(engine.append(append));
                let outcome = outcome.expect("the engine appends");
                assert!(matches!(outcome, Outcome::Appended(_)));
            });
        });
    }
}

fn appends(c: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a directory");
    let disk = open(&directory);
    appends_to(
        c,
        "append to memory",
        &MemoryEngine::new(),
        Durability::Held,
    );
    appends_to(c, "append to disk, held", &disk, Durability::Held);
    drop(disk);
    let directory = tempfile::tempdir().expect("a directory");
    appends_to(
        c,
        "append to disk, durable",
        &open(&directory),
        Durability::Durable,
    );
}

/// A thread of 100,000 entries with a checkpoint of its fold, from a directory that was just
/// opened.
fn reads(c: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a directory");
    let runtime = runtime();
    let write = async {
        let engine = open(&directory);
        begin(&engine).await;
        for batch in 0..1000 {
            let entries = (0..100).map(|number| delta(batch * 100 + number)).collect();
            let append = tokens(0, entries, Durability::Held);
            Engine::append(&engine, append).await.expect("it appends");
        }
        let head = engine.head(&thread(0)).await.expect("it is read");
        let checkpoint = Checkpoint {
            seq: head.seq,
            epoch: head.epochs[0].0.clone(),
            bytes: vec![b'f'; 8 << 20],
        };
        engine
            .save_checkpoint(&thread(0), checkpoint)
            .await
            .expect("it is kept");
        engine.close();
    };
    runtime.block_on(write);
    let engine = open(&directory);
    let mut group = c.benchmark_group("read from disk");
    group.sample_size(20);
    group.throughput(Throughput::Elements(100_000));
    group.bench_function("100,000 entries", |bencher| {
        bencher.iter(|| runtime.block_on(read_all(&engine)));
    });
    group.throughput(Throughput::Bytes(8 << 20));
    let of = thread(0);
    group.bench_function("a checkpoint of 8 MiB", |bencher| {
        bencher.iter(|| {
            let loading = engine.load_checkpoint(&of, Seq::MAX);
            black_box(runtime.block_on(loading)).expect("it is there")
        });
    });
    group.finish();
}

async fn read_all(engine: &DiskEngine) {
    let limit = ReadLimit {
        entries: 1000,
        bytes: 1 << 20,
    };
    let mut after = Seq::ZERO;
    loop {
        let page = engine.read(&thread(0), after, limit).await;
        let page = page.expect("it reads");
        let Some(last) = page.last() else { break };
        after = last.seq;
        black_box(&page);
    }
    assert_eq!(after.get(), 100_001);
}

criterion_group!(benches, appends, reads);
criterion_main!(benches);
