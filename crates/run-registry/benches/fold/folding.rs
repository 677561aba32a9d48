//! Folding events that were read before.

use criterion::{BatchSize, Criterion, Throughput};
use threadcast_agui::event::Event;
use threadcast_run_registry::conversation::Conversation;

use crate::histories;

/// Events in front of those that are measured, and as many of these.
const EVENTS: usize = 100_000;

pub(crate) fn measure(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fold");
    group.throughput(Throughput::Elements(EVENTS as u64));
    let one = histories::read(&histories::one_message(EVENTS));
    let delta = histories::read(&[histories::delta("m")]);
    let many = histories::read(&histories::many_messages(EVENTS));
    let open = histories::read(&histories::interleaved(EVENTS));
    let (opened, deltas) = open.split_at(open.len() - EVENTS);
    let more: Vec<Event> = delta.iter().cycle().take(EVENTS).cloned().collect();
    let turns: Vec<Event> = deltas.to_vec();
    for (name, before, events) in [
        ("text deltas 1 to 100,000 of one message", &one[..2], &more),
        ("text deltas 100,001 to 200,000 of one message", &one, &more),
        ("text deltas of 1,000 open messages in turn", opened, &turns),
        (
            "text deltas behind 100,000 events of 10,000 messages",
            &many_and_open(&many),
            &more,
        ),
        (
            "events of 10,000 messages, eight deltas each",
            &many[..1],
            &many[1..].to_vec(),
        ),
    ] {
        group.throughput(Throughput::Elements(events.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || folded(before),
                |conversation| fold_on(conversation, events),
                BatchSize::PerIteration,
            );
        });
    }
    let args = histories::read(&[
        histories::started(),
        histories::call_start("c"),
        histories::call_args("c"),
    ]);
    let state = histories::read(&[histories::started(), histories::state()]);
    let patches: Vec<_> = (0..EVENTS).map(histories::state_delta).collect();
    for (name, before, events) in [
        (
            "tool call arguments",
            &args[..2],
            vec![args[2].clone(); EVENTS],
        ),
        (
            "state deltas of one operation",
            &state[..],
            histories::read(&patches),
        ),
    ] {
        group.throughput(Throughput::Elements(EVENTS as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || folded(before),
                |conversation| fold_on(conversation, &events),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// A history of many messages behind which another one is open.
fn many_and_open(many: &[Event]) -> Vec<Event> {
    let mut events = many.to_vec();
    events.extend(histories::read(&[histories::start("m")]));
    events
}

pub(crate) fn folded(events: &[Event]) -> Conversation {
    fold_on(Conversation::new(), events)
}

pub(crate) fn fold_on(mut conversation: Conversation, events: &[Event]) -> Conversation {
    for event in events {
        conversation.apply(event);
    }
    conversation
}
