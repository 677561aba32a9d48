//! A server on a free port; it ends with the test.

use std::net::SocketAddr;
use std::time::Duration;

use threadcast_server::config::{AgentConfig, AgentPolicy, Config, DemoConfig, DemoSpeed};
use threadcast_server::serve::Server;
use tokio_util::task::AbortOnDropHandle;

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    _serving: AbortOnDropHandle<()>,
}

/// A configuration for tests: a free port, the demo agent without pauses.
pub(crate) fn config() -> Config {
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
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
        let address = server.address();
        let serving = tokio::spawn(server.run(std::future::pending()));
        Self {
            address,
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
