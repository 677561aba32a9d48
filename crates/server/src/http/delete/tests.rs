//! Deletions on a log store that does not do them, or does not tell where a thread stands.

use std::sync::Arc;

use axum::response::IntoResponse;
use http::StatusCode;
use threadcast_hub::hub::HubConfig;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::fork::fork;
use threadcast_thread_log::engine::{Engine, Outcome};
use threadcast_thread_log::lease::NodeId;
use threadcast_wire::limits::Limits;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::config::Config;
use crate::failing_engine::{FailingEngine, Failure};
use crate::upstream::agents::Agents;

/// A hub over this store.
fn app(engine: &Arc<FailingEngine>) -> App {
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let agents = Arc::new(Agents::new(&Config::default(), tasks.clone(), stop.clone()));
    let hub = Hub::new(HubConfig {
        engine: engine.clone(),
        agents: agents.clone(),
        node: NodeId("n1".into()),
        limits: Limits::default(),
    });
    App {
        hub,
        agents,
        imports: Arc::new(Semaphore::new(1)),
        sessions: Arc::new(Semaphore::new(1)),
        tasks,
        stop,
        body_bytes_max: 1 << 20,
    }
}

/// A store with a thread `t` at rest.
async fn with_thread() -> Arc<FailingEngine> {
    let engine = Arc::new(FailingEngine::default());
    let thread = ThreadId::new("t").unwrap();
    let fold = Fold::new(thread.clone());
    let by = Principal::anonymous();
    let append = fork(&fold, &thread, &by, Millis(1), fold.position()).unwrap();
    let outcome = engine.append(append).await.unwrap();
    assert!(matches!(outcome, Outcome::Appended(_)), "{outcome:?}");
    engine
}

async fn status(app: &App, thread: &str) -> StatusCode {
    let deleted = delete(State(app.clone()), Path(thread.to_owned())).await;
    deleted.into_response().status()
}

#[tokio::test]
async fn a_deletion_that_does_not_happen_is_told_and_the_thread_stays() {
    let engine = with_thread().await;
    let app = app(&engine);
    let thread = ThreadId::new("t").unwrap();
    let before = engine.log().head(&thread).await.unwrap();
    engine.fail(Failure::Undeletable);
    assert_eq!(status(&app, "t").await, StatusCode::SERVICE_UNAVAILABLE);
    engine.fail(Failure::None);
    let after = engine.log().head(&thread).await.unwrap();
    assert_eq!((after.seq, after.epochs), (before.seq, before.epochs));
    let live = app.hub.live(&thread).await.unwrap();
    assert!(
        live.with_fold(|fold| fold.head()) == before.seq,
        "it is shown as before"
    );
}

#[tokio::test]
async fn a_thread_that_cannot_be_looked_up_is_not_said_to_be_missing() {
    let engine = with_thread().await;
    let app = app(&engine);
    engine.fail(Failure::NoHeads);
    for thread in ["t", "never-was"] {
        let told = status(&app, thread).await;
        assert_eq!(told, StatusCode::SERVICE_UNAVAILABLE, "{thread}");
    }
    engine.fail(Failure::None);
    assert_eq!(status(&app, "never-was").await, StatusCode::NOT_FOUND);
    assert_eq!(status(&app, "t").await, StatusCode::OK);
    assert_eq!(status(&app, "t").await, StatusCode::NOT_FOUND);
}
