//! The stream of a run as its owner reads it: being called, streaming, or closed.

use std::fmt;

use futures::future::BoxFuture;
use threadcast_run_registry::request::AgentRequest;

use super::call::{AgentStream, CallError, Connection};

/// Closing it closes the connection.
pub(crate) enum Source {
    Calling(BoxFuture<'static, Result<AgentStream, CallError>>),
    Streaming(AgentStream),
    Closed,
}

impl Source {
    /// Sends the request as soon as it is read from.
    pub(crate) fn call(connection: Connection, request: AgentRequest) -> Self {
        Self::Calling(Box::pin(async move { connection.send(&request).await }))
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }

    /// The data of the next event; `None` at the end. Closed by its end and by a failure.
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, CallError> {
        let next = self.read().await;
        if !matches!(next, Ok(Some(_))) {
            *self = Self::Closed;
        }
        next
    }

    async fn read(&mut self) -> Result<Option<String>, CallError> {
        if let Self::Calling(call) = self {
            *self = Self::Streaming(call.await?);
        }
        match self {
            Self::Streaming(stream) => stream.next().await,
            Self::Calling(_) | Self::Closed => Ok(None),
        }
    }

    /// The time in which it was not read does not count as silence.
    pub(crate) fn forgive_silence(&mut self) {
        if let Self::Streaming(AgentStream::Http(stream)) = self {
            stream.forgive_silence();
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Calling(_) => "Calling",
            Self::Streaming(_) => "Streaming",
            Self::Closed => "Closed",
        })
    }
}
