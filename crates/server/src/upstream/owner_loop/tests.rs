//! The demo agent's run on a log store that fails, in paused time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::json::RawJson;
use threadcast_agui::run_input::RunInput;
use threadcast_hub::hub::{Hub, HubConfig, Start};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{CancelCommand, Command, RunCommand};
use threadcast_run_registry::fact::RunAccepted;
use threadcast_run_registry::owner::{self, Owner, OwnerStart};
use threadcast_thread_log::engine::{Append, Durability, Engine, Guard, ReadLimit};
use threadcast_thread_log::entry::Body;
use threadcast_thread_log::lease::{LeaseChange, LeaseToken, NodeId, SeizedSource};
use threadcast_thread_log::position::{Position, Seq};
use threadcast_thread_log::principal::Principal;
use threadcast_wire::limits::Limits;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{BEAT_EVERY, OwnedRun, Reading};
use crate::config::{AgentPolicy, Config, DemoConfig};
use crate::failing_engine::{FailingEngine, Failure};
use crate::upstream::agents::Agents;
use crate::upstream::source::Source;

mod left_behind;

struct Scene {
    engine: Arc<FailingEngine>,
    hub: Hub,
    thread: ThreadId,
    runs: TaskTracker,
    /// Ends everything as the end of the program does.
    stop: CancellationToken,
}

impl Scene {
    fn new(speed: &str) -> Self {
        let demo = DemoConfig {
            enabled: true,
            speed: speed.parse().unwrap(),
        };
        Self::node("n1", FailingEngine::default(), demo)
    }

    /// One of several nodes.
    fn node(name: &str, engine: FailingEngine, demo: DemoConfig) -> Self {
        let engine = Arc::new(engine);
        let config = Config {
            demo,
            ..Config::default()
        };
        let (runs, stop) = (TaskTracker::new(), CancellationToken::new());
        let agents = Arc::new(Agents::new(&config, runs.clone(), stop.clone()));
        let node = NodeId(name.into());
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
            stop,
        }
    }

    /// Lets the demo agent run; the command itself meets no failure.
    async fn start(&self) {
        self.start_run("r").await;
    }

    async fn start_run(&self, run: &str) {
        let message = json!({ "id": "u1", "role": "user", "content": "Refund order 1042" });
        let input = json!({ "threadId": "t", "runId": run, "messages": [message] }).to_string();
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

/// Whether the run ended with `code`, for everybody, and another one may start.
async fn ends(scene: &Scene, code: &str, in_doubt: bool) {
    scene.settle().await;
    let events = scene.events().await;
    assert_eq!(events[0]["type"], "RUN_STARTED", "{events:?}");
    assert_eq!(events.last().unwrap()["code"], code, "{events:?}");
    let live = scene.hub.live(&scene.thread).await.unwrap();
    let record = live.with_fold(|fold| fold.registry().run(&RunId::new("r").unwrap()).cloned());
    assert_eq!(record.unwrap().in_doubt, in_doubt);
    scene.start_run("r2").await;
    scene.settle().await;
    assert_eq!(scene.last_event().await["outcome"]["type"], "interrupt");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_before_the_call_costs_the_run_and_leaves_no_doubt() {
    let scene = Scene::new("1");
    scene.engine.fail(Failure::AwayAfter { appends: 1 });
    scene.start().await;
    sleep(Duration::from_secs(300)).await;
    scene.engine.fail(Failure::None);
    ends(&scene, "AGENT_UNREACHED", false).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_be_prepared_ends_and_frees_its_thread() {
    let scene = Scene::new("1");
    scene.hub.live(&scene.thread).await.unwrap();
    scene.engine.fail(Failure::Unreadable);
    scene.start().await;
    scene.settle().await;
    scene.engine.fail(Failure::None);
    ends(&scene, "AGENT_UNREACHED", false).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_owner_panics_ends_and_frees_its_thread() {
    // Before the agent is called, before it is heard, and in the middle.
    for (after, code, in_doubt) in [
        (1, "AGENT_UNREACHED", false),
        (2, "AGENT_LOST", true),
        (6, "AGENT_LOST", false),
    ] {
        let scene = Scene::new("1");
        scene.engine.fail(Failure::Panics { after });
        scene.start().await;
        ends(&scene, code, in_doubt).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_of_an_agent_that_is_gone_ends_and_frees_its_thread() {
    let scene = Scene::new("1");
    scene.engine.fail(Failure::Away);
    let live = scene.hub.live(&scene.thread).await.unwrap();
    scene.engine.fail(Failure::AwayAfter { appends: 1 });
    scene.start().await;
    let lease = scene.engine.log().head(&scene.thread).await.unwrap().lease;
    let (run, lease) = (RunId::new("r").unwrap(), lease.unwrap().token);
    let start = Start::new(live, run, lease);
    scene.engine.fail(Failure::None);
    super::refuse(scene.hub.clone(), start, CancellationToken::new()).await;
    ends(&scene, "AGENT_UNREACHED", false).await;
}

#[tokio::test(start_paused = true)]
async fn the_grace_of_a_cancelled_run_does_not_close_a_stream_whose_end_is_on_its_way() {
    let scene = Scene::new("1");
    scene.start().await;
    scene.settle().await;
    let live = scene.hub.live(&scene.thread).await.unwrap();
    let run = RunId::new("r").unwrap();
    let messages = RawJson::parse("[]").unwrap();
    let lease = LeaseToken("any".into());
    let owner = Owner::new(OwnerStart {
        thread: scene.thread.clone(),
        accepted: RunAccepted {
            by: Principal::anonymous(),
            run_id: run.clone(),
            agent: AgentName::new("demo").unwrap(),
            messages,
            resume: None,
        },
        lease: lease.clone(),
        policy: owner::AgentPolicy::default(),
    });
    let start = Start::new(live, run, lease);
    let mut owned = OwnedRun::new(AgentPolicy::default(), start, owner);
    let open = || Source::Calling(Box::pin(std::future::pending()));
    owned.grace_ends = Some(Instant::now());
    for (reading, closes) in [(Reading::UntilEnded, false), (Reading::Held, true)] {
        (owned.source, owned.reading) = (open(), reading);
        assert_eq!(owned.deadline() == Instant::now(), closes);
        owned.pass_deadline(true);
        assert_eq!(owned.source.is_closed(), closes, "{reading:?}");
    }
}
