//! One socket, from `welcome` to its end.

use std::time::Duration;

use threadcast_agui::ids::ThreadId;
use threadcast_wire::client_frame::{ClientFrame, ClientOp};
use threadcast_wire::hub_frame::Welcome;
use tokio::time::Instant;

use super::timers::Link;
use super::{Connection, State, deliver};
use crate::error::{Disconnect, Error};
use crate::socket::Socket;

impl Connection {
    /// Serves one socket until it ends, and says why it did.
    pub(super) async fn serve(&mut self, mut socket: Socket, welcome: &Welcome) -> Error {
        tracing::debug!(
            node = welcome.node,
            connection = welcome.connection,
            "connected"
        );
        self.state.send_replace(State::Connected);
        let now = Instant::now();
        let heartbeat = Duration::from_millis(welcome.heartbeat_ms);
        let mut link = Link {
            since: now,
            heard: now,
            heartbeat,
            hello: self.requests.next_id(),
        };
        socket.writer.push(self.hello(&link));
        for frame in self.requests.repeat(welcome.limits.frame_bytes) {
            socket.writer.push(frame);
        }
        let error = loop {
            for thread in self.follows.unwanted() {
                socket.writer.push(unsubscribe(thread));
            }
            while let Some(frame) = self.follows.ask(Instant::now(), || self.requests.next_id()) {
                socket.writer.push(frame);
            }
            let timer = self.next_timer(&link, &socket);
            tokio::select! {
                biased;
                written = socket.writer.write(), if socket.writer.has_work() => {
                    if let Err(error) = written { break error; }
                }
                command = self.commands.recv(), if self.requests.has_room() => match command {
                    Some(command) => if let Some(frame) = self.take(command) { socket.writer.push(frame) },
                    None => break Disconnect::Unused.into(),
                },
                () = self.dropped.notified() => for thread in self.follows.forget_unread() {
                    socket.writer.push(unsubscribe(thread));
                },
                () = tokio::time::sleep_until(timer) => {
                    if let Err(error) = self.timer(&link, &socket) { break error; }
                }
                () = deliver(&mut self.parked), if self.parked.is_some() => self.unpark(&mut link),
                received = socket.reader.receive(), if self.parked.is_none() => {
                    if let Err(error) = received.and_then(|received| self.receive(received, &mut link)) { break error; }
                }
            }
        };
        if link.since.elapsed() >= self.options.backoff.cap {
            self.failures.reset();
        }
        socket.writer.close().await;
        error
    }

    fn hello(&self, link: &Link) -> String {
        let asked = self
            .options
            .heartbeat
            .map(|heartbeat| u64::try_from(heartbeat.as_millis()).unwrap_or(u64::MAX));
        let op = ClientOp::Hello {
            client: self.options.client.clone(),
            heartbeat_ms: asked,
        };
        ClientFrame {
            id: Some(link.hello.clone()),
            op,
        }
        .write()
    }
}

fn unsubscribe(thread: ThreadId) -> String {
    ClientFrame {
        id: None,
        op: ClientOp::Unsubscribe { thread },
    }
    .write()
}
