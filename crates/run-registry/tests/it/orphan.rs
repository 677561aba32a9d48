//! Runs whose owner is gone are ended by another one.

use threadcast_agui::json::RawJson;
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::owner::Owner;
use threadcast_thread_log::run_status::RunStatus;

use crate::owner::{accepted, failure, text};
use crate::world::{World, asks, finished, interrupt, resume, run_id, started};

fn orphan(world: &World, run: &str) -> Option<Owner> {
    let lease = world.log.meta.holder.as_ref()?.token.clone();
    let messages = RawJson::parse("[]").unwrap();
    let source = world.log.meta.source;
    Owner::of_orphan(&world.fold, &run_id(run), lease, source, messages)
}

fn end(world: &mut World, run: &str, ending: &Ending) {
    let mut owner = orphan(world, run).unwrap();
    owner.end(ending, world.now);
    assert_eq!(world.flush(&mut owner), None, "it is appended at once");
    assert!(owner.has_ended());
    assert!(world.log.meta.holder.is_none(), "the end frees the lease");
}

#[test]
fn its_end_stands_behind_whatever_its_owner_left() {
    for left in 0..=4 {
        let mut world = accepted();
        let lines = [&[started("r1")][..], &text("m")].concat();
        drop(world.play("r1", &lines[..left]));
        end(&mut world, "r1", &Ending::Lost);
        assert_eq!(failure(&world).0, "AGENT_LOST");
        let events = world.log.events();
        assert_eq!(events.len(), left.max(1) + 1, "{events:?}");
        assert_eq!(world.status("r1"), RunStatus::Error);
        let in_doubt = world.fold.registry().run(&run_id("r1")).unwrap().in_doubt;
        assert_eq!(in_doubt, left == 0, "its agent was heard or not");
    }
}

#[test]
fn answers_that_were_never_sent_are_asked_for_again() {
    let mut world = accepted();
    world.play("r1", &[started("r1"), asks("r1", &[&interrupt("i")])]);
    world.accepts("ann", &resume("r1", "r2", "i:true"), "r2");
    assert!(world.open().is_empty());
    let reason = "nobody was there".into();
    end(&mut world, "r2", &Ending::Unreached { reason });
    assert_eq!(world.open(), ["i"]);
}

#[test]
fn a_run_that_has_ended_has_no_orphan() {
    let mut world = accepted();
    world.play("r1", &[started("r1"), finished("r1")]);
    assert!(orphan(&world, "r1").is_none());
}
