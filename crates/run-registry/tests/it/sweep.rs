//! What is to be done for a thread that its owner left.

use threadcast_run_registry::sweep::{Due, LeaseStanding, due};
use threadcast_thread_log::entry::Millis;

use crate::world::{World, asks, run, run_id, started};

fn dues(world: &World) -> [Due; 3] {
    let standings = [
        LeaseStanding::Free,
        LeaseStanding::Lapsed,
        LeaseStanding::Held,
    ];
    standings.map(|lease| due(&world.fold, lease, world.now))
}

#[test]
fn a_run_is_started_until_its_agent_may_have_been_called_and_lost_from_then_on() {
    let mut world = World::new();
    let nothing = Due::Nothing { look_again: None };
    assert_eq!(
        dues(&world),
        [nothing.clone(), nothing.clone(), nothing.clone()]
    );

    world.accepts("ann", &run("r1", ""), "r1");
    let r1 = || run_id("r1");
    let start = Due::Start { run: r1() };
    assert_eq!(
        dues(&world),
        [start.clone(), start, Due::Watch { run: r1() }]
    );

    let lost = [
        Due::Lost { run: r1() },
        Due::Lost { run: r1() },
        Due::Watch { run: r1() },
    ];
    let mut owner = world.play("r1", &[]);
    assert_eq!(dues(&world), lost);
    world.feed(&mut owner, &[started("r1")]);
    assert_eq!(dues(&world), lost);

    let expires = r#"{"id":"i","reason":"ask","expiresAt":"1970-01-01T00:01:00Z"}"#;
    let never = r#"{"id":"j","reason":"ask","expiresAt":"soon"}"#;
    let later = r#"{"id":"k","reason":"ask","expiresAt":"1970-01-01T00:02:00Z"}"#;
    world.feed(&mut owner, &[asks("r1", &[later, expires, never])]);
    for (now, look_again) in [
        (0, Some(60_000)),
        (59_999, Some(60_000)),
        (60_000, Some(120_000)),
        (120_000, None),
    ] {
        world.now = Millis(now);
        let nothing = Due::Nothing {
            look_again: look_again.map(Millis),
        };
        assert_eq!(
            dues(&world),
            [nothing.clone(), nothing.clone(), nothing],
            "{now}"
        );
    }
}
