//! Answers that come again: what counts as the same, and what is left to do when the first try
//! failed.

use threadcast_run_registry::decide::{Answer, Refusal};
use threadcast_run_registry::ending::Ending;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::run_status::RunStatus;

use crate::world::{
    World, asks, error, interrupt, plain_resume, resume, run, run_id, run_of, started, user,
};

const DATED: &str = r#"{"id":"i2","reason":"confirmation","expiresAt":"1970-01-01T00:01:00Z"}"#;

/// A thread whose run `r1` asks `i1`, and `i2`, which expires at 60,000.
fn asking() -> World {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    world.play(
        "r1",
        &[started("r1"), asks("r1", &[&interrupt("i1"), DATED])],
    );
    world
}

fn known(run: &str, status: RunStatus) -> Result<Answer, Refusal> {
    Ok(Answer {
        run: run_id(run),
        status,
        duplicate: true,
    })
}

fn conflict(run: &str) -> Result<Answer, Refusal> {
    Err(Refusal::RunConflict { run: run_id(run) })
}

#[track_caller]
fn already_resolved(answer: Result<Answer, Refusal>, by: &str) {
    match answer {
        Err(Refusal::AlreadyResolved { run, .. }) => assert_eq!(run, run_id(by)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_known_run_is_repeated_only_by_its_own_answers_even_once_they_are_reopened() {
    let mut world = asking();
    world.accepts("ann", &resume("r1", "r2", "i1:true i2:1"), "r2");
    let mut owner = world.owner("r2");
    let reason = "refused".into();
    owner.end(&Ending::Unreached { reason }, world.now);
    world.flush(&mut owner);
    assert_eq!(world.open(), ["i1", "i2"]);
    for same in ["i1:true i2:1", "i2:1.0 i1:true"] {
        let answer = world.command("bob", &resume("r1", "r2", same));
        assert_eq!(answer, known("r2", RunStatus::Error), "{same}");
    }
    for other in [
        "i1:false i2:1",
        "i1:cancelled i2:1",
        "i1:true",
        "i1:true i1:true",
        "i1:true i2:1 i3:1",
    ] {
        let answer = world.command("bob", &resume("r1", "r2", other));
        assert_eq!(answer, conflict("r2"), "{other}");
    }
    let elsewhere = world.command("bob", &resume("r0", "r2", "i1:true i2:1"));
    assert_eq!(elsewhere, conflict("r2"));
}

#[test]
fn a_known_run_is_repeated_only_by_its_own_answers_even_once_another_took_them() {
    let mut world = asking();
    for next in ["r2", "r3"] {
        world.accepts("ann", &resume("r1", next, "i1:true i2:1"), next);
        world.play(next, &[started(next), error("no")]);
    }
    for next in ["r2", "r3"] {
        let same = world.command("bob", &resume("r1", next, "i1:true i2:1"));
        assert_eq!(same, known(next, RunStatus::Error));
        let other = world.command("bob", &resume("r1", next, "i1:false i2:1"));
        assert_eq!(other, conflict(next));
    }
}

#[test]
fn what_expired_after_a_failure_can_be_given_up() {
    for is_plain in [false, true] {
        let mut world = asking();
        let answer = |run: &str, answers: &str| match is_plain {
            true => plain_resume(run, answers, ""),
            false => resume("r1", run, answers),
        };
        world.accepts("ann", &answer("r2", "i1:true i2:1"), "r2");
        world.now = Millis(60_000);
        let busy = world.command("ann", &answer("r3", "i1:true i2:cancelled"));
        already_resolved(busy, "r2");
        world.play("r2", &[started("r2"), error("no")]);
        assert!(matches!(
            world.command("ann", &answer("r3", "i1:true i2:1")),
            Err(Refusal::InterruptExpired { interrupt, .. }) if interrupt.as_str() == "i2"
        ));
        // What has not expired stays as it was answered.
        for other in ["i1:cancelled i2:cancelled", "i1:true i2:2"] {
            already_resolved(world.command("ann", &answer("r3", other)), "r2");
        }
        world.accepts("bob", &answer("r3", "i1:true i2:cancelled"), "r3");
        assert!(world.open().is_empty());
        already_resolved(world.command("ann", &answer("r4", "i1:true i2:1")), "r3");
    }
}

#[test]
fn before_it_expires_a_failed_answer_is_not_given_up() {
    let mut world = asking();
    world.accepts("ann", &resume("r1", "r2", "i1:true i2:1"), "r2");
    world.play("r2", &[started("r2"), error("no")]);
    world.now = Millis(59_999);
    let early = world.command("ann", &resume("r1", "r3", "i1:true i2:cancelled"));
    already_resolved(early, "r2");
}

#[test]
fn an_empty_list_for_another_run_names_nothing_as_missing() {
    let mut world = asking();
    let missing = |world: &mut World, of: &str| match world.command("bob", &resume(of, "r9", "")) {
        Err(Refusal::ResumeIncomplete { missing }) => missing.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(&mut world, "r1"), 2);
    assert_eq!(missing(&mut world, "r0"), 0);
}

#[test]
fn repeated_answers_through_another_agent_are_forbidden_unless_the_run_is_about_something_new() {
    let mut world = asking();
    world.accepts("ann", &plain_resume("r2", "i1:true i2:1", ""), "r2");
    world.play("r2", &[started("r2"), asks("r2", &[&interrupt("i1")])]);
    world.accepts("ann", &plain_resume("r3", "i1:true", ""), "r3");
    world.play("r3", &[started("r3"), crate::world::finished("r3")]);
    let entries = r#""resume":[{"interruptId":"i1","status":"resolved","payload":true}]"#;
    assert!(matches!(
        world.command("bob", &run_of("other", "r4", entries)),
        Err(Refusal::ForeignAgent { .. })
    ));
    assert_eq!(
        world.command("bob", &run_of("a", "r4", entries)),
        known("r3", RunStatus::Success)
    );
    let new = format!(r#"{entries},"messages":[{}]"#, user("u1"));
    world.accepts("bob", &run_of("other", "r4", &new), "r4");
}
