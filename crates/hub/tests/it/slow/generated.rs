//! Generated histories before sockets that block at random.

use std::time::Duration;

use serde_json::json;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::histories::{Random, diverged, history};
use threadcast_thread_log::entry::NewEntry;
use threadcast_wire::limits::Limits;
use tokio::time::sleep;

use crate::support::Rig;
use crate::support::engine::TestEngine;
use crate::support::log::{event_json, fact, thread};
use crate::support::viewer::{Replica, Viewer, held};

/// A history as it stands in a log: a delta that does not apply is followed by the fact that says so, and there are
/// others. Beside it what a viewer holds after each entry.
fn logged(seed: u64, random: &mut Random) -> (Vec<NewEntry>, Vec<String>) {
    let mut entries = Vec::new();
    let mut conversation = Conversation::new();
    let mut holds = vec![held(&conversation)];
    let happened = |what: &str| fact(&json!({ "type": what, "by": { "id": "hub" } }));
    for event in history(seed) {
        let told = diverged(&conversation, &event);
        conversation.apply(&event);
        entries.push(event_json(&event.json));
        holds.push(held(&conversation));
        if let Some(told) = told {
            entries.push(fact(&serde_json::from_str(told.as_str()).unwrap()));
            holds.push(held(&conversation));
        }
        if random.one_in(12) {
            entries.push(happened("test.happened"));
            holds.push(held(&conversation));
        }
    }
    (entries, holds)
}

/// Reads at random until `head`; after every frame the viewer holds what the log amounts to there.
async fn read_at_random(viewer: &mut Viewer, random: &mut Random, holds: &[String], head: u64) {
    while viewer
        .threads
        .get("t")
        .is_none_or(|it| it.position.seq.get() < head)
    {
        if random.one_in(5) {
            sleep(Duration::from_millis(random.below(900) as u64)).await;
        }
        viewer
            .next()
            .await
            .expect("nobody is closed for being slow");
        if let Some(replica) = viewer.threads.get("t") {
            let seq = usize::try_from(replica.position.seq.get()).unwrap();
            assert_eq!(
                replica.held(),
                holds[seq],
                "at {seq}: {:?}",
                replica.history
            );
        }
    }
}

/// Writes in bursts of random length, with random pauses.
async fn write_at_random(engine: TestEngine, entries: Vec<NewEntry>, mut random: Random) {
    let mut entries = entries.into_iter();
    loop {
        let some: Vec<_> = entries.by_ref().take(1 + random.below(40)).collect();
        if some.is_empty() {
            return;
        }
        engine.write("t", some).await;
        if random.one_in(2) {
            sleep(Duration::from_millis(random.below(400) as u64)).await;
        }
    }
}

async fn check(seed: u64) {
    let mut random = Random::new(seed);
    let (entries, holds) = logged(seed, &mut random);
    let head = entries.len() as u64;
    let rig = Rig::new();
    // Some of it is there before, and a viewer who held that comes back; some of it comes in another epoch.
    let before = random.below(entries.len() / 2 + 1);
    let (old, new) = entries.split_at(before);
    if !old.is_empty() {
        rig.engine.write("t", old.to_vec()).await;
    }
    let is_restarted = random.one_in(2);
    let rig = if is_restarted {
        Rig::with(
            TestEngine::of(rig.engine.memory().restarted()),
            Limits::default(),
        )
    } else {
        rig
    };
    let mut viewer = rig.connect_buffering(128 + random.below(4000)).await;
    viewer.welcome().await;
    if random.one_in(2) {
        viewer.subscribe("t").await;
    } else {
        let cut = random.below(before + 1);
        viewer.resume("t", holding(&rig, old, cut).await).await;
    }
    let writing = tokio::spawn(write_at_random(
        rig.engine.clone(),
        new.to_vec(),
        Random::new(seed + 1),
    ));
    read_at_random(&mut viewer, &mut random, &holds, head).await;
    writing.await.unwrap();
    rig.assert_whole(&viewer, "t").await;
    let epoch = rig.hub.live(&thread("t")).await.unwrap().head().epoch;
    assert_eq!(viewer.replica("t").position.epoch, epoch);
    let is_across = |(from, to): &&(u64, u64)| (*from..*to).contains(&(before as u64));
    let across = viewer.replica("t").ranges.iter().find(is_across);
    assert!(
        !is_restarted || across.is_none(),
        "{across:?} across an epoch's beginning at {before}"
    );
}

/// What a viewer holds that was there until `cut`.
async fn holding(rig: &Rig, old: &[NewEntry], cut: usize) -> Replica {
    let mut replica = Replica::default();
    for entry in &old[..cut] {
        replica.take_held(entry);
    }
    if cut > 0 {
        replica.position.epoch = rig
            .hub
            .live(&thread("t"))
            .await
            .unwrap()
            .epoch_at(replica.position.seq);
    }
    replica
}

/// Goal: a viewer holds the fold after every frame it is sent, however its socket behaves. Method: histories are written
/// in bursts while the viewer reads and pauses at random behind a buffer of random size; a failure prints its seed.
#[tokio::test(start_paused = true)]
async fn a_viewer_holds_the_fold_after_every_frame_wherever_its_socket_blocks() {
    let fresh = threadcast_hub::clock::now().0;
    for seed in (0..120).chain(fresh..fresh + 30) {
        println!("seed {seed}");
        check(seed).await;
    }
}
