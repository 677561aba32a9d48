//! What an agent leaves open before its RUN_FINISHED.

use threadcast_agui::event::{Event, EventBody};
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::fact::{ClosedItem, ClosedKind, Fact, StreamRepaired};
use threadcast_run_registry::histories::{Random, history};
use threadcast_run_registry::owner::{
    AgentPolicy, LEFT_OPEN, MENDED_MAX, Owner, OwnerStart, REPAIRED_LISTED_MAX,
};
use threadcast_thread_log::engine::Durability;
use threadcast_thread_log::entry::{Body, Origin};
use threadcast_thread_log::run_status::RunStatus;

use crate::owner::{accepted, failure};
use crate::support::judge;
use crate::support::notation::stream;
use crate::world::{World, asks, cancel, finished, interrupt, run_id, started, thread};

/// Generated runs that are cut somewhere.
const HISTORIES: u64 = 240;

fn owner(world: &World, policy: AgentPolicy) -> Owner {
    let lease = world.log.meta.holder.clone().unwrap().token;
    Owner::new(OwnerStart {
        thread: thread(),
        accepted: world.accepted("r1"),
        lease,
        policy,
    })
}

fn lines(notation: &str) -> Vec<String> {
    let events = stream(notation);
    events.iter().map(|event| event.json.to_string()).collect()
}

fn ends() -> [(String, RunStatus); 3] {
    let cancelled =
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"cancelled"}}"#;
    [
        (finished("r1"), RunStatus::Success),
        (
            asks("r1", &[&interrupt("i1"), &interrupt("i2")]),
            RunStatus::Interrupted,
        ),
        (cancelled.to_owned(), RunStatus::Cancelled),
    ]
}

fn repair(world: &World) -> Option<StreamRepaired> {
    let facts = world.log.facts().into_iter();
    let mut repairs = facts.filter_map(|fact| match fact {
        Fact::StreamRepaired(fact) => Some(fact),
        _ => None,
    });
    let repair = repairs.next();
    assert!(repairs.next().is_none(), "a run is mended once");
    repair
}

/// The events that the hub wrote.
fn of_hub(world: &World) -> Vec<Event> {
    let entries = world.log.entries.iter();
    let of_hub = entries.filter(|entry| entry.record.origin == Origin::Hub);
    let event = |body: &Body| match body {
        Body::Event { json, .. } => Some(Event::from_raw(json.clone()).unwrap()),
        Body::Fact { .. } => None,
    };
    of_hub
        .filter_map(|entry| event(&entry.record.body))
        .collect()
}

fn read(events: &[String]) -> Vec<Event> {
    events
        .iter()
        .map(|json| Event::read(json).unwrap())
        .collect()
}

