//! The demo agent's run on a log store that fails, in paused time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::run_input::RunInput;
use threadcast_hub::hub::{Hub, HubConfig};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{CancelCommand, Command, RunCommand};
use threadcast_thread_log::engine::{Append, Durability, Engine, Guard, ReadLimit};
use threadcast_thread_log::entry::Body;
use threadcast_thread_log::lease::{LeaseChange, LeaseToken, NodeId, SeizedSource};
use threadcast_thread_log::position::{Position, Seq};
use threadcast_thread_log::principal::Principal;
use threadcast_wire::limits::Limits;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::BEAT_EVERY;
use crate::config::{Config, DemoConfig};
use crate::upstream::agents::Agents;

mod failing_engine;

use failing_engine::{FailingEngine, Failure};

struct Scene {
    engine: Arc<FailingEngine>,
    hub: Hub,
    thread: ThreadId,
    runs: TaskTracker,
}

impl Scene {
    fn new(speed: &str) -> Self {
        let engine = Arc::new(FailingEngine::default());
        let demo = DemoConfig {
            enabled: true,
            speed: speed.parse().unwrap(),
        };
        let config = Config {
            demo,
            ..Config::default()
        };
        let runs = TaskTracker::new();
        let agents = Arc::new(Agents::new(&config, runs.clone(), CancellationToken::new()));
        let node = NodeId("n1".into());
        let limits = Limits::default();
        let hub = Hub::new(HubConfig {
            engine: engine.clone(),
            agents,
            node,
            limits,
        });
        Self {
            engine,
            hub,
            thread: ThreadId::new("t").unwrap(),
            runs,
        }
    }

    /// Lets the demo agent run; the command itself meets no failure.
    async fn start(&self) {
        let message = json!({ "id": "u1", "role": "user", "content": "Refund order 1042" });
        let input = json!({ "threadId": "t", "runId": "r", "messages": [message] }).to_string();
        let input = RunInput::read(&input).unwrap();
        let agent = AgentName::new("demo").unwrap();
        self.command(Command::Run(RunCommand { agent, input }))
            .await;
    }

    async fn command(&self, command: Command) {
        self.hub
            .command(self.thread.clone(), &Principal::anonymous(), command)
            .await
            .unwrap();
    }

    /// Waits until nobody owns a run any more.
    async fn settle(&self) {
        self.runs.close();
        timeout(Duration::from_secs(3600), self.runs.wait())
            .await
            .expect("the run's owner ends");
    }

    /// All events in the log.
    async fn events(&self) -> Vec<Value> {
        let all = ReadLimit {
            entries: usize::MAX,
            bytes: usize::MAX,
        };
        let entries = self
            .engine
            .log()
            .read(&self.thread, Seq::ZERO, all)
            .await
            .unwrap();
        let events = entries.iter().filter_map(|entry| match &entry.record.body {
            Body::Event { json, .. } => Some(serde_json::from_str(json.as_str()).unwrap()),
            Body::Fact { .. } => None,
        });
        events.collect()
    }

    async fn last_event(&self) -> Value {
        self.events().await.pop().unwrap_or_default()
    }
}

/// The events of a run that meets no failure.
async fn undisturbed() -> Vec<Value> {
    let scene = Scene::new("1");
    scene.start().await;
    scene.settle().await;
    scene.events().await
}

#[tokio::test(start_paused = true)]
async fn answers_that_get_lost_write_nothing_twice() {
    for every in [1, 2, 3] {
        let scene = Scene::new("1");
        scene.start().await;
        scene.engine.fail(Failure::AnswerLost { every });
        scene.settle().await;
        assert_eq!(scene.events().await, undisturbed().await, "every {every}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_comes_back_in_time_costs_nothing() {
    let scene = Scene::new("1");
    scene.start().await;
    sleep(Duration::from_secs(1)).await;
    scene.engine.fail(Failure::Away);
    sleep(Duration::from_secs(50)).await;
    scene.engine.fail(Failure::None);
    scene.settle().await;
    assert_eq!(scene.events().await, undisturbed().await);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_too_long_ends_the_run_when_it_is_back() {
    let scene = Scene::new("1");
    scene.start().await;
    sleep(Duration::from_secs(1)).await;
    scene.engine.fail(Failure::Away);
    sleep(Duration::from_secs(300)).await;
    scene.engine.fail(Failure::None);
    scene.settle().await;
    let events = scene.events().await;
    assert_eq!(events.last().unwrap()["code"], "ENGINE_UNAVAILABLE");
    let undisturbed = undisturbed().await;
    assert_eq!(
        events[..events.len() - 1],
        undisturbed[..events.len() - 1],
        "nothing else is lost"
    );
    assert!(events.len() < undisturbed.len());
}

#[tokio::test(start_paused = true)]
async fn an_owner_without_its_lease_writes_nothing_more() {
    let scene = Scene::new("1");
    scene.start().await;
    sleep(Duration::from_secs(1)).await;
    let head = scene.engine.log().head(&scene.thread).await.unwrap();
    let lease = head.lease.unwrap();
    let seize = Append {
        thread: scene.thread.clone(),
        known: Position {
            epoch: head.epochs[0].0.clone(),
            seq: head.seq,
        },
        may_create: false,
        guard: Guard::default(),
        lease: LeaseChange::Seize {
            token: LeaseToken("other".into()),
            node: NodeId("n2".into()),
            seen_token: lease.token,
            seen_beat: lease.beat,
            source: SeizedSource::Restart,
        },
        source: None,
        entries: Vec::new(),
        record: None,
        durability: Durability::Durable,
    };
    scene.engine.log().append(seize).await.unwrap();
    let before = scene.events().await;
    scene.settle().await;
    assert_eq!(scene.events().await, before);
}

#[tokio::test(start_paused = true)]
async fn a_quiet_run_keeps_its_lease_alive() {
    let scene = Scene::new("0.01");
    scene.start().await;
    let beat = async || {
        scene
            .engine
            .log()
            .head(&scene.thread)
            .await
            .unwrap()
            .lease
            .unwrap()
            .beat
    };
    let before = beat().await;
    sleep(BEAT_EVERY * 3 - Duration::from_secs(1)).await;
    assert_eq!(
        scene.events().await,
        Vec::<Value>::new(),
        "nothing was said yet"
    );
    assert!(beat().await >= before + 2);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_ends_although_its_agent_goes_on() {
    let scene = Scene::new("0.1");
    scene.start().await;
    sleep(Duration::from_secs(10)).await;
    let run = RunId::new("r").unwrap();
    scene
        .command(Command::Cancel(CancelCommand { run, reason: None }))
        .await;
    scene.settle().await;
    assert_eq!(scene.last_event().await["code"], "abort");
}
