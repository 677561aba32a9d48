//! Answering: the order of the checks, who wins, and what repeats amount to.

use threadcast_run_registry::decide::{Answer, Refusal};
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::fact::Fact;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::run_status::RunStatus;

use crate::world::{
    World, asks, cancel, error, finished, interrupt, plain_resume, principal, proposal, resume,
    run, run_id, run_of, started, user,
};
use threadcast_run_registry::histories::Random;

const APPROVAL: &str = r#"{"id":"i1","reason":"confirmation","responseSchema":{"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"},"amount":{"type":"number"}}}}"#;
const DATED: &str = r#"{"id":"i2","reason":"confirmation","expiresAt":"1970-01-01T00:01:00Z"}"#;

/// A thread whose run `r1` asks `i1`, an approval, and `i2`, which expires at 60,000.
fn asking() -> World {
    let mut world = World::new();
    let input =
        r#""tools":[{"name":"pay","description":"pays"}],"forwardedProps":{"token":"anns"}"#;
    world.accepts("ann", &run("r1", input), "r1");
    world.play("r1", &[started("r1"), asks("r1", &[APPROVAL, DATED])]);
    world
}

const GOOD: &str = r#"i1:{"approved":true} i2:1"#;

fn known(run: &str, status: RunStatus) -> Result<Answer, Refusal> {
    Ok(Answer {
        run: run_id(run),
        status,
        duplicate: true,
    })
}

fn code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::AlreadyResolved { .. } => "already_resolved",
        Refusal::ForeignAgent { .. } => "forbidden",
        Refusal::InterruptExpired { .. } => "interrupt_expired",
        Refusal::InterruptUnknown { .. } => "interrupt_unknown",
        Refusal::InterruptsOpen { .. } => "interrupts_open",
        Refusal::PayloadInvalid { .. } => "payload_invalid",
        Refusal::ResumeDuplicate { .. } => "resume_duplicate",
        Refusal::ResumeIncomplete { .. } => "resume_incomplete",
        Refusal::RunConflict { .. } => "run_conflict",
        Refusal::ThreadBusy { .. } => "thread_busy",
        _ => "other",
    }
}

#[track_caller]
fn refused(world: &mut World, of: &str, answers: &str, expected: &str) -> Refusal {
    let before = world.log.entries.len();
    let refusal = world
        .command("bob", &resume(of, "r9", answers))
        .unwrap_err();
    assert_eq!(code(&refusal), expected, "{answers}: {refusal}");
    assert_eq!(world.log.entries.len(), before, "a refusal writes nothing");
    refusal
}

