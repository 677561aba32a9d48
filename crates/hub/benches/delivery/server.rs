//! A hub on a runtime of its own, whose one worker thread is named `threadcast`.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use socket2::SockRef;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_hub::hub::{Agents, Hub, HubConfig, Peer, Start};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_thread_log::engine::{Append, Durability, Guard, Outcome};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::lease::{LeaseChange, NodeId};
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::position::Position;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::limits::Limits;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// The name of the hub's worker thread.
pub(crate) const THREAD_NAME: &str = "threadcast";

#[derive(Debug)]
struct NoAgents;

impl Agents for NoAgents {
    fn knows(&self, _: &AgentName) -> bool {
        false
    }

    fn start(&self, _: &Hub, _: Start) {}

    fn end_lost(&self, _: &Hub, _: Start) {}
}

/// A hub that serves every connection to `address` as a WebSocket after its handshake.
pub(crate) struct Server {
    pub(crate) runtime: Runtime,
    pub(crate) hub: Hub,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name(THREAD_NAME)
            .enable_all()
            .build()
            .unwrap();
        let hub = Hub::new(HubConfig {
            engine: Arc::new(MemoryEngine::new()),
            agents: Arc::new(NoAgents),
            node: NodeId("bench".into()),
            limits: Limits::default(),
        });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(accept(hub.clone(), listener));
        Self {
            runtime,
            hub,
            address,
        }
    }
}

async fn accept(hub: Hub, listener: TcpListener) {
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        socket.set_nodelay(true).unwrap();
        SockRef::from(&socket)
            .set_tcp_notsent_lowat(16 << 10)
            .unwrap();
        let hub = hub.clone();
        let peer = Peer {
            principal: Principal::anonymous(),
            early_bytes: Vec::new(),
        };
        tokio::spawn(async move { hub.serve(socket, peer).await });
    }
}

/// An append of so many text deltas, each a frame of about 190 bytes.
pub(crate) fn deltas(thread: &ThreadId, count: usize) -> Append {
    let event = json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "msg_0123456789abcdef", "delta": "some words, " });
    let record = Arc::new(Record {
        at: Millis(1_700_000_000_000),
        run: None,
        origin: Origin::Agent,
        body: Body::Event {
            json: RawJson::from_value(&event),
            from_chunk: false,
        },
    });
    Append {
        thread: thread.clone(),
        known: Position::default(),
        may_create: true,
        guard: Guard::default(),
        lease: LeaseChange::Keep,
        source: None,
        entries: vec![
            NewEntry {
                class: Class::NONE,
                record
            };
            count
        ],
        record: None,
        durability: Durability::Held,
    }
}

/// Appends as an owner does: through the live thread.
pub(crate) async fn publish(hub: &Hub, append: Append) {
    let live = hub.live(&append.thread).await.unwrap();
    let outcome = live.append(append).await.unwrap();
    assert!(
        matches!(outcome, Outcome::Appended(_)),
        "an append without guards was refused"
    );
}
