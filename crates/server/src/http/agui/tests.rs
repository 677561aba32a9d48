//! Callers who go away before they are answered, on a log store that makes them wait.

use super::*;
use crate::config::{AgentPolicy, Config};
use crate::failing_engine::{FailingEngine, Failure};
use crate::upstream::agents::Agents;
use axum::body::Body;
use std::sync::Arc;
use std::time::Duration;
use threadcast_hub::hub::{Hub, HubConfig};
use threadcast_thread_log::lease::NodeId;
use threadcast_thread_log::run_status::RunStatus;
use threadcast_wire::limits::Limits;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

struct Scene {
    engine: Arc<FailingEngine>,
    app: App,
    /// The agent: it takes connections and says nothing.
    _silent: TcpListener,
}

impl Scene {
    /// With an agent `a` whose runs end with their callers.
    async fn new() -> Self {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", silent.local_addr().unwrap());
        let agent = crate::config::AgentConfig {
            url: url.parse().unwrap(),
            policy: AgentPolicy {
                on_caller_gone: OnCallerGone::Cancel,
                cancel_grace: Duration::ZERO,
                ..AgentPolicy::default()
            },
        };
        let config = Config {
            agents: [("a".to_owned(), agent)].into(),
            ..Config::default()
        };
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let agents = Arc::new(Agents::new(&config, tasks.clone(), stop.clone()));
        let engine = Arc::new(FailingEngine::default());
        let hub = Hub::new(HubConfig {
            engine: engine.clone(),
            agents: agents.clone(),
            node: NodeId("n1".into()),
            limits: Limits::default(),
        });
        let app = App {
            hub,
            agents,
            imports: Arc::new(Semaphore::new(1)),
            sessions: Arc::new(Semaphore::new(1)),
            tasks,
            stop,
            body_bytes_max: 1 << 20,
        };
        Self {
            engine,
            app,
            _silent: silent,
        }
    }

    fn post(&self) -> impl Future<Output = Result<Response, HttpError>> {
        let input = json!({ "threadId": "t", "runId": "r", "messages": [] });
        let request = Request::new(Body::from(input.to_string()));
        let uri = Uri::from_static("/agents/a/run");
        run(State(self.app.clone()), Path("a".to_owned()), uri, request)
    }

    /// Waits until the run has come to this status.
    async fn is(&self, status: RunStatus) {
        let live = self
            .app
            .hub
            .live(&ThreadId::new("t").unwrap())
            .await
            .unwrap();
        let run = RunId::new("r").unwrap();
        let mut head = live.head_changed();
        let found = async {
            while live.with_fold(|fold| fold.registry().status(&run)) != status {
                head.changed().await.unwrap();
            }
        };
        timeout(Duration::from_secs(20), found)
            .await
            .expect("it comes to that");
    }

    async fn status(&self) -> RunStatus {
        let live = self
            .app
            .hub
            .live(&ThreadId::new("t").unwrap())
            .await
            .unwrap();
        live.with_fold(|fold| fold.registry().status(&RunId::new("r").unwrap()))
    }
}

#[tokio::test]
async fn a_caller_who_leaves_before_the_answer_cancels_the_run_all_the_same() {
    let scene = Scene::new().await;
    scene.engine.fail(Failure::Held);
    let mut call = Box::pin(scene.post());
    for _ in 0..100 {
        assert!(
            futures::poll!(&mut call).is_pending(),
            "the log store waits"
        );
        tokio::task::yield_now().await;
    }
    drop(call);
    scene.engine.fail(Failure::None);
    scene.is(RunStatus::Cancelled).await;
}

#[tokio::test]
async fn who_repeats_a_submission_does_not_cancel_the_run_by_leaving() {
    let scene = Scene::new().await;
    let first = scene.post().await.unwrap();
    drop(scene.post().await.unwrap());
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_ne!(scene.status().await, RunStatus::Cancelled);
    let cancelled = scene
        .app
        .hub
        .live(&ThreadId::new("t").unwrap())
        .await
        .unwrap();
    let run = RunId::new("r").unwrap();
    let is_asked = cancelled.with_fold(|fold| fold.registry().run(&run).unwrap().cancel.is_some());
    assert!(!is_asked, "nobody asked to cancel it");
    drop(first);
    scene.is(RunStatus::Cancelled).await;
}
