//! The hub of one node: the registry of its live threads and sessions, and what both need.
//!
//! A handle; cheap to clone. Every session is a future that its caller runs, every live thread has one follower task
//! that ends with the last handle on it; nothing else runs on its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::{LeaseToken, NodeId};
use threadcast_thread_log::principal::Principal;
use threadcast_wire::limits::Limits;
use threadcast_wire::view::{RunView, ThreadView};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::live_thread::LiveThread;
use crate::session;
use crate::sessions::{SessionStats, Sessions};
use crate::threads::Threads;
use crate::view;

/// Who runs accepted runs: the server.
pub trait Agents: Send + Sync + fmt::Debug + 'static {
    /// Whether an agent of this name is configured.
    fn knows(&self, agent: &AgentName) -> bool;

    /// Starts a run that is durably accepted and whose lease this node holds. Must not wait: it spawns.
    fn start(&self, hub: &Hub, start: Start);
}

/// A run to start.
#[derive(Clone, Debug)]
pub struct Start {
    /// Keeps the thread in memory for as long as the owner holds it.
    pub live: LiveThread,
    pub run: RunId,
    pub lease: LeaseToken,
}

/// What a hub is made of.
#[derive(Debug)]
pub struct HubConfig {
    pub engine: Arc<dyn Engine>,
    pub agents: Arc<dyn Agents>,
    pub node: NodeId,
    pub limits: Limits,
}

/// Who is at the other end of a socket.
#[derive(Clone, Debug)]
pub struct Peer {
    pub principal: Principal,
    /// What was read behind the handshake already; usually nothing.
    pub early_bytes: Vec<u8>,
}

/// A node's hub.
#[derive(Clone)]
pub struct Hub(Arc<Inner>);

struct Inner {
    agents: Arc<dyn Agents>,
    node: NodeId,
    limits: Limits,
    threads: Arc<Threads>,
    sessions: Sessions,
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub")
            .field("node", &self.0.node)
            .field("sessions", &self.0.sessions.count())
            .finish_non_exhaustive()
    }
}

impl Hub {
    pub fn new(config: HubConfig) -> Self {
        let HubConfig {
            engine,
            agents,
            node,
            limits,
        } = config;
        let threads = Arc::new(Threads::new(engine, limits.part_over_bytes));
        Self(Arc::new(Inner {
            agents,
            node,
            limits,
            threads,
            sessions: Sessions::default(),
        }))
    }

    pub fn node(&self) -> &NodeId {
        &self.0.node
    }

    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub fn engine(&self) -> &Arc<dyn Engine> {
        self.0.threads.engine()
    }

    pub(crate) fn agents(&self) -> &dyn Agents {
        &*self.0.agents
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.0.sessions
    }

    /// Serves one socket after its handshake (subprotocol `threadcast.v1`, server role) until it ends.
    ///
    /// The caller spawns it; dropping the future drops the socket. Requests that were taken run on to their end.
    pub async fn serve<S>(&self, socket: S, peer: Peer)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        session::serve(self.clone(), socket, peer).await;
    }

    /// The thread's handle, read from the log if it is not in memory.
    ///
    /// # Errors
    /// The engine failed, or keeps only a part of the log.
    pub async fn live(&self, thread: &ThreadId) -> Result<LiveThread, EngineError> {
        self.0.threads.live(thread).await
    }

    /// The hub's own view of a thread, without its state.
    ///
    /// # Errors
    /// The engine failed.
    pub async fn view(&self, thread: &ThreadId) -> Result<ThreadView, EngineError> {
        Ok(self.live(thread).await?.with_fold(view::thread_view))
    }

    /// The hub's own view of a run; `None` when the thread has no record of it.
    ///
    /// # Errors
    /// The engine failed.
    pub async fn run_view(
        &self,
        thread: &ThreadId,
        run: &RunId,
    ) -> Result<Option<RunView>, EngineError> {
        Ok(self
            .live(thread)
            .await?
            .with_fold(|fold| view::run_view(fold, run)))
    }

    /// Counters of the sessions that are served now.
    pub fn session_stats(&self) -> Vec<SessionStats> {
        self.0.sessions.stats()
    }

    /// How many threads are in memory.
    pub fn live_thread_count(&self) -> usize {
        self.0.threads.count()
    }

    /// Tells every viewer that this node goes away, closes their sockets (1001) and waits until they are closed, at
    /// most `deadline`; gives the number of sessions that were not.
    pub async fn drain(&self, deadline: Duration) -> usize {
        self.0.sessions.drain(deadline).await
    }
}