#[test]
fn what_is_left_open_is_closed_children_first() {
    let open = "RUN:r1 S+s A+a A+b^a S+s@a T+m@b G+g@a P+p T+n@gone S+o@b";
    for (end, status) in ends() {
        let mut world = accepted();
        let mut owner = world.play("r1", &lines(open));
        let before = world.log.entries.len();
        owner.feed(&end, world.now);
        let append = owner.next_append(&world.fold, world.now).unwrap();
        assert_eq!(append.durability, Durability::Durable);
        assert!(append.guard.lease.is_some() && append.guard.state.is_none());
        let range = append.source.unwrap();
        assert_eq!(range.to, range.from + 1, "one event, one group");
        world.owner_append(&mut owner, &append);
        assert_eq!(world.status("r1"), status);
        let closed: Vec<_> = world.log.entries[before..]
            .iter()
            .filter_map(|entry| match &entry.record.body {
                Body::Event { json, .. } => Some(json.to_string()),
                Body::Fact { .. } => None,
            })
            .collect();
        let error = format!(
            r#""message":"the run ended while this subagent was running","code":"{LEFT_OPEN}""#
        );
        let expected = [
            r#"{"type":"TEXT_MESSAGE_END","messageId":"n","subagentRunId":"gone"}"#.to_owned(),
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"b"}"#.to_owned(),
            r#"{"type":"STEP_FINISHED","stepName":"o","subagentRunId":"b"}"#.to_owned(),
            format!(r#"{{"type":"SUBAGENT_ERROR",{error},"subagentRunId":"b"}}"#),
            r#"{"type":"REASONING_MESSAGE_END","messageId":"g","subagentRunId":"a"}"#.to_owned(),
            r#"{"type":"STEP_FINISHED","stepName":"s","subagentRunId":"a"}"#.to_owned(),
            format!(r#"{{"type":"SUBAGENT_ERROR",{error},"subagentRunId":"a"}}"#),
            r#"{"type":"REASONING_END","messageId":"p"}"#.to_owned(),
            r#"{"type":"STEP_FINISHED","stepName":"s"}"#.to_owned(),
            end,
        ];
        assert_eq!(closed, expected);
        let types = world.log.types();
        assert_eq!(types[types.len() - 2], "stream.repaired");
        let repair = repair(&world).unwrap();
        let item = |kind, id: &str, owner: Option<&str>| ClosedItem {
            kind,
            id: id.into(),
            subagent_run_id: owner.map(|owner| owner.parse().unwrap()),
        };
        let expected = [
            item(ClosedKind::TextMessage, "n", Some("gone")),
            item(ClosedKind::TextMessage, "m", Some("b")),
            item(ClosedKind::Step, "o", Some("b")),
            item(ClosedKind::Subagent, "b", None),
            item(ClosedKind::ReasoningMessage, "g", Some("a")),
            item(ClosedKind::Step, "s", Some("a")),
            item(ClosedKind::Subagent, "a", None),
            item(ClosedKind::ReasoningSpan, "p", None),
            item(ClosedKind::Step, "s", None),
        ];
        assert_eq!((repair.closed, repair.more), (expected.to_vec(), 0));
    }
}

#[test]
fn a_strict_agent_is_taken_at_its_word() {
    let cases = [
        ("RUN:r1 S+s", "step-left-open"),
        ("RUN:r1 T+m", "message-left-open"),
        ("RUN:r1 G+m", "reasoning-message-left-open"),
        ("RUN:r1 P+m", "reasoning-span-left-open"),
        ("RUN:r1 A+a", "subagent-left-open"),
    ];
    for (open, rule) in cases {
        for strict in [true, false] {
            let mut world = accepted();
            let policy = AgentPolicy {
                strict,
                ..AgentPolicy::default()
            };
            let mut owner = owner(&world, policy);
            world.feed(&mut owner, &lines(open));
            world.feed(&mut owner, &[finished("r1")]);
            assert_eq!(repair(&world).is_none(), strict, "{open}");
            if strict {
                let (code, message) = failure(&world);
                assert_eq!(code, "PROTOCOL_VIOLATION");
                assert!(message.contains(&format!("`{rule}`")), "{message}");
            } else {
                assert_eq!(world.status("r1"), RunStatus::Success, "{open}");
            }
        }
    }
}

#[test]
fn what_cannot_be_mended_is_not_mended_in_part() {
    let twice = asks("r1", &[&interrupt("i"), &interrupt("i")]);
    let cases = [
        ("RUN:r1 S+s T+m C+c", finished("r1"), "tool-call-left-open"),
        ("RUN:r1 S+s", finished("r2"), "run-id-mismatch"),
        ("RUN:r1 S+s", twice, "interrupt-id-repeated"),
    ];
    for (open, end, rule) in cases {
        let mut world = accepted();
        world.play("r1", &[lines(open), vec![end]].concat());
        let (code, message) = failure(&world);
        assert_eq!(code, "PROTOCOL_VIOLATION");
        assert!(message.contains(&format!("`{rule}`")), "{message}");
        assert_eq!(of_hub(&world).len(), 1, "the hub wrote RUN_ERROR alone");
        assert!(repair(&world).is_none());
    }
}

#[test]
fn items_of_chunks_end_by_themselves() {
    let chunk = r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}"#;
    let mut world = accepted();
    world.play("r1", &[started("r1"), chunk.into(), finished("r1")]);
    assert_eq!(world.status("r1"), RunStatus::Success);
    assert!(repair(&world).is_none());
}

#[test]
fn nothing_is_mended_before_an_error_or_for_a_stream_that_breaks_off() {
    let error = r#"{"type":"RUN_ERROR","message":"no"}"#;
    for end in [Some(error), None] {
        let mut world = accepted();
        let mut owner = world.play("r1", &lines("RUN:r1 S+s A+a T+m@a"));
        match end {
            Some(line) => world.feed(&mut owner, &[line.to_owned()]),
            None => {
                let reason = "closed".into();
                owner.end(&Ending::Truncated { reason }, world.now);
                world.flush(&mut owner);
            }
        }
        assert_eq!(world.status("r1"), RunStatus::Error);
        assert!(repair(&world).is_none());
        assert_eq!(of_hub(&world).len(), usize::from(end.is_none()));
    }
}

