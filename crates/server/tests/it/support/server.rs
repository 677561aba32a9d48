//! A server on a free port; it ends with the test.

use std::net::SocketAddr;
use std::time::Duration;

use threadcast_hub::hub::Hub;
use threadcast_server::config::{
    AgentConfig, AgentPolicy, Config, DemoConfig, DemoSpeed, EngineKind,
};
use threadcast_server::serve::{RunError, Server};
use tokio_util::task::AbortOnDropHandle;

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) hub: Hub,
    _serving: AbortOnDropHandle<Result<(), RunError>>,
}

/// A configuration for tests: a free port, logs in memory, the demo agent without pauses.
pub(crate) fn config() -> Config {
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        engine: EngineKind::Memory,
        demo: DemoConfig {
            enabled: true,
            speed: DemoSpeed::INSTANT,
        },
        ..Config::default()
    }
}

/// A policy with short waits for what tests wait for.
pub(crate) fn quick() -> AgentPolicy {
    AgentPolicy {
        late: Duration::from_millis(50),
        cancel_grace: Duration::from_millis(100),
        ..AgentPolicy::default()
    }
}

impl TestServer {
    pub(crate) async fn start(config: Config) -> Self {
        let server = Server::bind(config).await.unwrap();
        let (address, hub) = (server.address(), server.hub().clone());
        let serving = tokio::spawn(server.run(std::future::pending()));
        Self {
            address,
            hub,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    /// With one agent `a` at `url`.
    pub(crate) async fn with_agent(url: &str, policy: AgentPolicy) -> Self {
        let agent = AgentConfig {
            url: url.parse().unwrap(),
            policy,
        };
        Self::start(Config {
            agents: [("a".to_owned(), agent)].into(),
            ..config()
        })
        .await
    }
}
