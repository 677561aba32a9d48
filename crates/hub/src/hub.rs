//! The hub of one node: the registry of its live threads and sessions, and what both need.
//!
//! A handle; cheap to clone. Every session is a future that its caller runs, every command and every live thread has one
//! task of the hub's, which ends with the command, or with the last handle on the thread; nothing else runs on its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::{LeaseToken, NodeId};
use threadcast_thread_log::principal::Principal;
use threadcast_wire::answer::ThreadAnswer;
use threadcast_wire::limits::Limits;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::baseline::BaselineBounds;
use crate::live_thread::LiveThread;
use crate::owned::Owned;
use crate::recent::RecentBounds;
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

    /// Ends a run as lost whose owner is gone after it was dispatched, and whose lease this node holds by now. Must not
    /// wait: it spawns.
    fn end_lost(&self, hub: &Hub, start: Start);
}

/// A run and what its owner needs.
#[derive(Clone, Debug)]
pub struct Start {
    /// Keeps the thread in memory for as long as the owner holds it.
    pub live: LiveThread,
    pub run: RunId,
    pub lease: LeaseToken,
    /// Keeps this node's sweeper away for as long as the owner holds it.
    pub owned: Owned,
}

impl Start {
    pub fn new(live: LiveThread, run: RunId, lease: LeaseToken) -> Self {
        let owned = live.own();
        Self {
            live,
            run,
            lease,
            owned,
        }
    }
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
    commands: TaskTracker,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // They hold the threads, which hold this.
        self.threads.recent().clear();
    }
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
        Self::with_recent(config, RecentBounds::default())
    }

    /// The same, with bounds of its own for threads that nobody uses.
    pub fn with_recent(config: HubConfig, recent: RecentBounds) -> Self {
        let HubConfig {
            engine,
            agents,
            node,
            limits,
        } = config;
        let bounds = BaselineBounds {
            part_over: limits.part_over_bytes,
            bytes_max: limits.baseline_bytes,
        };
        let threads = Arc::new(Threads::new(engine, bounds, recent));
        Self(Arc::new(Inner {
            agents,
            node,
            limits,
            threads,
            sessions: Sessions::default(),
            commands: TaskTracker::new(),
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

    pub(crate) fn commands(&self) -> &TaskTracker {
        &self.0.commands
    }

    pub(crate) fn threads(&self) -> &Arc<Threads> {
        &self.0.threads
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

    /// What a thread's status is, and where its log stands then: of one moment. Without a log its `seq` is 0.
    ///
    /// # Errors
    /// The engine failed.
    pub async fn thread_answer(&self, thread: &ThreadId) -> Result<ThreadAnswer, EngineError> {
        Ok(self.live(thread).await?.with_fold(view::thread_answer))
    }

    /// Counters of the sessions that are served now.
    pub fn session_stats(&self) -> Vec<SessionStats> {
        self.0.sessions.stats()
    }

    /// How many threads are in memory.
    pub fn live_thread_count(&self) -> usize {
        self.0.threads.count()
    }

    /// How many tasks of the hub's own run now: a command each, a live thread each, a fold that is being kept each.
    pub fn task_count(&self) -> usize {
        let threads = &self.0.threads;
        self.0.commands.len() + threads.followers().len() + threads.savers().len()
    }

    /// Tells every viewer that this node goes away, closes their sockets (1001), and waits until they are closed and
    /// the commands under way are carried out, at most `deadline`; gives how many sessions and commands are left.
    pub async fn drain(&self, deadline: Duration) -> usize {
        let Inner {
            sessions, commands, ..
        } = &*self.0;
        sessions.drain();
        // A tracker that is closed still takes tasks: it only can be waited for.
        commands.close();
        let ended = async {
            sessions.closed().await;
            commands.wait().await;
        };
        // A deadline that passes is the answer: what is left is counted.
        let _ = timeout(deadline, ended).await;
        sessions.count() + commands.len()
    }

    /// Lets go of the threads that nobody uses, and waits until the folds of those that are gone are kept, at most
    /// `deadline`; gives how many are not. To be called when no run is owned any more: it saves the next start time.
    pub async fn settle(&self, deadline: Duration) -> usize {
        let threads = &self.0.threads;
        threads.recent().clear();
        threads.savers().close();
        // What is not kept costs time, nothing else.
        let _ = timeout(deadline, threads.savers().wait()).await;
        threads.savers().len()
    }
}
