//! What becomes of the runs of nodes that are gone, in paused time.

use std::time::Duration;

use serde_json::{Value, json};
use threadcast_hub::hub::Hub;
use threadcast_hub::recent::RecentBounds;
use threadcast_run_registry::registry::RunRecord;
use threadcast_thread_log::engine::{Append, Engine, Guard, Outcome, RefusedReason};
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::lease::{Lease, LeaseChange, LeaseToken, NodeId};
use threadcast_thread_log::position::Position;
use threadcast_thread_log::run_status::RunStatus;
use threadcast_thread_log::work::{BUCKETS, bucket_of};
use threadcast_wire::limits::Limits;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::sync::DropGuard;

use super::decisions::run_command;
use super::support::engine::TestEngine;
use super::support::log::{append, fact, thread};
use super::support::{Rig, person};

/// A node on the same log store whose sweeper runs, with doors of its own.
struct Node {
    rig: Rig,
    _stop: DropGuard,
}

impl Node {
    fn beside(rig: &Rig, name: &str) -> Self {
        let engine = TestEngine::of(rig.engine.memory().clone());
        let rig = Rig::node(name, engine, Limits::default(), RecentBounds::default());
        let stop = CancellationToken::new();
        sweep(&rig.hub, &stop);
        Self {
            rig,
            _stop: stop.drop_guard(),
        }
    }

    fn starts(&self) -> usize {
        self.rig.agents.started().len() + self.rig.agents.lost().len()
    }
}

fn sweep(hub: &Hub, stop: &CancellationToken) {
    let (hub, stop) = (hub.clone(), stop.clone());
    tokio::spawn(async move { hub.sweep(stop).await });
}

async fn accept(rig: &Rig, agent: &str, run: &str) {
    rig.hub
        .command(thread("t"), &person("ann"), run_command(agent, "t", run))
        .await
        .unwrap();
}

/// A node whose program ended right after it had accepted a run.
async fn dead_node() -> Rig {
    let rig = Rig::new();
    rig.agents.die();
    accept(&rig, "echo", "r1").await;
    rig
}

async fn lease(engine: &TestEngine) -> Option<Lease> {
    engine.memory().head(&thread("t")).await.unwrap().lease
}

/// Appends as whoever holds the lease now.
async fn write_as_owner(engine: &TestEngine, change: LeaseChange, facts: &[Value]) {
    let held = lease(engine).await.unwrap();
    let append = Append {
        guard: Guard {
            lease: Some(held.token),
            ..Guard::default()
        },
        lease: change,
        ..append("t", Position::default(), facts.iter().map(fact).collect())
    };
    let outcome = engine.memory().append(append).await.unwrap();
    assert!(matches!(outcome, Outcome::Appended(_)), "{outcome:?}");
}

async fn dispatch(engine: &TestEngine) {
    let dispatched = json!({ "type": "run.dispatched", "by": { "id": "hub" }, "runId": "r1" });
    write_as_owner(engine, LeaseChange::Keep, &[dispatched]).await;
}

async fn record(hub: &Hub) -> RunRecord {
    let live = hub.live(&thread("t")).await.unwrap();
    live.catch_up().await.unwrap();
    live.with_fold(|fold| fold.registry().runs()[0].clone())
}

async fn listed(engine: &TestEngine) -> usize {
    let mut count = 0;
    for bucket in 0..BUCKETS {
        let due = engine.memory().work(bucket, Millis(u64::MAX), usize::MAX);
        count += due.await.unwrap().len();
    }
    count
}

async fn events(engine: &TestEngine, kind: &str) -> usize {
    let told = engine.told("t").await;
    let kind = format!("\"type\":\"{kind}\"");
    told.iter().filter(|(_, json)| json.contains(&kind)).count()
}

