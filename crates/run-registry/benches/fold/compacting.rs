//! Fewer bytes for many entries: compacting a range, and the snapshot of a whole thread.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use threadcast_agui::event::Event;
use threadcast_run_registry::compaction::{Compacted, compact};
use threadcast_run_registry::snapshot::snapshot;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_thread_log::position::Seq;

use crate::folding::folded;
use crate::histories;

/// Entries of one range.
const ENTRIES: usize = 4096;

pub(crate) fn measure(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compact");
    group.throughput(Throughput::Elements(ENTRIES as u64));
    for (name, texts) in ranges() {
        let entries = entries(&texts);
        group.bench_function(name, |bencher| {
            bencher.iter(|| compact(black_box(&entries)));
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group("snapshot");
    let thread = folded(&histories::read(&histories::many_messages(10_000)));
    group.bench_function("a thread of 1,000 messages", |bencher| {
        bencher.iter(|| snapshot(black_box(&thread)));
    });
    group.finish();
}

/// Prints how many bytes compaction leaves.
pub(crate) fn report() {
    for (name, texts) in ranges() {
        let entries = entries(&texts);
        let before: usize = entries.iter().map(|entry| entry.record.size_bytes()).sum();
        let after: usize = compact(&entries).iter().map(bytes).sum();
        println!(
            "compact, {name}: {before} bytes become {after}, {:.1}%",
            after as f64 * 100.0 / before as f64
        );
    }
}

fn bytes(piece: &Compacted) -> usize {
    match piece {
        Compacted::Events { events, .. } => events.iter().map(|event| event.as_str().len()).sum(),
        Compacted::Fact(entry) => entry.record.size_bytes(),
    }
}

fn ranges() -> [(&'static str, Vec<String>); 3] {
    let first = |mut texts: Vec<String>| {
        texts.truncate(ENTRIES);
        texts
    };
    let mut state = vec![histories::started(), histories::state()];
    state.extend((0..ENTRIES).map(histories::state_delta));
    [
        (
            "4,096 entries of one message",
            first(histories::one_message(ENTRIES)),
        ),
        (
            "4,096 entries of messages of eight deltas",
            first(histories::many_messages(ENTRIES * 2)),
        ),
        ("4,096 entries of state deltas", first(state)),
    ]
}

pub(crate) fn entries(texts: &[String]) -> Vec<Entry> {
    let events = histories::read(texts).into_iter();
    let seqs = std::iter::successors(Some(Seq::ZERO.next()), |seq| Some(seq.next()));
    seqs.zip(events)
        .map(|(seq, event)| entry(seq, event))
        .collect()
}

fn entry(seq: Seq, event: Event) -> Entry {
    let body = Body::Event {
        json: event.json,
        from_chunk: false,
    };
    let record = Record {
        at: Millis(0),
        run: Some("r1".parse().unwrap()),
        origin: Origin::Agent,
        body,
    };
    Entry {
        seq,
        class: Class::NONE,
        record: Arc::new(record),
    }
}
