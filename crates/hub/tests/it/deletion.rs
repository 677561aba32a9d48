//! Threads that are deleted, and what may stand against it.

use futures::FutureExt;
use threadcast_hub::deletion::DeleteError;
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::run_status::RunStatus;

use super::decisions::run_command;
use super::support::log::thread;
use super::support::{Rig, person};

async fn command(rig: &Rig, agent: &str, run: &str) -> bool {
    let command = run_command(agent, "t", run);
    let done = rig.hub.command(thread("t"), &person("ann"), command).await;
    done.is_ok()
}

async fn delete(rig: &Rig) -> Result<Seq, DeleteError> {
    rig.hub.delete(&thread("t"), b"by ann".to_vec()).await
}

#[tokio::test]
async fn a_thread_at_rest_is_deleted_and_begins_anew() {
    let rig = Rig::new();
    assert!(matches!(
        delete(&rig).await,
        Err(DeleteError::NoThread { .. })
    ));
    assert!(command(&rig, "echo", "r1").await);
    let live = rig.hub.live(&thread("t")).await.unwrap();
    rig.until(|_| live.head().seq.get() == 3).await;
    assert_eq!(delete(&rig).await.unwrap().get(), 3);
    let head = rig.engine.memory().head(&thread("t")).await.unwrap();
    assert_eq!((head.seq, head.lease), (Seq::ZERO, None));
    assert_eq!(head.record.as_deref(), Some(&b"by ann"[..]));
    // The same run id is another run's now.
    assert!(command(&rig, "echo", "r1").await);
    rig.until(|_| live.head().seq.get() == 3).await;
}

#[tokio::test]
async fn a_thread_with_an_active_run_is_not_deleted() {
    let rig = Rig::new();
    assert!(command(&rig, "idle", "r1").await);
    match delete(&rig).await.unwrap_err() {
        DeleteError::Busy { run, .. } => assert_eq!(run.as_str(), "r1"),
        other => panic!("{other}"),
    }
    let status = rig.hub.thread_answer(&thread("t")).await.unwrap().status;
    assert_eq!(status, RunStatus::Accepted);
}

/// Goal: no run is accepted and then deleted with its thread. Method: somebody asks for one while
/// the deletion, which found none, is under way.
#[tokio::test]
async fn no_run_is_accepted_while_its_thread_is_deleted() {
    let rig = Rig::new();
    assert!(command(&rig, "echo", "r1").await);
    let live = rig.hub.live(&thread("t")).await.unwrap();
    rig.until(|_| live.head().seq.get() == 3).await;
    rig.engine.hold_deletions(true);
    let deleting = {
        let hub = rig.hub.clone();
        tokio::spawn(async move { hub.delete(&thread("t"), Vec::new()).await })
    };
    let is_reserved = || {
        let (memory, id) = (rig.engine.memory(), thread("t"));
        let head = memory.head(&id).now_or_never().unwrap();
        head.unwrap().lease.is_some()
    };
    rig.until(|_| is_reserved()).await;
    assert!(!command(&rig, "idle", "r2").await);
    rig.engine.hold_deletions(false);
    assert_eq!(deleting.await.unwrap().unwrap().get(), 3);
    assert!(command(&rig, "idle", "r2").await);
    assert_eq!(rig.engine.told("t").await.len(), 1);
}