/// Lets time pass until it is so, and says how long that took.
async fn until(mut is_so: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_secs(600),
            "it does not come to pass"
        );
        sleep(Duration::from_millis(100)).await;
    }
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_not_dispatched_is_started_by_exactly_one_other_node() {
    let dead = dead_node().await;
    let nodes = [Node::beside(&dead, "n2"), Node::beside(&dead, "n3")];
    let starts = || nodes.iter().map(Node::starts).sum::<usize>();
    let took = until(|| starts() > 0).await;
    assert!(took >= Duration::from_secs(15), "{took:?}");
    sleep(Duration::from_secs(120)).await;
    assert_eq!(starts(), 1);
    assert_eq!(record(&nodes[0].rig.hub).await.status, RunStatus::Success);
    assert_eq!(events(&dead.engine, "RUN_STARTED").await, 1);
    assert_eq!(lease(&dead.engine).await, None);
    assert_eq!(listed(&dead.engine).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_dispatched_is_ended_as_lost_once() {
    let dead = dead_node().await;
    dispatch(&dead.engine).await;
    let nodes = [Node::beside(&dead, "n2"), Node::beside(&dead, "n3")];
    let mut viewer = nodes[0].rig.watch("t").await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(nodes.iter().map(Node::starts).sum::<usize>(), 1);
    viewer.read_to("t", 4).await;
    let record = record(&nodes[1].rig.hub).await;
    assert_eq!((record.status, record.in_doubt), (RunStatus::Error, true));
    let failure = record.failure.unwrap();
    assert_eq!(failure.code.as_deref(), Some("AGENT_LOST"));
    assert_eq!(events(&dead.engine, "RUN_ERROR").await, 1);
    assert_eq!(lease(&dead.engine).await, None);
    assert_eq!(listed(&dead.engine).await, 0);
    // The thread is free again.
    accept(&nodes[1].rig, "echo", "r2").await;
}

#[tokio::test(start_paused = true)]
async fn a_free_lease_with_an_active_run_is_taken_at_once() {
    let dead = dead_node().await;
    // As a store frees all leases when it is opened.
    write_as_owner(&dead.engine, LeaseChange::Free, &[]).await;
    let node = Node::beside(&dead, "n2");
    let took = until(|| node.starts() == 1).await;
    assert!(took <= Duration::from_secs(1), "{took:?}");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(record(&node.rig.hub).await.status, RunStatus::Success);
}

#[tokio::test(start_paused = true)]
async fn a_living_quiet_owner_is_never_robbed() {
    let living = Rig::new();
    accept(&living, "quiet", "r1").await;
    let before = lease(&living.engine).await.unwrap();
    let node = Node::beside(&living, "n2");
    sleep(Duration::from_secs(3600)).await;
    let after = lease(&living.engine).await.unwrap();
    assert_eq!(after.token, before.token);
    assert!(after.beat >= before.beat + 700, "{after:?}");
    assert_eq!(node.starts(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_pauses_for_too_long_is_fenced() {
    let paused = Rig::new();
    accept(&paused, "quiet", "r1").await;
    let node = Node::beside(&paused, "n2");
    sleep(Duration::from_secs(60)).await;
    paused.agents.pause(true);
    until(|| node.starts() == 1).await;
    assert_eq!(paused.agents.refused(), None);
    paused.agents.pause(false);
    sleep(Duration::from_secs(6)).await;
    assert_eq!(paused.agents.refused(), Some(RefusedReason::Fenced));
}

#[tokio::test(start_paused = true)]
async fn a_nodes_own_runs_cost_it_no_reading() {
    let rig = Rig::new();
    accept(&rig, "quiet", "r1").await;
    let heads = rig.engine.heads();
    let stop = CancellationToken::new();
    sweep(&rig.hub, &stop);
    sleep(Duration::from_secs(600)).await;
    assert_eq!(rig.engine.heads(), heads);
    assert_eq!(rig.agents.started(), ["r1"]);
    let beats = rig.engine.memory().beats().await.unwrap();
    assert_eq!(beats[0].0, *rig.hub.node());
    assert!(beats[0].1 >= 120, "{beats:?}");
    // Nobody else may hold the hub up.
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_gets_lost_takes_no_run_twice() {
    for lost in 1..4 {
        let dead = dead_node().await;
        dispatch(&dead.engine).await;
        let node = Node::beside(&dead, "n2");
        node.rig.engine.lose_answers(lost);
        let took = until(|| node.starts() > 0).await;
        assert!(took <= Duration::from_secs(17), "{took:?}, {lost} lost");
        sleep(Duration::from_secs(120)).await;
        assert_eq!(node.starts(), 1, "{lost} lost");
        assert_eq!(events(&dead.engine, "RUN_ERROR").await, 1, "{lost} lost");
        assert_eq!(lease(&dead.engine).await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_be_read_takes_no_lease_from_anybody() {
    let dead = dead_node().await;
    let node = Node::beside(&dead, "n2");
    // One reading in ten fails.
    for _ in 0..12 {
        sleep(Duration::from_secs(10)).await;
        node.rig.engine.fail_heads(1);
    }
    assert_eq!(node.starts(), 0);
    until(|| node.starts() == 1).await;
}

/// A thread that cannot be folded is tried again, but not all the time, and keeps nobody else waiting.
#[tokio::test(start_paused = true)]
async fn a_thread_that_cannot_be_read_is_tried_again_later() {
    let dead = dead_node().await;
    write_as_owner(&dead.engine, LeaseChange::Free, &[]).await;
    let node = Node::beside(&dead, "n2");
    node.rig.engine.corrupt_reads(usize::MAX);
    sleep(Duration::from_secs(60)).await;
    let reads = node.rig.engine.reads();
    assert!((4..10).contains(&reads), "{reads}");
    assert_eq!(node.starts(), 0);
    node.rig.engine.corrupt_reads(0);
    until(|| node.starts() == 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_goes_away_takes_nothing_over() {
    let dead = dead_node().await;
    write_as_owner(&dead.engine, LeaseChange::Free, &[]).await;
    let node = Rig::with(dead.engine.clone(), Limits::default());
    assert_eq!(node.hub.drain(Duration::ZERO).await, 0);
    let stop = CancellationToken::new();
    sweep(&node.hub, &stop);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(node.agents.started(), [""; 0]);
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn work_that_is_none_is_cleared_but_not_at_once() {
    let rig = Rig::new();
    // More than a page of one bucket.
    let of_bucket = (0..).map(|at| thread(&format!("t{at}")));
    let threads: Vec<_> = of_bucket
        .filter(|thread| bucket_of(thread) == 5)
        .take(600)
        .collect();
    for (thread, due) in threads.iter().zip(1..) {
        rig.engine
            .memory()
            .set_work(thread, Millis(due))
            .await
            .unwrap();
    }
    let _node = Node::beside(&rig, "n2");
    sleep(Duration::from_secs(14)).await;
    assert_eq!(listed(&rig.engine).await, 600);
    sleep(Duration::from_secs(3)).await;
    assert_eq!(listed(&rig.engine).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_lease_without_a_run_is_freed() {
    let rig = Rig::new();
    let take = Append {
        lease: LeaseChange::Take {
            token: LeaseToken("gone".into()),
            node: NodeId("n0".into()),
        },
        ..append("t", Position::default(), Vec::new())
    };
    rig.engine.memory().append(take).await.unwrap();
    rig.engine
        .memory()
        .set_work(&thread("t"), Millis(1))
        .await
        .unwrap();
    let node = Node::beside(&rig, "n2");
    sleep(Duration::from_secs(40)).await;
    assert_eq!(lease(&rig.engine).await, None);
    assert_eq!(listed(&rig.engine).await, 0);
    accept(&node.rig, "echo", "r1").await;
}

#[tokio::test(start_paused = true)]
async fn a_run_is_found_after_a_restart() {
    let dead = dead_node().await;
    let restarted = Rig::with(dead.engine.restarted().await, Limits::default());
    let node = Node::beside(&restarted, "n2");
    until(|| node.starts() == 1).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(record(&node.rig.hub).await.status, RunStatus::Success);
}
