//! What changes the middle of a thread: patches of an activity, small and large, and results, on
//! short and long threads. Each pair of names is to cost about the same.

use criterion::{BatchSize, Criterion, Throughput};
use serde_json::json;
use threadcast_agui::event::Event;

use crate::folding::{fold_on, folded};
use crate::histories;

/// Events that are measured at once.
const EVENTS: usize = 1_000;

pub(crate) fn measure(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("middle");
    group.throughput(Throughput::Elements(EVENTS as u64));
    for (name, items) in [("1 KB", 30), ("1 MB", 30_000)] {
        let before = histories::read(&[histories::started(), activity(items)]);
        let patches = events_of(patch);
        group.bench_function(format!("patches of an activity of {name}"), |bencher| {
            bencher.iter_batched(
                || folded(&before),
                |conversation| fold_on(conversation, &patches),
                BatchSize::PerIteration,
            );
        });
    }
    for (name, events) in [("10", 100), ("10,000", 100_000)] {
        let mut texts = vec![
            histories::started(),
            activity(30),
            histories::call_start("c"),
        ];
        texts.extend(histories::many_messages(events).into_iter().skip(1));
        let before = histories::read(&texts);
        let patches = events_of(patch);
        let results = events_of(result);
        for (what, events) in [
            ("patches of an activity in front of", &patches),
            ("results of a call in front of", &results),
        ] {
            group.bench_function(format!("{what} {name} messages"), |bencher| {
                bencher.iter_batched(
                    || folded(&before),
                    |conversation| fold_on(conversation, events),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

fn events_of(text: fn(usize) -> String) -> Vec<Event> {
    let texts: Vec<_> = (0..EVENTS).map(text).collect();
    histories::read(&texts)
}

fn activity(items: usize) -> String {
    let items: Vec<_> = (0..items)
        .map(|n| json!({"id": n, "name": "an item", "n": 0}))
        .collect();
    json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "PLAN",
        "content": {"items": items}})
    .to_string()
}

fn patch(n: usize) -> String {
    let path = format!("/items/{}/n", n % 30);
    json!({"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "PLAN",
        "patch": [{"op": "replace", "path": path, "value": n}]})
    .to_string()
}

fn result(n: usize) -> String {
    json!({"type": "TOOL_CALL_RESULT", "messageId": format!("result-{n}"), "toolCallId": "c",
        "content": "ok"})
    .to_string()
}
