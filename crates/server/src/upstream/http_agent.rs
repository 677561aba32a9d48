//! An agent behind HTTP: one connection a run, a JSON request, server-sent events back
//! (docs/protocol.md §14.6).
//!
//! No pool, no redirects, no proxy from the environment, no compression, and no header of any
//! caller.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use threadcast_run_registry::event_bounds::EVENT_BYTES_MAX;
use threadcast_run_registry::request::AgentRequest;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;
use url::{Host, Url};

use super::call::{CallError, ConnectError};
use super::sse::{SseItem, SseReader};
use crate::config::AgentPolicy;

mod refusal;

use refusal::{excerpt, refusal_of};

/// Room for the field names of an event that is as long as it may be.
const EVENT_FRAMING_BYTES: usize = 64;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Where an agent is and how it is called.
#[derive(Debug)]
pub(crate) struct HttpAgent {
    url: Url,
    headers: HeaderMap,
    timeouts: Timeouts,
}

#[derive(Clone, Copy, Debug)]
struct Timeouts {
    connect: Duration,
    response_head: Duration,
    silence: Duration,
}

/// A fresh connection.
#[derive(Debug)]
pub(crate) struct HttpConnection {
    sender: SendRequest<Full<Bytes>>,
    driver: AbortOnDropHandle<()>,
    target: String,
    headers: HeaderMap,
    timeouts: Timeouts,
}

/// The response of an agent, read event by event. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct HttpStream {
    body: Incoming,
    reader: SseReader,
    ready: VecDeque<String>,
    /// What follows the ready ones: an end or a failure, told when they are read.
    end: Option<Result<(), CallError>>,
    silence: Duration,
    silent_since: Instant,
    _driver: AbortOnDropHandle<()>,
}

impl HttpAgent {
    /// From a configuration that was checked.
    pub(crate) fn new(url: Url, policy: &AgentPolicy) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let authority = url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
        headers.insert(
            HOST,
            HeaderValue::try_from(authority).expect("a URL's authority is ASCII"),
        );
        for (name, value) in &policy.headers {
            let name = HeaderName::try_from(name.as_str()).expect("the configuration was checked");
            let mut value =
                HeaderValue::try_from(value.reveal()).expect("the configuration was checked");
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let AgentPolicy {
            connect,
            response_head,
            silence,
            ..
        } = *policy;
        Self {
            url,
            headers,
            timeouts: Timeouts {
                connect,
                response_head,
                silence,
            },
        }
    }

    pub(crate) async fn connect(&self) -> Result<HttpConnection, ConnectError> {
        let limit = self.timeouts.connect;
        let stream = timeout(limit, self.dial())
            .await
            .map_err(|_| ConnectError::Timeout(limit))??;
        let (sender, connection) = handshake(TokioIo::new(stream))
            .await
            .map_err(ConnectError::Handshake)?;
        // Owned by whoever holds the connection, then by its stream: it ends with them.
        let driver = tokio::spawn(
            async {
                if let Err(error) = connection.await {
                    // The reader of the body is told the same, and ends the run with it.
                    tracing::debug!(%error, "agent connection ended");
                }
            }
            .in_current_span(),
        );
        Ok(HttpConnection {
            sender,
            driver: AbortOnDropHandle::new(driver),
            target: self.url[url::Position::BeforePath..url::Position::AfterQuery].to_owned(),
            headers: self.headers.clone(),
            timeouts: self.timeouts,
        })
    }

    async fn dial(&self) -> std::io::Result<TcpStream> {
        let port = self
            .url
            .port_or_known_default()
            .expect("http has a default port");
        let stream = match self.url.host().expect("the configuration was checked") {
            Host::Domain(name) => TcpStream::connect((name, port)).await,
            Host::Ipv4(ip) => TcpStream::connect((ip, port)).await,
            Host::Ipv6(ip) => TcpStream::connect((ip, port)).await,
        }?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl HttpConnection {
    pub(crate) async fn send(mut self, request: &AgentRequest) -> Result<HttpStream, CallError> {
        let unsendable = |error: http::Error| CallError::Request(error.to_string().into());
        let mut post = Request::post(self.target.as_str())
            .body(Full::new(Bytes::from(request.body.clone())))
            .map_err(unsendable)?;
        *post.headers_mut() = std::mem::take(&mut self.headers);
        let key = HeaderValue::try_from(request.idempotency_key.as_str())
            .map_err(|error| unsendable(error.into()))?;
        post.headers_mut().insert(IDEMPOTENCY_KEY, key);
        let response = timeout(
            self.timeouts.response_head,
            self.sender.try_send_request(post),
        )
        .await
        .map_err(|_| CallError::Timeout("the response head"))?
        .map_err(|mut error| {
            // The request comes back if the connection took nothing of it.
            let is_unsent = error.take_message().is_some();
            let error = error.into_error();
            if is_unsent {
                CallError::Unsent(error)
            } else {
                CallError::Broken(error)
            }
        })?;
        if let Some(refusal) = refusal_of(&response) {
            return Err(CallError::Refused {
                status: response.status().as_u16(),
                body: format!("{refusal}{}", excerpt(response.into_body()).await).into(),
            });
        }
        Ok(HttpStream {
            body: response.into_body(),
            reader: SseReader::new(EVENT_BYTES_MAX + EVENT_FRAMING_BYTES),
            ready: VecDeque::new(),
            end: None,
            silence: self.timeouts.silence,
            silent_since: Instant::now(),
            _driver: self.driver,
        })
    }
}

impl HttpStream {
    /// The data of the next event; what came whole before a failure comes before it. Cancel safe:
    /// what was read stays.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, CallError> {
        loop {
            if let Some(data) = self.ready.pop_front() {
                return Ok(Some(data));
            }
            if let Some(end) = self.end.take() {
                self.end = Some(Ok(()));
                return end.map(|()| None);
            }
            self.read_on().await;
        }
    }

    /// The time in which it was not read does not count as silence.
    pub(crate) fn forgive_silence(&mut self) {
        self.silent_since = Instant::now();
    }

    async fn read_on(&mut self) {
        let Ok(frame) = timeout_at(self.silent_since + self.silence, self.body.frame()).await
        else {
            self.end = Some(Err(CallError::Timeout("the next event")));
            return;
        };
        self.silent_since = Instant::now();
        match frame {
            Some(Ok(frame)) => {
                let pushed = frame
                    .data_ref()
                    .map_or(Ok(()), |bytes| self.reader.push(bytes));
                self.end = pushed.err().map(|error| Err(error.into()));
            }
            Some(Err(error)) => self.end = Some(Err(CallError::Broken(error))),
            None => self.end = Some(self.reader.end().map_err(CallError::from)),
        }
        while let Some(item) = self.reader.next_item() {
            match item {
                SseItem::Data(data) => self.ready.push_back(data),
                SseItem::Done => {
                    self.end = Some(Ok(()));
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
