//! A hub under test, a log to write to, and viewers that check what they are sent.

pub(crate) mod agents;
pub(crate) mod engine;
pub(crate) mod log;
pub(crate) mod viewer;

use std::sync::Arc;
use std::time::Duration;

use threadcast_hub::hub::{Hub, HubConfig, Peer};
use threadcast_thread_log::lease::NodeId;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::limits::Limits;
use tokio::io::duplex;

use agents::ScriptedAgents;
use engine::TestEngine;
use viewer::Viewer;

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

    pub(crate) fn with(engine: TestEngine, limits: Limits) -> Self {
        let agents = Arc::new(ScriptedAgents::default());
        let hub = Hub::new(HubConfig {
            engine: Arc::new(engine.clone()),
            agents: agents.clone(),
            node: NodeId("node-1".into()),
            limits,
        });
        Self {
            engine,
            agents,
            hub,
        }
    }

    /// A viewer whose socket buffers `capacity` bytes each way.
    pub(crate) async fn connect_buffering(&self, capacity: usize) -> Viewer {
        let (here, there) = duplex(capacity);
        let hub = self.hub.clone();
        let peer = Peer {
            principal: person("ann"),
            early_bytes: Vec::new(),
        };
        tokio::spawn(async move { hub.serve(there, peer).await });
        Viewer::of(here).await
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