#[test]
fn a_repair_is_bounded_and_counts_what_it_does_not_list() {
    for count in [REPAIRED_LISTED_MAX, REPAIRED_LISTED_MAX + 1, MENDED_MAX] {
        let mut world = accepted();
        let steps: Vec<_> = (0..count)
            .map(|at| format!(r#"{{"type":"STEP_STARTED","stepName":"s{at}"}}"#))
            .collect();
        let mut owner = world.play("r1", &[vec![started("r1")], steps].concat());
        world.feed(&mut owner, &[finished("r1")]);
        assert_eq!(world.status("r1"), RunStatus::Success);
        let repair = repair(&world).unwrap();
        assert_eq!(repair.closed.len() + repair.more, count);
        assert!(repair.closed.len() <= REPAIRED_LISTED_MAX);
        assert_eq!(&*repair.closed[0].id, format!("s{}", count - 1));
    }
    let mut world = accepted();
    let steps: Vec<_> = (0..=MENDED_MAX)
        .map(|at| format!(r#"{{"type":"STEP_STARTED","stepName":"s{at}"}}"#))
        .collect();
    world.play(
        "r1",
        &[vec![started("r1")], steps, vec![finished("r1")]].concat(),
    );
    let (code, message) = failure(&world);
    assert_eq!(code, "PROTOCOL_VIOLATION");
    assert!(message.contains("step-left-open"), "{message}");
    assert!(
        message.contains("1025 are open, at most 1024 are closed"),
        "{message}"
    );
}

#[test]
fn a_mended_end_whose_append_is_repeated_is_written_once() {
    let mut world = accepted();
    let mut owner = world.play("r1", &lines("RUN:r1 S+s A+a"));
    owner.feed(&finished("r1"), world.now);
    let append = owner.next_append(&world.fold, world.now).unwrap();
    assert!(world.append(&append), "but the owner does not learn it");
    let count = world.log.entries.len();
    let again = owner.next_append(&world.fold, world.now).unwrap();
    assert_eq!(again.source, append.source);
    world.owner_append(&mut owner, &again);
    assert!(owner.has_ended());
    assert_eq!(world.log.entries.len(), count);
    assert_eq!(world.status("r1"), RunStatus::Success);
}

/// The beginning of a generated run, without its end.
fn cut_run(seed: u64) -> Vec<String> {
    let events = history(seed);
    let is_terminal = |event: &Event| {
        matches!(
            event.body,
            EventBody::RunFinished { .. } | EventBody::RunError { .. }
        )
    };
    let end = events.iter().position(is_terminal).unwrap_or(events.len());
    let cut = 1 + Random::new(seed ^ 0x5eed).below(end);
    let events = events.iter().take(cut);
    events.map(|event| event.json.to_string()).collect()
}

fn fold(events: &[Event]) -> Conversation {
    judge(events).unwrap_or_else(|(at, violation)| panic!("event {at} breaks {violation}"))
}

#[test]
fn whatever_is_left_open_the_log_is_legal_and_says_what_the_agent_said() {
    let mut mended = 0;
    for seed in 0..HISTORIES {
        let lines = cut_run(seed);
        let (end, status) = &ends()[(seed % 3) as usize];
        let mut world = accepted();
        let mut owner = world.play("r1", &lines);
        let told = fold(&read(&world.log.events()));
        world.feed(&mut owner, std::slice::from_ref(end));
        assert!(owner.has_ended(), "seed {seed}");
        let events = read(&world.log.events());
        let held = fold(&events);
        assert!(held.messages().eq(told.messages()), "seed {seed}");
        assert_eq!(held.state(), told.state(), "seed {seed}");
        let of_hub = of_hub(&world);
        if world.status("r1") == RunStatus::Error {
            let (_, message) = failure(&world);
            assert!(
                message.contains("tool-call-left-open"),
                "seed {seed}: {message}"
            );
            assert_eq!(of_hub.len(), 1, "seed {seed}");
            continue;
        }
        assert_eq!(world.status("r1"), *status, "seed {seed}");
        assert_eq!(events.last().unwrap().json.as_str(), end, "verbatim");
        let closed = repair(&world).map_or(0, |repair| repair.closed.len() + repair.more);
        assert_eq!(of_hub.len(), closed, "seed {seed}");
        mended += usize::from(closed > 0);
        for event in &of_hub {
            let is_end = matches!(
                event.body,
                EventBody::ReasoningEnd { .. }
                    | EventBody::ReasoningMessageEnd { .. }
                    | EventBody::StepFinished { .. }
                    | EventBody::SubagentError { .. }
                    | EventBody::TextMessageEnd { .. }
            );
            assert!(is_end, "seed {seed}: {}", event.json);
        }
        assert_eq!(world.log.fold().registry().status(&run_id("r1")), *status);
    }
    assert!(mended > 30, "{mended} of {HISTORIES} runs were mended");
}

#[test]
fn a_run_that_is_cancelled_anywhere_is_closed_by_nothing_but_its_error() {
    for seed in 0..HISTORIES / 4 {
        let lines = cut_run(seed);
        for cut in 0..=lines.len() {
            let mut world = accepted();
            let mut owner = world.play("r1", &lines[..cut]);
            world.command("bob", &cancel("r1")).unwrap();
            owner.end(&Ending::Abort, world.now);
            world.flush(&mut owner);
            assert_eq!(world.status("r1"), RunStatus::Cancelled);
            assert!(repair(&world).is_none());
            for event in of_hub(&world) {
                let is_begin_or_error = matches!(
                    event.body,
                    EventBody::RunStarted { .. } | EventBody::RunError { .. }
                );
                assert!(is_begin_or_error, "seed {seed}: {}", event.json);
            }
        }
    }
}
