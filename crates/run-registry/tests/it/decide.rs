//! Starting and cancelling: one row a rule.

use threadcast_run_registry::decide::{Answer, Decision, Refusal};
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::owner::Owner;
use threadcast_run_registry::thread_record::StoredRecord;
use threadcast_thread_log::engine::Durability;
use threadcast_thread_log::entry::Body;
use threadcast_thread_log::lease::LeaseChange;
use threadcast_thread_log::run_status::RunStatus;

use crate::world::{
    World, asks, cancel, error, finished, interrupt, proposal, run, run_id, run_of, started, user,
};

/// A thread whose run `r1` ended well.
fn quiet() -> World {
    let mut world = World::new();
    world.accepts(
        "ann",
        &run("r1", &format!(r#""messages":[{}]"#, user("u1"))),
        "r1",
    );
    let snapshot = r#"{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}"#.to_owned();
    world.play("r1", &[started("r1"), snapshot, finished("r1")]);
    world
}

fn asking(interrupts: &[&str]) -> World {
    asking_owned(interrupts).0
}

fn asking_owned(interrupts: &[&str]) -> (World, Owner) {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let interrupts: Vec<_> = interrupts.iter().map(|id| interrupt(id)).collect();
    let interrupts: Vec<_> = interrupts.iter().map(String::as_str).collect();
    let owner = world.play("r1", &[started("r1"), asks("r1", &interrupts)]);
    (world, owner)
}

fn known(run: &str, status: RunStatus) -> Result<Answer, Refusal> {
    Ok(Answer {
        run: run_id(run),
        status,
        duplicate: true,
    })
}

#[test]
fn the_first_run_begins_the_log_and_takes_the_lease() {
    let mut world = World::new();
    let decision = world.propose("ann", &run("r1", "")).unwrap();
    let proposal = proposal(decision);
    assert!(proposal.append.may_create);
    assert!(matches!(proposal.append.lease, LeaseChange::Take { .. }));
    assert_eq!(proposal.append.durability, Durability::Durable);
    assert_eq!(proposal.starts, Some(run_id("r1")));
    assert!(world.append(&proposal.append));
    assert_eq!(world.status("r1"), RunStatus::Accepted);
    let record = StoredRecord::from_bytes(world.log.meta.record.as_ref().unwrap()).unwrap();
    assert_eq!(record, StoredRecord::of(&world.fold));
}

#[test]
fn the_same_submission_is_answered_with_the_status_it_has() {
    let mut world = World::new();
    let input = |version: &str| {
        run(
            "r1",
            &format!(r#""messages":[{}],"tools":[]{version}"#, user("u1")),
        )
    };
    world.accepts("ann", &input(""), "r1");
    assert_eq!(
        world.command("bob", &input("")),
        known("r1", RunStatus::Accepted)
    );
    let mut owner = world.owner("r1");
    world.feed(&mut owner, &[started("r1")]);
    assert_eq!(
        world.command("ann", &input(r#","protocolVersion":"1.0""#)),
        known("r1", RunStatus::Running)
    );
    world.feed(&mut owner, &[finished("r1")]);
    assert_eq!(
        world.command("ann", &input("")),
        known("r1", RunStatus::Success)
    );
}

#[test]
fn another_submission_under_a_known_id_is_a_conflict() {
    let mut world = quiet();
    let conflict = Err(Refusal::RunConflict { run: run_id("r1") });
    assert_eq!(world.command("ann", &run("r1", "")), conflict);
    assert_eq!(
        world.command(
            "ann",
            &run_of("b", "r1", &format!(r#""messages":[{}]"#, user("u1")))
        ),
        conflict
    );
}

#[test]
fn a_thread_has_one_active_run() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    assert_eq!(
        world.command("bob", &run("r2", "")),
        Err(Refusal::ThreadBusy { run: run_id("r1") })
    );
    world.play("r1", &[started("r1"), finished("r1")]);
    world.accepts("bob", &run("r2", ""), "r2");
}

#[test]
fn of_two_runs_decided_over_one_fold_one_is_appended() {
    let mut world = World::new();
    let one = proposal(world.propose("ann", &run("r1", "")).unwrap());
    let two = proposal(world.propose("bob", &run("r2", "")).unwrap());
    assert!(world.append(&two.append));
    assert!(!world.append(&one.append));
    assert_eq!(
        world.command("ann", &run("r1", "")),
        Err(Refusal::ThreadBusy { run: run_id("r2") })
    );
}

#[test]
fn open_interrupts_block_runs_that_do_not_answer() {
    let mut world = asking(&["i1", "i2"]);
    match world.command(
        "bob",
        &run("r2", &format!(r#""messages":[{}]"#, user("u2"))),
    ) {
        Err(Refusal::InterruptsOpen { of, interrupts }) => {
            assert_eq!(of, run_id("r1"));
            assert_eq!(
                interrupts
                    .iter()
                    .map(|one| one.id.as_str())
                    .collect::<Vec<_>>(),
                ["i1", "i2"]
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_messages_the_thread_does_not_hold_are_new() {
    let mut world = quiet();
    let messages = [
        user("u1"),
        user("u2"),
        user("u2"),
        r#"{"id":"s1","role":"system","content":"x"}"#.into(),
    ];
    world.accepts(
        "ann",
        &run("r2", &format!(r#""messages":[{}]"#, messages.join(","))),
        "r2",
    );
    let new = world.accepted("r2").messages.to_value().unwrap();
    let ids: Vec<_> = new
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["role"].as_str(), one["id"].as_str()))
        .collect();
    assert_eq!(
        ids,
        [(Some("user"), Some("u2")), (Some("system"), Some("s1"))]
    );
}

/// Clients take a message under a held id for the one they hold: it would be lost for them, and new
/// to the agent in every run.
#[test]
fn an_id_is_held_under_one_role() {
    let mut world = quiet();
    let system = r#"{"id":"u1","role":"system","content":"x"}"#.to_owned();
    let twice = [user("u2"), system.replace("u1", "u2")];
    for (messages, id) in [(vec![user("u1"), system], "u1"), (twice.to_vec(), "u2")] {
        let input = format!(r#""messages":[{}]"#, messages.join(","));
        match world.command("ann", &run("r2", &input)) {
            Err(Refusal::InputInvalid { at, reason }) => {
                let expected =
                    format!("`{id}` is the id of a message of role `user`, not `system`");
                assert_eq!((at, &*reason), ("messages", &*expected));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_state_that_says_nothing_changes_nothing() {
    let mut world = quiet();
    for (at, state) in [
        "",
        r#""state":{}"#,
        r#""state":{"n":1.0}"#,
        r#""state":null"#,
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("x{at}");
        let before = world.fold.versions().state;
        world.accepts("ann", &run(&id, state), &id);
        assert_eq!(world.fold.versions().state, before, "{state}");
        world.play(
            &id,
            &[
                started(&id),
                r#"{"type":"STATE_SNAPSHOT","snapshot":{"n":2}}"#.into(),
                finished(&id),
            ],
        );
    }
    assert_eq!(world.fold.conversation().state()["n"], 2);
}

#[test]
fn another_state_takes_the_place_of_the_threads() {
    let mut world = quiet();
    let decision = world
        .propose(
            "ann",
            &run("r2", r#""state":{"n":3,"long":9007199254740993}"#),
        )
        .unwrap();
    let proposal = proposal(decision);
    assert_eq!(
        proposal.append.guard.state,
        Some(world.fold.versions().state)
    );
    assert!(world.append(&proposal.append));
    assert_eq!(
        world.fold.conversation().state()["long"],
        9_007_199_254_740_993_u64
    );
    let patched = world
        .log
        .facts()
        .into_iter()
        .rfind(|fact| matches!(fact, Fact::StatePatched(_)));
    assert_eq!(patched.unwrap().by().id.as_ref(), "ann");
    world.play("r2", &[started("r2"), finished("r2")]);
    // What was the state after r1 is behind the thread, however it is spelled.
    world.accepts("bob", &run("r3", r#""state":{"n":1e0}"#), "r3");
    assert_eq!(world.fold.conversation().state()["n"], 3);
}

#[test]
fn a_state_that_cannot_be_held_is_refused() {
    let mut world = quiet();
    let refused = world.command("ann", &run("r2", r#""state":{"n":1e999}"#));
    assert!(
        matches!(refused, Err(Refusal::InputInvalid { at: "state", .. })),
        "{refused:?}"
    );
    let large = format!(r#""state":"{}""#, "x".repeat(1 << 20));
    let refused = world.command("ann", &run("r2", &large));
    assert!(
        matches!(refused, Err(Refusal::TooLarge { what: "state", .. })),
        "{refused:?}"
    );
}

#[test]
fn cancelling_an_active_run_is_recorded_once() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let answer = world.command("bob", &cancel("r1")).unwrap();
    assert_eq!(
        (answer.status, answer.duplicate),
        (RunStatus::Accepted, false)
    );
    assert_eq!(
        world.command("eve", &cancel("r1")),
        known("r1", RunStatus::Accepted)
    );
    let requests = world
        .log
        .facts()
        .into_iter()
        .filter(|fact| matches!(fact, Fact::RunCancelRequested { .. }));
    assert_eq!(
        requests
            .map(|fact| fact.by().id.to_string())
            .collect::<Vec<_>>(),
        ["bob"]
    );
}

#[test]
fn cancelling_what_has_ended_gives_its_status() {
    let mut world = quiet();
    assert_eq!(
        world.command("ann", &cancel("r1")),
        known("r1", RunStatus::Success)
    );
    assert_eq!(
        world.command("ann", &cancel("none")),
        Err(Refusal::RunUnknown {
            run: run_id("none")
        })
    );
}

#[test]
fn cancelling_an_interrupted_run_gives_up_every_question() {
    let mut world = asking(&["i1", "i2"]);
    let answer = world.command("bob", &cancel("r1")).unwrap();
    assert_eq!(answer.status, RunStatus::Accepted);
    assert_ne!(answer.run, run_id("r1"));
    assert!(world.open().is_empty());
    let statuses = world.accepted(answer.run.as_str()).resume.unwrap();
    assert!(
        statuses
            .entries
            .iter()
            .all(|entry| entry.status.as_str() == "cancelled")
    );
    assert_eq!(
        world.command("bob", &cancel("r1")),
        known("r1", RunStatus::Interrupted)
    );
    // A failure that comes to light later leaves the questions open, and so they can be given up.
    let (mut world, mut owner) = asking_owned(&["i1"]);
    world.feed(&mut owner, &[error("late")]);
    assert_eq!(world.status("r1"), RunStatus::Error);
    assert_eq!(world.open(), ["i1"]);
    assert_eq!(
        world.command("bob", &cancel("r1")).unwrap().status,
        RunStatus::Accepted
    );
}

#[test]
fn a_decision_is_found_by_its_attempt() {
    let mut world = World::new();
    let first = proposal(world.propose("ann", &run("r1", "")).unwrap());
    world.append(&first.append);
    let attempts = world
        .log
        .facts()
        .into_iter()
        .filter_map(|fact| fact.attempt().cloned());
    assert_eq!(
        attempts
            .map(|attempt| attempt.0.to_string())
            .collect::<Vec<_>>(),
        ["attempt1"]
    );
}

#[test]
fn what_is_private_is_not_in_the_public_part() {
    let mut world = World::new();
    let secret = r#""forwardedProps":{"token":"s3cret"},"state":{"a":"s3cret-state"},"context":[{"description":"d","value":"s3cret"}]"#;
    let decision = world.propose("ann", &run("r1", secret)).unwrap();
    let Decision::Append(proposal) = decision else {
        panic!("not settled")
    };
    let Body::Fact { public, private } = &proposal.append.entries[0].record.body else {
        panic!("a fact")
    };
    assert!(!public.as_str().contains("s3cret"), "{public}");
    assert!(private.as_ref().unwrap().as_str().contains("s3cret-state"));
}
