//! An agent that is there and not to be reached.

use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tokio::net::TcpListener;

use crate::recording::Recording;
use crate::replay::Replay;

/// A queue that takes nobody for so long is full.
const FULL_AFTER: Duration = Duration::from_millis(300);

/// An address where nobody takes connections yet, however long one waits: what knocks has not been
/// let in when the test goes on.
#[derive(Debug)]
pub struct ClosedDoor {
    listener: std::net::TcpListener,
    _waiting: Vec<std::net::TcpStream>,
}

impl ClosedDoor {
    /// # Panics
    /// No port is free, or the system lets everybody in.
    #[must_use]
    pub fn new() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(&any.into()).unwrap();
        socket.listen(0).unwrap();
        let listener: std::net::TcpListener = socket.into();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, FULL_AFTER) {
            waiting.push(stream);
            assert!(waiting.len() < 100, "the queue before the door has an end");
        }
        Self {
            listener,
            _waiting: waiting,
        }
    }

    /// Where an agent of that name will be.
    ///
    /// # Panics
    /// The listener has no address.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.listener.local_addr().unwrap())
    }

    /// Lets everybody in, to these recordings.
    ///
    /// # Panics
    /// The listener cannot be used.
    pub fn open(self, recordings: impl IntoIterator<Item = Recording>) -> Replay {
        self.listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(self.listener).unwrap();
        Replay::serve(listener, recordings)
    }
}

impl Default for ClosedDoor {
    fn default() -> Self {
        Self::new()
    }
}
