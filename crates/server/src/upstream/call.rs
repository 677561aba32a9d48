//! One call of an agent, whichever kind: connect, send, read the stream.
//!
//! A call is made once. After [`Connection::send`] began, a byte may have been read by the agent,
//! so nothing here is ever tried again (docs/protocol.md §8.4); only [`CallError::Unsent`] and
//! [`CallError::Request`] say that none was.

use std::io;
use std::time::Duration;

use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::request::AgentRequest;

use super::http_agent::{HttpAgent, HttpConnection, HttpStream};
use super::sse::SseError;
use crate::config::DemoSpeed;
use crate::demo::DemoStream;

/// Where the events of a run come from.
#[derive(Debug)]
pub(crate) enum AgentSource {
    Demo(DemoSpeed),
    Http(Box<HttpAgent>),
}

/// A connected agent that has not been sent anything.
#[derive(Debug)]
pub(crate) enum Connection {
    Demo(DemoSpeed),
    Http(HttpConnection),
}

/// The stream of a run.
#[derive(Debug)]
pub(crate) enum AgentStream {
    Demo(DemoStream),
    Http(Box<HttpStream>),
}

/// Why an agent cannot be reached; nothing was sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("no connection within {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Handshake(hyper::Error),
}

/// Why there is no stream, or no more of it, although the agent was called.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the request cannot be sent: {0}")]
    Request(Box<str>),
    /// No byte of the request was written.
    #[error("the connection was closed before the request was sent: {0}")]
    Unsent(#[source] hyper::Error),
    #[error("the agent answered with status {status}")]
    Refused { status: u16, body: Box<str> },
    #[error("the agent was silent for too long while waiting for {0}")]
    Timeout(&'static str),
    #[error("the connection broke: {0}")]
    Broken(#[source] hyper::Error),
    #[error(transparent)]
    Sse(#[from] SseError),
}

impl AgentSource {
    pub(crate) async fn connect(&self) -> Result<Connection, ConnectError> {
        match self {
            Self::Demo(speed) => Ok(Connection::Demo(*speed)),
            Self::Http(agent) => agent.connect().await.map(Connection::Http),
        }
    }
}

impl Connection {
    /// Sends the request and waits for the stream to begin.
    ///
    /// # Errors
    /// See [`CallError`]; the agent may have acted in most cases.
    pub(crate) async fn send(self, request: &AgentRequest) -> Result<AgentStream, CallError> {
        match self {
            Self::Demo(speed) => match DemoStream::start(&request.body, speed) {
                Ok(stream) => Ok(AgentStream::Demo(stream)),
                Err(error) => Err(CallError::Request(error.to_string().into())),
            },
            Self::Http(connection) => {
                Ok(AgentStream::Http(Box::new(connection.send(request).await?)))
            }
        }
    }
}

impl AgentStream {
    /// The data of the next event; `None` after the last.
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, CallError> {
        match self {
            Self::Demo(stream) => Ok(stream.next().await),
            Self::Http(stream) => stream.next().await,
        }
    }
}

impl ConnectError {
    pub(crate) fn ending(&self) -> Ending {
        Ending::Unreached {
            reason: self.to_string().into(),
        }
    }
}

impl CallError {
    /// What the run ends with.
    pub(crate) fn ending(self) -> Ending {
        match self {
            Self::Refused { status, body } => Ending::Refused { status, body },
            Self::Timeout(waited_for) => Ending::Timeout {
                waited_for: waited_for.into(),
            },
            Self::Request(_) | Self::Unsent(_) => Ending::Unreached {
                reason: self.to_string().into(),
            },
            Self::Broken(_) => Ending::Truncated {
                reason: self.to_string().into(),
            },
            Self::Sse(SseError::TooLarge { .. }) => Ending::TooLarge {
                what: self.to_string().into(),
            },
            Self::Sse(SseError::NoText { .. }) => Ending::Violation {
                reason: self.to_string().into(),
            },
        }
    }
}