#[test]
fn each_fault_has_its_own_refusal() {
    let mut world = asking();
    world.now = Millis(59_999);
    for (answers, expected) in [
        (r#"i1:{"approved":true} i2:1 i3:1"#, "interrupt_unknown"),
        (
            r#"i1:{"approved":true} i1:{"approved":true}"#,
            "resume_duplicate",
        ),
        (r#"i1:{"approved":true}"#, "resume_incomplete"),
        ("", "resume_incomplete"),
        (r#"i1:{"approved":1} i2:1"#, "payload_invalid"),
        (r#"i1:{} i2:1"#, "payload_invalid"),
    ] {
        refused(&mut world, "r1", answers, expected);
    }
    refused(&mut world, "r0", GOOD, "interrupt_unknown");
    world.now = Millis(60_000);
    match refused(&mut world, "r1", GOOD, "interrupt_expired") {
        Refusal::InterruptExpired {
            interrupt,
            expires_at,
        } => {
            assert_eq!(
                (interrupt.as_str(), &*expires_at),
                ("i2", "1970-01-01T00:01:00Z")
            );
        }
        other => panic!("{other:?}"),
    }
    world.accepts(
        "bob",
        &resume("r1", "r2", r#"i1:{"approved":true} i2:cancelled"#),
        "r2",
    );
}

#[test]
fn faults_are_told_in_their_order() {
    let mut world = asking();
    world.now = Millis(60_000);
    // Unknown before twice before missing before expired before payload.
    refused(&mut world, "r1", "i9:1 i1:1 i1:1", "interrupt_unknown");
    refused(&mut world, "r1", "i1:1 i1:1", "resume_duplicate");
    refused(&mut world, "r1", "i2:1", "resume_incomplete");
    refused(&mut world, "r1", "i1:1 i2:1", "interrupt_expired");
    refused(&mut world, "r1", "i1:1 i2:cancelled", "payload_invalid");
}

#[test]
fn missing_ids_and_violations_are_named() {
    let mut world = asking();
    match refused(&mut world, "r1", "i2:1", "resume_incomplete") {
        Refusal::ResumeIncomplete { missing } => assert_eq!(missing[0].as_str(), "i1"),
        other => panic!("{other:?}"),
    }
    match refused(
        &mut world,
        "r1",
        r#"i1:{"approved":0,"amount":"x"} i2:1"#,
        "payload_invalid",
    ) {
        Refusal::PayloadInvalid { interrupt, errors } => {
            let mut paths: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
            paths.sort_unstable();
            assert_eq!(
                (interrupt.as_str(), paths),
                ("i1", vec!["/amount", "/approved"])
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_given_up_takes_no_payload() {
    let mut world = asking();
    let entries = r#""resume":[{"interruptId":"i1","status":"cancelled","payload":{"approved":false}},{"interruptId":"i2","status":"cancelled"}]"#;
    let refusal = world.command("bob", &run("r2", entries)).unwrap_err();
    assert_eq!(code(&refusal), "payload_invalid");
}

#[test]
fn who_comes_second_is_told_who_came_first() {
    let mut world = asking();
    world.accepts("ann", &resume("r1", "r2", GOOD), "r2");
    let told = Refusal::AlreadyResolved {
        of: run_id("r1"),
        interrupt: "i1".parse().unwrap(),
        by: principal("ann"),
        at: world.now,
        run: run_id("r2"),
    };
    assert_eq!(
        refused(
            &mut world,
            "r1",
            r#"i1:{"approved":false} i2:1"#,
            "already_resolved"
        ),
        told
    );
    // Even if the second answer would have been a bad one.
    assert_eq!(
        refused(&mut world, "r1", r#"i1:{"approved":0}"#, "already_resolved"),
        told
    );
    // The same answer, whatever its spelling, is answered with the run that took the first.
    assert_eq!(
        world.command("bob", &resume("r1", "r3", r#"i2:1.0 i1:{"approved":true}"#)),
        known("r2", RunStatus::Accepted)
    );
    assert_eq!(
        world.command("bob", &resume("r1", "r3", "i2:1")),
        known("r2", RunStatus::Accepted)
    );
    assert_eq!(
        world.log.facts().len(),
        world.log.fold().head().get() as usize - world.log.events().len()
    );
}

#[test]
fn a_retry_under_the_same_run_id_is_answered_with_that_run() {
    let mut world = asking();
    world.accepts("ann", &resume("r1", "r2", GOOD), "r2");
    assert_eq!(
        world.command("ann", &resume("r1", "r2", GOOD)),
        known("r2", RunStatus::Accepted)
    );
    world.play("r2", &[started("r2"), error("no")]);
    assert_eq!(
        world.command("ann", &resume("r1", "r2", GOOD)),
        known("r2", RunStatus::Error)
    );
    let other = world
        .command("ann", &resume("r1", "r2", r#"i1:{"approved":false} i2:1"#))
        .unwrap_err();
    assert_eq!(code(&other), "run_conflict");
    assert_eq!(
        code(&world.command("ann", &resume("r1", "r1", GOOD)).unwrap_err()),
        "run_conflict"
    );
}

#[test]
fn after_a_failure_the_same_answers_go_out_once_more_and_others_do_not() {
    let mut world = asking();
    world.accepts("ann", &resume("r1", "r2", GOOD), "r2");
    world.play("r2", &[started("r2"), error("boom")]);
    assert!(world.open().is_empty(), "a failure opens nothing");
    refused(
        &mut world,
        "r1",
        r#"i1:{"approved":false} i2:1"#,
        "already_resolved",
    );
    refused(
        &mut world,
        "r1",
        r#"i1:{"approved":true}"#,
        "resume_incomplete",
    );
    world.accepts("bob", &resume("r1", "r3", GOOD), "r3");
    match refused(
        &mut world,
        "r1",
        r#"i1:{"approved":false} i2:1"#,
        "already_resolved",
    ) {
        Refusal::AlreadyResolved { by, run, .. } => {
            assert_eq!((by, run), (principal("ann"), run_id("r3")))
        }
        other => panic!("{other:?}"),
    }
    world.play("r3", &[started("r3"), finished("r3")]);
    assert_eq!(
        world.command("bob", &resume("r1", "r4", GOOD)),
        known("r3", RunStatus::Success)
    );
}

#[test]
fn an_unreached_agent_opens_its_questions_again() {
    let mut world = asking();
    world.accepts("ann", &resume("r1", "r2", GOOD), "r2");
    let mut owner = world.owner("r2");
    owner.end(
        &Ending::Unreached {
            reason: "refused".into(),
        },
        world.now,
    );
    world.flush(&mut owner);
    assert_eq!(world.status("r2"), RunStatus::Error);
    assert_eq!(world.open(), ["i1", "i2"]);
    assert!(!world.fold.registry().run(&run_id("r2")).unwrap().in_doubt);
    world.accepts(
        "bob",
        &resume("r1", "r3", r#"i1:{"approved":false} i2:1"#),
        "r3",
    );
}

#[test]
fn what_may_have_been_sent_before_does_not_open_again() {
    let mut world = asking();
    world.accepts("ann", &resume("r1", "r2", GOOD), "r2");
    let mut owner = world.play("r2", &[]);
    owner.end(
        &Ending::Truncated {
            reason: "gone".into(),
        },
        world.now,
    );
    world.flush(&mut owner);
    assert!(world.fold.registry().run(&run_id("r2")).unwrap().in_doubt);
    world.accepts("ann", &resume("r1", "r3", GOOD), "r3");
    let mut owner = world.owner("r3");
    owner.end(
        &Ending::Unreached {
            reason: "refused".into(),
        },
        world.now,
    );
    world.flush(&mut owner);
    assert!(
        world.open().is_empty(),
        "the first try may have reached the agent"
    );
    refused(
        &mut world,
        "r1",
        r#"i1:{"approved":false} i2:1"#,
        "already_resolved",
    );
    world.accepts("ann", &resume("r1", "r4", GOOD), "r4");
}

#[test]
fn cancelling_the_run_that_answers_opens_its_questions_only_before_it_is_sent() {
    for is_sent in [false, true] {
        let mut world = asking();
        world.accepts("ann", &resume("r1", "r2", GOOD), "r2");
        let mut owner = world.owner("r2");
        if is_sent {
            let append = owner.dispatched(&world.fold, world.now);
            world.owner_append(&mut owner, &append);
        }
        world.command("bob", &cancel("r2")).unwrap();
        owner.end(&Ending::Abort, world.now);
        world.flush(&mut owner);
        assert_eq!(world.status("r2"), RunStatus::Cancelled);
        assert_eq!(
            world.fold.registry().run(&run_id("r2")).unwrap().in_doubt,
            is_sent
        );
        assert_eq!(world.open().is_empty(), is_sent);
    }
}

#[test]
fn a_late_failure_of_the_asking_run_leaves_its_questions_open() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let mut owner = world.play("r1", &[started("r1"), asks("r1", &[&interrupt("i1")])]);
    world.feed(&mut owner, &[error("late")]);
    assert_eq!(
        (world.status("r1"), world.open()),
        (RunStatus::Error, vec!["i1".to_owned()])
    );
    world.accepts("bob", &resume("r1", "r2", "i1:1"), "r2");
}

#[test]
fn plain_clients_answer_the_latest_interrupted_run() {
    let mut world = asking();
    let refusal = world
        .command("bob", &plain_resume("r2", "i9:1", ""))
        .unwrap_err();
    assert_eq!(code(&refusal), "interrupt_unknown");
    let input = format!(r#""messages":[{}]"#, user("u1"));
    world.accepts("bob", &plain_resume("r2", GOOD, &input), "r2");
    assert_eq!(
        world.command("bob", &plain_resume("r2", GOOD, &input)),
        known("r2", RunStatus::Accepted)
    );
    assert_eq!(
        world.command("eve", &plain_resume("r3", GOOD, "")),
        known("r2", RunStatus::Accepted)
    );
    world.play("r2", &[started("r2"), error("boom")]);
    // After a failure a plain client sends its answers again under a new id.
    world.accepts("bob", &plain_resume("r3", GOOD, &input), "r3");
    assert_eq!(world.accepted("r3").resume.unwrap().of, run_id("r1"));
}

#[test]
fn repeated_answers_beside_new_messages_are_dropped() {
    let mut world = asking();
    world.accepts("bob", &plain_resume("r2", GOOD, ""), "r2");
    let input = format!(r#""messages":[{}]"#, user("u7"));
    let busy = world
        .command("bob", &plain_resume("r3", GOOD, &input))
        .unwrap_err();
    assert_eq!(code(&busy), "thread_busy");
    world.play("r2", &[started("r2"), finished("r2")]);
    world.accepts("bob", &plain_resume("r3", GOOD, &input), "r3");
    assert_eq!(world.accepted("r3").resume, None);
    world.play("r3", &[started("r3"), finished("r3")]);
    let other = world
        .command(
            "bob",
            &plain_resume("r4", r#"i1:{"approved":false} i2:1"#, &input),
        )
        .unwrap_err();
    assert_eq!(code(&other), "already_resolved");
}

#[test]
fn answers_go_to_the_agent_that_asked() {
    let mut world = asking();
    let entries = r#""resume":[{"interruptId":"i1","status":"cancelled"},{"interruptId":"i2","status":"cancelled"}]"#;
    let refusal = world
        .command("bob", &run_of("other", "r2", entries))
        .unwrap_err();
    assert_eq!(code(&refusal), "forbidden");
    world.accepts("bob", &run_of("a", "r2", entries), "r2");
}

#[test]
fn a_schema_that_cannot_be_used_is_recorded() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let remote =
        r#"{"id":"i1","reason":"x","responseSchema":{"$ref":"http://127.0.0.1:1/schema"}}"#;
    world.play("r1", &[started("r1"), asks("r1", &[remote])]);
    world.accepts("bob", &resume("r1", "r2", "i1:1"), "r2");
    let unchecked = world.log.facts().into_iter().find_map(|fact| match fact {
        Fact::InterruptResolved(fact) => fact.unchecked,
        _ => None,
    });
    assert!(unchecked.unwrap().contains("leaves the schema"));
}

/// An agent raises the same id in each of its runs; late retries of every earlier answer, from both
/// kinds of clients, never answer the question that is open now.
#[test]
fn an_id_that_is_raised_again_is_another_question() {
    let mut world = World::new();
    world.accepts("ann", &run("r0", ""), "r0");
    world.play("r0", &[started("r0"), asks("r0", &[&interrupt("i")])]);
    for round in 1..=3 {
        let (of, next) = (format!("r{}", round - 1), format!("r{round}"));
        let answer = format!("i:{round}");
        if round == 2 {
            world.accepts("ann", &plain_resume(&next, &answer, ""), &next);
        } else {
            world.accepts("ann", &resume(&of, &next, &answer), &next);
        }
        world.play(&next, &[started(&next), asks(&next, &[&interrupt("i")])]);
        assert_eq!(world.open(), ["i"]);
        for earlier in 1..=round {
            let (of, taker) = (format!("r{}", earlier - 1), format!("r{earlier}"));
            let settled = known(&taker, RunStatus::Interrupted);
            assert_eq!(
                world.command("phone", &resume(&of, "late", &format!("i:{earlier}"))),
                settled
            );
            match earlier {
                2 => assert_eq!(
                    world.command("ann", &plain_resume(&taker, &format!("i:{earlier}"), "")),
                    settled
                ),
                _ => assert_eq!(
                    world.command("ann", &resume(&of, &taker, &format!("i:{earlier}"))),
                    settled
                ),
            }
            let other = world
                .command("phone", &resume(&of, "late", "i:99"))
                .unwrap_err();
            assert_eq!(code(&other), "already_resolved");
        }
        assert_eq!(world.open(), ["i"], "what is open now is open still");
    }
}

/// Many people answer at once, each over the fold it has seen last; between deciding and appending
/// anything may happen.
#[test]
fn of_many_answers_at_once_exactly_one_wins() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut world = asking();
        let people: Vec<_> = (0..2 + random.below(6))
            .map(|at| format!("p{at}"))
            .collect();
        let commands: Vec<_> = people
            .iter()
            .enumerate()
            .map(|(at, _)| match random.below(4) {
                0 => resume("r1", &format!("x{at}"), GOOD),
                1 => resume("r1", &format!("x{at}"), r#"i1:{"approved":false} i2:1"#),
                2 => plain_resume(&format!("x{at}"), GOOD, ""),
                _ => cancel("r1"),
            })
            .collect();
        let mut waiting: Vec<_> = (0..people.len()).collect();
        let mut proposals = Vec::new();
        let (mut winners, mut told) = (0, 0);
        while !waiting.is_empty() || !proposals.is_empty() {
            if !waiting.is_empty() && (proposals.is_empty() || random.one_in(2)) {
                let at = waiting.swap_remove(random.below(waiting.len()));
                match world.propose(&people[at], &commands[at]) {
                    Ok(threadcast_run_registry::decide::Decision::Settled(answer)) => {
                        assert!(answer.duplicate);
                        told += 1;
                    }
                    Ok(decision) => proposals.push((at, proposal(decision))),
                    Err(refusal) => {
                        assert_eq!(code(&refusal), "already_resolved", "seed {seed}");
                        told += 1;
                    }
                }
            } else {
                let (at, proposal) = proposals.swap_remove(random.below(proposals.len()));
                if world.append(&proposal.append) {
                    winners += 1;
                } else {
                    waiting.push(at);
                }
            }
        }
        assert_eq!((winners, told), (1, people.len() - 1), "seed {seed}");
        let accepted = world
            .log
            .facts()
            .into_iter()
            .filter(|fact| matches!(fact, Fact::RunAccepted { .. }))
            .count();
        assert_eq!(accepted, 2, "seed {seed}");
    }
}
