//! What an agent sends behind its run's end.

use threadcast_run_registry::owner::{AgentPolicy, Owner, OwnerStart, TRAILING_MAX};
use threadcast_run_registry::thread_record::StoredRecord;
use threadcast_thread_log::run_status::RunStatus;

use crate::owner::accepted;
use crate::world::{World, cancel, error, finished, lines, started, thread};

fn ended() -> (World, Owner) {
    let mut world = accepted();
    let owner = world.play("r1", &[started("r1"), finished("r1")]);
    (world, owner)
}

#[test]
fn a_failure_counts_whatever_came_before_it() {
    let unknown = r#"{"type":"FROM_LATER"}"#;
    for before in [
        vec![unknown],
        vec![r#"{"type":"CUSTOM","name":"n","value":1}"#],
        vec![r#"{"type":"RAW","event":1}"#],
        vec!["unreadable"],
        vec![unknown; TRAILING_MAX + 1],
    ] {
        let (mut world, mut owner) = ended();
        let mut late: Vec<_> = before.iter().map(|line| (*line).to_owned()).collect();
        world.feed(&mut owner, &late);
        let facts = world.log.types().len();
        late = vec![error("late"), error("later")];
        world.feed(&mut owner, &late);
        assert_eq!(world.status("r1"), RunStatus::Error, "{before:?}");
        assert_eq!(world.log.types()[facts], "RUN_ERROR");
        let errors = world.log.types();
        let errors = errors.iter().filter(|one| *one == "RUN_ERROR");
        assert_eq!(errors.count(), 1, "only one failure is late");
    }
}

#[test]
fn the_failure_of_a_run_that_the_agent_began_by_itself_is_not_this_runs() {
    let (mut world, mut owner) = ended();
    world.feed(&mut owner, &[started("r9"), error("of r9")]);
    assert_eq!(world.status("r1"), RunStatus::Success);
    let types = world.log.types();
    assert_eq!(types[types.len() - 2..], ["run.trailing", "run.trailing"]);
}

#[test]
fn a_late_failure_keeps_raw_material_only_where_it_is_kept() {
    let failure = r#"{"type":"RUN_ERROR","message":"m","rawEvent":{"prompt":"s3cret"}}"#;
    for keep_raw in [false, true] {
        let mut world = accepted();
        let mut owner = Owner::new(OwnerStart {
            thread: thread(),
            accepted: world.accepted("r1"),
            lease: world.log.meta.holder.clone().unwrap().token,
            policy: AgentPolicy {
                keep_raw,
                ..AgentPolicy::default()
            },
        });
        let stream = lines([&started("r1"), &finished("r1"), failure]);
        world.feed(&mut owner, &stream);
        assert_eq!(world.status("r1"), RunStatus::Error);
        let last = world.log.events().pop().unwrap();
        assert_eq!(last.contains("s3cret"), keep_raw, "{last}");
    }
}

/// Who stopped a run, or an agent that says it was stopped, does not care how it came down.
#[test]
fn a_late_failure_leaves_a_cancelled_run_cancelled() {
    let by_agent =
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"cancelled"}}"#;
    for is_asked in [true, false] {
        let mut world = accepted();
        let mut owner = world.play("r1", &[started("r1")]);
        if is_asked {
            world.command("bob", &cancel("r1")).unwrap();
        }
        world.feed(&mut owner, &[by_agent.to_owned(), error("late")]);
        assert_eq!(world.log.types().last().unwrap(), "RUN_ERROR");
        assert_eq!(world.status("r1"), RunStatus::Cancelled);
        let record = StoredRecord::from_bytes(world.log.meta.record.as_ref().unwrap()).unwrap();
        assert_eq!(record, StoredRecord::of(&world.fold));
    }
}

#[test]
fn a_run_that_succeeds_although_it_was_to_stop_fails_like_any_other() {
    let mut world = accepted();
    let mut owner = world.play("r1", &[started("r1")]);
    world.command("bob", &cancel("r1")).unwrap();
    world.feed(&mut owner, &[finished("r1")]);
    assert_eq!(world.status("r1"), RunStatus::Success);
    world.feed(&mut owner, &[error("late")]);
    assert_eq!(world.status("r1"), RunStatus::Error);
}
