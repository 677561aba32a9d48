//! A run that is cancelled, at each moment of its life.

use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::owner::Owner;
use threadcast_thread_log::entry::{Body, Origin};
use threadcast_thread_log::run_status::RunStatus;

use crate::world::{World, asks, cancel, finished, interrupt, lines, resume, run, started};

/// A stream with everything open at some point of it.
fn stream() -> Vec<String> {
    let mut stream = lines([
        &started("r2"),
        r#"{"type":"STEP_STARTED","stepName":"s"}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
        r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"pay"}"#,
        r#"{"type":"SUBAGENT_STARTED","subagentRunId":"sub","name":"n"}"#,
        r#"{"type":"REASONING_START","messageId":"r"}"#,
        r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{"}"#,
        r#"{"type":"REASONING_END","messageId":"r"}"#,
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"sub"}"#,
        r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"}"}"#,
        r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
        r#"{"type":"STEP_FINISHED","stepName":"s"}"#,
    ]);
    stream.push(finished("r2"));
    stream
}

/// A thread whose run `r2` answers a question of `r1`.
fn answering() -> (World, Owner) {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    world.play("r1", &[started("r1"), asks("r1", &[&interrupt("i")])]);
    world.accepts("ann", &resume("r1", "r2", "i:1"), "r2");
    let owner = world.owner("r2");
    (world, owner)
}

/// After each event of a run someone cancels it and the agent says nothing more: the run ends as
/// cancelled, nothing is closed or finished in the agent's name, and no tool call becomes complete.
#[test]
fn at_every_point_the_hub_ends_a_cancelled_run_and_closes_nothing() {
    let stream = stream();
    for cut in 0..stream.len() {
        let (mut world, mut owner) = answering();
        let append = owner.dispatched(&world.fold, world.now);
        world.owner_append(&mut owner, &append);
        world.feed(&mut owner, &stream[..cut]);
        let by_agent = world.log.events().len();
        world.command("bob", &cancel("r2")).unwrap();
        owner.end(&Ending::Abort, world.now);
        world.flush(&mut owner);
        assert_eq!(world.status("r2"), RunStatus::Cancelled, "cut {cut}");
        let of_hub = world
            .log
            .entries
            .iter()
            .filter_map(|entry| match &entry.record.body {
                Body::Event { json, .. } if entry.record.origin == Origin::Hub => Some(
                    json.to_value().unwrap()["type"]
                        .as_str()
                        .unwrap()
                        .to_owned(),
                ),
                _ => None,
            });
        let expected: &[&str] = if cut == 0 {
            &["RUN_STARTED", "RUN_ERROR"]
        } else {
            &["RUN_ERROR"]
        };
        assert_eq!(of_hub.collect::<Vec<_>>(), expected, "cut {cut}");
        assert_eq!(world.log.events().len(), by_agent + expected.len());
        assert!(world.open().is_empty(), "the answer may have been acted on");
        assert!(world.log.meta.holder.is_none());
    }
}

#[test]
fn a_cancellation_that_comes_too_late_changes_nothing() {
    let (mut world, mut owner) = answering();
    world.feed(&mut owner, &stream());
    let before = world.log.entries.len();
    let answer = world.command("bob", &cancel("r2")).unwrap();
    assert_eq!(
        (answer.status, answer.duplicate),
        (RunStatus::Success, true)
    );
    assert_eq!(world.log.entries.len(), before);
}

/// The request is in the log and the agent succeeds all the same: what it says is true.
#[test]
fn an_agent_that_succeeds_after_the_request_has_succeeded() {
    let (mut world, mut owner) = answering();
    world.feed(&mut owner, &stream()[..1]);
    world.command("bob", &cancel("r2")).unwrap();
    world.feed(&mut owner, &[finished("r2")]);
    assert_eq!(world.status("r2"), RunStatus::Success);
}

/// Cancel and resume race for an interrupted run; the loser learns what was decided.
#[test]
fn cancel_against_resume_has_one_winner() {
    for cancel_first in [false, true] {
        let mut world = World::new();
        world.accepts("ann", &run("r1", ""), "r1");
        world.play("r1", &[started("r1"), asks("r1", &[&interrupt("i")])]);
        let commands = [("ann", resume("r1", "r2", "i:1")), ("bob", cancel("r1"))];
        let decided = commands
            .clone()
            .map(|(by, command)| crate::world::proposal(world.propose(by, &command).unwrap()));
        let (winner, loser) = if cancel_first { (1, 0) } else { (0, 1) };
        assert!(world.append(&decided[winner].append));
        assert!(!world.append(&decided[loser].append));
        let (by, command) = &commands[loser];
        match (cancel_first, world.command(by, command)) {
            (false, Ok(answer)) => assert_eq!(
                (answer.status, answer.duplicate),
                (RunStatus::Interrupted, true)
            ),
            (true, Err(refusal)) => assert!(
                refusal.to_string().contains("answered otherwise by `bob`"),
                "{refusal}"
            ),
            (_, other) => panic!("{other:?}"),
        }
        let accepted = world
            .log
            .facts()
            .into_iter()
            .filter(|fact| matches!(fact, Fact::RunAccepted { .. }));
        assert_eq!(accepted.count(), 2);
    }
}
