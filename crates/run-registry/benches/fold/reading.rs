//! What an event costs before it is folded: reading, expanding, judging.

use criterion::{BatchSize, Criterion, Throughput};
use std::hint::black_box;
use threadcast_agui::chunk::Lanes;
use threadcast_agui::event::Event;
use threadcast_run_registry::stream_judge::StreamJudge;
use threadcast_run_registry::verify::Expected;

use crate::folding::folded;
use crate::histories;

const EVENTS: usize = 10_000;

pub(crate) fn measure(criterion: &mut Criterion) {
    read(criterion);
    judge(criterion);
    expand(criterion);
    whole(criterion);
}

fn read(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    for (name, text) in [
        ("a text delta", histories::delta("m")),
        ("tool call arguments", histories::call_args("c")),
        ("a state delta of one operation", histories::state_delta(1)),
        ("a state of 100 items", histories::state()),
    ] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| Event::read(black_box(&text)).unwrap());
        });
    }
    group.finish();
}

fn judge(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("judge");
    let expected = Expected {
        thread: "t".parse().unwrap(),
        run: "r1".parse().unwrap(),
    };
    for (name, texts) in [
        ("a text delta, one message open", histories::one_message(1)),
        (
            "a text delta, 1,000 messages open",
            histories::interleaved(1),
        ),
    ] {
        let events = histories::read(&texts);
        let (delta, before) = events.split_last().unwrap();
        let conversation = folded(before);
        group.bench_function(name, |bencher| {
            let verifier = conversation.verifier();
            bencher.iter(|| verifier.judge(black_box(delta), &expected).unwrap());
        });
    }
    group.finish();
}

fn expand(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("expand");
    let chunks = histories::read(&[histories::chunk(Some("m")), histories::chunk(None)]);
    let mut events = vec![chunks[0].clone()];
    events.extend(vec![chunks[1].clone(); EVENTS - 1]);
    group.throughput(Throughput::Elements(EVENTS as u64));
    group.bench_function("text chunks", |bencher| {
        bencher.iter_batched(
            || events.clone(),
            |events| {
                let mut lanes = Lanes::default();
                for event in events {
                    let emit = |expanded| drop(black_box(expanded));
                    lanes.expand(event, emit).unwrap();
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// All of it, from text to fold, as an agent's stream goes.
fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read, expand, judge and fold");
    let chunks = (0..EVENTS).map(|n| histories::chunk((n == 0).then_some("m")));
    let chunks: Vec<_> = std::iter::once(histories::started())
        .chain(chunks)
        .collect();
    for (name, texts) in [
        ("text deltas", histories::one_message(EVENTS)),
        ("text chunks", chunks),
    ] {
        group.throughput(Throughput::Elements(texts.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut judge = StreamJudge::new();
                for text in &texts {
                    black_box(judge.take(text).unwrap());
                }
                judge
            });
        });
    }
    group.finish();
}
