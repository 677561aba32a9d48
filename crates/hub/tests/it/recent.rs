//! Threads that nobody uses leave memory, soon and in order.

use std::time::Duration;

use threadcast_hub::recent::RecentBounds;
use threadcast_wire::limits::Limits;
use tokio::time::sleep;

use super::support::Rig;
use super::support::engine::TestEngine;
use super::support::log::{long_delta, run, thread};

fn rig(recent: RecentBounds) -> Rig {
    Rig::node("n1", TestEngine::new(), Limits::default(), recent)
}

#[tokio::test(start_paused = true)]
async fn memory_follows_the_threads_that_are_used() {
    let rig = rig(RecentBounds::default());
    let mut used = Vec::new();
    for at in 0..10_000 {
        let id = format!("t{at}");
        rig.engine.write(&id, run(&id, 1, 1)).await;
        let live = rig.hub.live(&thread(&id)).await.unwrap();
        if at % 1000 == 0 {
            used.push(live);
        }
        assert!(rig.hub.live_thread_count() <= 256 + used.len());
    }
    assert!(rig.hub.live_thread_count() >= 256);
    sleep(Duration::from_secs(31)).await;
    assert_eq!(rig.hub.live_thread_count(), used.len());
    rig.until(|hub| hub.task_count() == used.len()).await;
    used.clear();
    assert_eq!(rig.hub.live_thread_count(), 0);
    // And they come back.
    let live = rig.hub.live(&thread("t7")).await.unwrap();
    assert_eq!(live.head().seq.get(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_thread_that_is_asked_for_again_and_again_is_read_once() {
    let rig = rig(RecentBounds::default());
    rig.engine.write("t", run("t", 1, 1)).await;
    for _ in 0..100 {
        drop(rig.hub.live(&thread("t")).await.unwrap());
        sleep(Duration::from_secs(20)).await;
    }
    assert_eq!(rig.engine.reads(), 1);
    sleep(Duration::from_secs(31)).await;
    assert_eq!(rig.hub.live_thread_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn large_threads_leave_sooner() {
    let rig = rig(RecentBounds {
        bytes: 1 << 20,
        ..RecentBounds::default()
    });
    for at in 0..20 {
        let id = format!("t{at}");
        let mut entries = run(&id, 1, 1);
        entries.insert(2, long_delta("m1", 300 << 10));
        rig.engine.write(&id, entries).await;
        rig.hub.live(&thread(&id)).await.unwrap();
        assert!(rig.hub.live_thread_count() <= 4);
    }
    assert!(rig.hub.live_thread_count() >= 2);
}

#[tokio::test(start_paused = true)]
async fn a_hub_that_is_dropped_leaves_nothing_behind() {
    let rig = rig(RecentBounds::default());
    rig.engine.write("t", run("t", 1, 1)).await;
    rig.hub.live(&thread("t")).await.unwrap();
    let Rig {
        engine,
        hub,
        agents,
    } = rig;
    assert_eq!(engine.copies(), 2);
    drop((hub, agents));
    assert_eq!(engine.copies(), 1);
}
