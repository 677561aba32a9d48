//! A hub under test, a log to write to, and viewers that check what they are sent.

pub(crate) mod agents;
pub(crate) mod engine;
pub(crate) mod line;
pub(crate) mod log;
pub(crate) mod viewer;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use threadcast_hub::hub::{Hub, HubConfig, Peer};
use threadcast_hub::recent::RecentBounds;
use threadcast_thread_log::lease::NodeId;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::limits::Limits;
use tokio::io::duplex;

use agents::ScriptedAgents;
use engine::TestEngine;
use line::Line;
use viewer::{Viewer, held_by_hub};

/// No test waits longer for something that should happen at once.
pub(crate) const SOON: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) engine: TestEngine,
    pub(crate) agents: Arc<ScriptedAgents>,
    pub(crate) hub: Hub,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(TestEngine::new(), Limits::default())
    }

    /// Threads leave its memory when nobody uses them.
    pub(crate) fn with(engine: TestEngine, limits: Limits) -> Self {
        let none = RecentBounds {
            threads: 0,
            ..RecentBounds::default()
        };
        Self::node("node-1", engine, limits, none)
    }

    /// One of several nodes.
    pub(crate) fn node(
        name: &str,
        engine: TestEngine,
        limits: Limits,
        recent: RecentBounds,
    ) -> Self {
        let agents = Arc::new(ScriptedAgents::default());
        let config = HubConfig {
            engine: Arc::new(engine.clone()),
            agents: agents.clone(),
            node: NodeId(name.into()),
            limits,
        };
        let hub = Hub::with_recent(config, recent);
        Self {
            engine,
            agents,
            hub,
        }
    }

    /// A viewer whose socket buffers `capacity` bytes each way.
    pub(crate) async fn connect_buffering(&self, capacity: usize) -> Viewer {
        self.connect_counting(capacity).await.0
    }

    /// The same, and how often the hub wrote to it.
    pub(crate) async fn connect_counting(&self, capacity: usize) -> (Viewer, Arc<AtomicUsize>) {
        let (here, there) = duplex(capacity);
        let there = Line::new(there);
        let writes = there.writes();
        let hub = self.hub.clone();
        let peer = Peer {
            principal: person("ann"),
            early_bytes: Vec::new(),
        };
        tokio::spawn(async move { hub.serve(there, peer).await });
        (Viewer::of(Line::new(here)).await, writes)
    }

    /// A viewer that has read its `welcome`.
    pub(crate) async fn connect(&self) -> Viewer {
        let mut viewer = self.connect_buffering(64 << 10).await;
        viewer.welcome().await;
        viewer
    }

    /// A viewer with a subscription to `thread`, everything up to now read.
    pub(crate) async fn watch(&self, thread: &str) -> Viewer {
        let mut viewer = self.connect().await;
        viewer.subscribe(thread).await;
        viewer.catch_up(thread).await;
        viewer
    }

    /// Fails unless what the viewer holds and was told is what the log and its fold say.
    pub(crate) async fn assert_whole(&self, viewer: &Viewer, id: &str) {
        let replica = viewer.replica(id);
        replica.assert_tells(&self.engine.told(id).await);
        assert_eq!(replica.held(), held_by_hub(&self.hub, id).await);
    }

    /// Fails unless the viewer holds what the fold does.
    pub(crate) async fn assert_held(&self, viewer: &Viewer, id: &str) {
        assert_eq!(viewer.replica(id).held(), held_by_hub(&self.hub, id).await);
    }

    /// Waits until the hub says so of its sessions.
    pub(crate) async fn until(&self, mut is_so: impl FnMut(&Hub) -> bool) {
        let waited = async {
            while !is_so(&self.hub) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(SOON, waited)
            .await
            .expect("it does not come to pass");
    }
}

pub(crate) fn person(id: &str) -> Principal {
    Principal {
        id: id.into(),
        name: None,
    }
}
