//! The server: a bound listener, its connections, and its end.
//!
//! Every task hangs on one tracker and one token. Each connection has a span; sockets are set up
//! for small frames and little unsent data (docs/protocol.md §1.3).

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::service::TowerToHyperService;
use threadcast_disk_log::{Failure, OpenError};
use threadcast_hub::hub::{Hub, HubConfig};
use threadcast_run_registry::retention::Retention;
use threadcast_thread_log::lease::NodeId;
use threadcast_wire::limits::Limits;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::config::{Config, ConfigError};
use crate::http::guard::AllowedHosts;
use crate::http::router::{App, ConnectionSeat, router};
use crate::random;
use crate::store::{CloseError, LogPlace, Store};
use crate::upstream::agents::Agents;

mod connection;

use connection::{Seated, serve, set_up};

/// How much of the time for draining sessions may take, in percent; the rest is for what ends after
/// them.
const SESSIONS_SHARE: u32 = 80;

/// Pause after a failed accept: the cause (no free descriptors) does not go away at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Longest wait for the logs to be closed: what is left is to sync them.
const CLOSE_WAIT: Duration = Duration::from_secs(30);

/// Imports under way at once; each may hold a line of 128 MiB, and what the thread amounts to.
const IMPORTS_MAX: usize = 4;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot listen on {listen}")]
    Listen {
        listen: SocketAddr,
        source: io::Error,
    },
    #[error(transparent)]
    Data(#[from] OpenError),
}

/// Why a server ended that nobody stopped.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What was not answered may be in the logs or not; a restart finds out.
    #[error("the log store failed, and the hub ended so that a restart finds what is kept")]
    Store(#[source] Arc<Failure>),
    /// What was answered is kept.
    #[error("the log store was not closed within {} s", .within.as_secs_f32())]
    StoreHangs { within: Duration },
}

impl From<CloseError> for RunError {
    fn from(error: CloseError) -> Self {
        match error {
            CloseError::Failed(failure) => Self::Store(failure),
            CloseError::Late { within } => Self::StoreHangs { within },
        }
    }
}

/// A server that listens and does not serve yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    hub: Hub,
    store: Store,
    /// Sessions, runs and connections.
    tasks: TaskTracker,
    stop: CancellationToken,
    connections: Arc<Semaphore>,
    drain: Duration,
    retention: Retention,
    agent_names: Vec<String>,
}

impl Server {
    /// Checks the configuration, binds its address and opens its logs.
    ///
    /// # Errors
    /// The configuration cannot be used, the address is taken, or the logs cannot be opened.
    pub async fn bind(config: Config) -> Result<Self, StartError> {
        config.check()?;
        let listen = config.listen;
        let failed = |source| StartError::Listen { listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let store = Store::open(&config).await?;
        Ok(Self::new(&config, listener, address, store))
    }

    fn new(config: &Config, listener: TcpListener, address: SocketAddr, store: Store) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let agents = Arc::new(Agents::new(config, tasks.clone(), stop.clone()));
        let agent_names = agents.names().map(ToString::to_string).collect();
        let limits = Limits {
            input_bytes: config.body_bytes_max,
            ..Limits::default()
        };
        let node = NodeId(random::hex(8).into());
        let hub = Hub::new(HubConfig {
            engine: Arc::clone(store.engine()),
            agents: agents.clone(),
            node,
            limits: limits.clone(),
        });
        let app = App {
            hub: hub.clone(),
            agents,
            sessions: Arc::new(Semaphore::new(config.sessions_max)),
            imports: Arc::new(Semaphore::new(IMPORTS_MAX)),
            tasks: tasks.clone(),
            stop: stop.clone(),
            body_bytes_max: config.body_bytes_max,
        };
        // Loopback is reached by pages of the web as well, whoever else is served.
        let serves_strangers = config.allow_anonymous && !config.listen.ip().is_loopback();
        let allowed = AllowedHosts::new(&config.allowed_hosts, serves_strangers);
        let connections = Arc::new(Semaphore::new(config.connections_max));
        let router = router(app, allowed);
        Self {
            listener,
            address,
            router,
            hub,
            store,
            tasks,
            stop,
            connections,
            drain: config.drain,
            retention: config.retention.into(),
            agent_names,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The names of its agents.
    pub fn agent_names(&self) -> &[String] {
        &self.agent_names
    }

    /// Where its logs are kept.
    pub fn log_place(&self) -> LogPlace {
        self.store.place()
    }

    /// The hub it serves.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Serves until `shutdown`, then ends everything in order.
    ///
    /// # Errors
    /// The log store failed, also while everything was ended, or could not be closed in time;
    /// everything was ended all the same.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), RunError> {
        tracing::info!(address = %self.address, node = %self.hub.node().0, "listening");
        let (hub, stop) = (self.hub.clone(), self.stop.child_token());
        let (sweeping, retention) = (hub.clone(), self.retention);
        let stop_sweeping = stop.clone();
        self.tasks
            .spawn(async move { sweeping.sweep(stop_sweeping).await });
        self.tasks
            .spawn(async move { hub.retain(retention, stop).await });
        let ended = tokio::select! {
            () = shutdown => Ok(()),
            failure = self.store.failed() => Err(RunError::Store(failure)),
            () = self.accept() => Ok(()),
        };
        let closed = self.shut_down().await;
        ended.and(closed)
    }

    /// Takes connections for ever.
    async fn accept(&self) {
        loop {
            let seat = self
                .connections
                .clone()
                .acquire_owned()
                .await
                .expect("the semaphore is never closed");
            match self.listener.accept().await {
                Ok((socket, peer)) => {
                    if let Err(error) = set_up(&socket, self.hub.limits()) {
                        tracing::debug!(%error, "socket options refused");
                    }
                    let service = Seated {
                        router: TowerToHyperService::new(self.router.clone()),
                        seat: ConnectionSeat::new(seat),
                    };
                    let span = tracing::info_span!("connection", %peer);
                    self.tasks
                        .spawn(serve(socket, service, self.stop.clone()).instrument(span));
                }
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Stops accepting, tells viewers, ends runs and streams, and says what did not end.
    async fn shut_down(self) -> Result<(), RunError> {
        let Self {
            listener,
            hub,
            store,
            tasks,
            stop,
            drain,
            ..
        } = self;
        drop(listener);
        tracing::info!("draining");
        let deadline = Instant::now() + drain;
        let sessions_left = hub.drain(drain * SESSIONS_SHARE / 100).await;
        stop.cancel();
        tasks.close();
        let tasks_ended = timeout_at(deadline, tasks.wait()).await;
        let folds_left = hub
            .settle(deadline.saturating_duration_since(Instant::now()))
            .await;
        let closed = store.close(CLOSE_WAIT).await;
        if tasks_ended.is_err() || sessions_left > 0 {
            let tasks_left = tasks.len();
            tracing::warn!(
                sessions_left,
                tasks_left,
                folds_left,
                "stopped with work left"
            );
        } else {
            tracing::info!(folds_left, "stopped");
        }
        Ok(closed?)
    }
}

#[cfg(test)]
mod tests;
