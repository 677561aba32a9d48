//! Many threads on one slow socket.

use std::sync::atomic::Ordering;

use serde_json::json;
use threadcast_thread_log::entry::NewEntry;
use tokio::time::sleep;

use super::{ROUND, tokens};
use crate::support::Rig;
use crate::support::log::{event, run};
use crate::support::viewer::Viewer;

/// Each with a message that waits for its tokens, 3 entries, and subscribed.
async fn subscribed(rig: &Rig, viewer: &mut Viewer, count: usize) -> Vec<String> {
    let ids: Vec<String> = (0..count).map(|at| format!("t{at}")).collect();
    for id in &ids {
        let mut entries = run(id, 1, 0);
        entries.truncate(3);
        rig.engine.write(id, entries).await;
        viewer.subscribe(id).await;
        viewer.catch_up(id).await;
    }
    ids
}

/// More than a socket of 64 KiB takes.
fn much() -> Vec<NewEntry> {
    let custom = json!({ "type": "CUSTOM", "name": "much", "value": "x".repeat(400) });
    vec![event(&custom); 250]
}

/// The session is slow from here on, and its socket takes all of a round.
async fn slow(rig: &Rig, viewer: &mut Viewer, id: &str) {
    let head = rig.engine.write(id, much()).await.get();
    rig.until(|hub| hub.session_stats()[0].is_blocked).await;
    viewer.read_to(id, head).await;
}

/// Goal: what many threads of a slow session are behind costs a few writes a round, not one each. Method: two tokens for
/// each of them, a few times; the hub's writes are counted.
#[tokio::test(start_paused = true)]
async fn a_round_of_many_threads_shares_its_writes() {
    let rig = Rig::new();
    let (mut viewer, writes) = rig.connect_counting(64 << 10).await;
    viewer.welcome().await;
    let ids = subscribed(&rig, &mut viewer, 300).await;
    slow(&rig, &mut viewer, &ids[0]).await;
    let before = writes.load(Ordering::SeqCst);
    for _ in 0..4 {
        for id in &ids {
            rig.engine.write(id, tokens(2)).await;
        }
        for id in &ids {
            let head = rig.engine.told(id).await.len() as u64;
            viewer.read_to(id, head).await;
        }
    }
    let writes = writes.load(Ordering::SeqCst) - before;
    assert!(writes <= 60, "{writes} writes for 4 rounds of 60 KB");
    for id in &ids {
        rig.assert_whole(&viewer, id).await;
    }
    let ranges: usize = ids.iter().map(|id| viewer.replica(id).ranges.len()).sum();
    assert!(ranges > ids.len(), "{ranges} ranges");
}

/// Goal: who waits for a read of the engine gets it when its turn comes, and reads once. Method: the first of many reads
/// takes its time while all threads go on.
#[tokio::test(start_paused = true)]
async fn many_threads_read_one_after_the_other_and_once_each() {
    let rig = Rig::new();
    let mut viewer = rig.connect_buffering(64 << 10).await;
    viewer.welcome().await;
    let ids = subscribed(&rig, &mut viewer, 100).await;
    slow(&rig, &mut viewer, &ids[0]).await;
    let reads = rig.engine.reads();
    rig.engine.hold_one_read();
    for id in &ids {
        rig.engine.write(id, tokens(2)).await;
    }
    // Its round begins, and the first read of it.
    sleep(ROUND * 2).await;
    assert_eq!(rig.engine.reads(), reads + 1);
    for id in &ids {
        rig.engine.write(id, tokens(2)).await;
    }
    // Whatever else is asked is answered meanwhile.
    viewer.ask(json!({ "op": "ping" })).await;
    rig.engine.let_reads_go();
    for id in &ids {
        let head = rig.engine.told(id).await.len() as u64;
        viewer.read_to(id, head).await;
        rig.assert_whole(&viewer, id).await;
    }
    let reads = rig.engine.reads() - reads;
    assert!(reads <= 2 * ids.len() + 10, "{reads} reads");
}
