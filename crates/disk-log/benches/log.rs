//! What an append costs on the disk, beside the memory engine in the same run; and what reading
//! and loading cost.
//!
//! One thread does all the appending. Entries are text deltas of about 190 bytes, as agents send
//! them most. The figures of durable appends are those of the disk's syncs.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::json::RawJson;
use threadcast_disk_log::{DiskEngine, DiskOptions};
use threadcast_thread_log::conformance::requests::{request, take, token};
use threadcast_thread_log::engine::{
    Append, Checkpoint, Durability, Engine, Guard, Outcome, ReadLimit,
};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::position::Seq;
use tokio::runtime::Runtime;

/// Threads that are written in turn, as by so many agents.
const THREADS: usize = 16;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts")
}

fn thread(number: usize) -> ThreadId {
    ThreadId::new(format!("th_{number}")).expect("it is an id")
}

fn delta(number: usize) -> NewEntry {
    let json = format!(
        r#"{{"type":"TEXT_MESSAGE_CONTENT","timestamp":1764530000{:03},"messageId":"msg_0193f1c2-7d1e-7a52-9c46-0a8b6f1f2a11","delta":"{} of the answer that is being written, word by word"}}"#,
        number % 1000,
        number
    );
    let record = Record {
        at: Millis(1_764_530_000_000),
        run: RunId::new("run_0193f1c2-7d1e-7a52-9c46-0a8b6f1f2a11").ok(),
        origin: Origin::Agent,
        body: Body::Event {
            json: RawJson::from_trusted(json),
            from_chunk: false,
        },
    };
    NewEntry {
        class: Class::NONE,
        record: Arc::new(record),
    }
}

/// Begins the log of every thread and takes its lease, with a record as a hub keeps it.
async fn begin(engine: &impl Engine) {
    for number in 0..THREADS {
        let begun = engine
            .append(Append {
                may_create: true,
                lease: take("owner"),
                entries: vec![delta(0)],
                record: Some(vec![b'r'; 300]),
                ..request(&thread(number))
            })
            .await
            .expect("the log begins");
        assert!(matches!(begun, Outcome::Appended(_)));
    }
}

fn tokens(number: usize, entries: Vec<NewEntry>, durability: Durability) -> Append {
    Append {
        guard: Guard {
            lease: Some(token("owner")),
            ..Guard::default()
        },
        entries,
        durability,
        ..request(&thread(number % THREADS))
    }
}

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

fn open(directory: &tempfile::TempDir) -> DiskEngine {
    DiskEngine::open(directory.path(), &DiskOptions::default()).expect("the directory opens")
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
