//! A server that is told to stop.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use threadcast_server::config::{AgentConfig, Config};
use threadcast_server::serve::{RunError, Server};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::agent::{Act, ScriptedAgent, sse, started};
use crate::support::http::{get, input, post};
use crate::support::server::{config, quick};
use crate::support::socket::connect;
use crate::support::soon;

/// A server that stops when the sender is dropped.
async fn stoppable(
    config: Config,
) -> (
    SocketAddr,
    oneshot::Sender<()>,
    JoinHandle<Result<(), RunError>>,
) {
    let server = Server::bind(config).await.unwrap();
    let address = server.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async move { drop(stopped.await) }));
    (address, stop, serving)
}

#[tokio::test]
async fn viewers_are_told_and_their_sockets_closed() {
    let (address, stop, serving) = stoppable(config()).await;
    let (mut socket, _) = connect(address, "").await.unwrap();
    socket.frame("welcome").await;
    drop(stop);
    socket.frame("draining").await;
    assert_eq!(socket.close_code().await, Some(1001));
    soon(serving).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn event_streams_are_cut_and_do_not_look_finished() {
    let agent =
        ScriptedAgent::start(|request| vec![Act::Send(sse(&[started(&request.body)])), Act::Hang])
            .await;
    let a = AgentConfig {
        url: agent.url.parse().unwrap(),
        policy: quick(),
    };
    let (address, stop, serving) = stoppable(Config {
        agents: [("a".to_owned(), a)].into(),
        ..config()
    })
    .await;
    let mut caller = post(address, "/agents/a/run", &input("t", "r", "hi")).await;
    caller.event("RUN_STARTED").await;
    let mut reader = get(address, "/threads/t/events").await;
    reader.event("RUN_STARTED").await;
    drop(stop);
    assert!(caller.was_cut().await, "the run has no end");
    assert!(reader.was_cut().await, "nor has its thread");
    soon(serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_time_for_draining_is_spent_once() {
    let drain = Duration::from_secs(2);
    let (address, stop, serving) = stoppable(Config { drain, ..config() }).await;
    let (mut socket, _) = connect(address, "").await.unwrap();
    socket.frame("welcome").await;
    let asked = Instant::now();
    drop(stop);
    // The closing handshake is not answered: nothing is read.
    soon(serving).await.unwrap().unwrap();
    assert!(asked.elapsed() < drain * 3 / 2, "{:?}", asked.elapsed());
    drop(socket);
}
