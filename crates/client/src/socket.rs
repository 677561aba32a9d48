//! One WebSocket to the hub: address, handshake, `welcome`, and the two halves.
//!
//! Knows no requests and no threads. Plain `ws://` only.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::stream::{SplitSink, SplitStream};
use futures::{Sink, SinkExt, StreamExt};
use threadcast_wire::SUBPROTOCOL;
use threadcast_wire::hub_frame::{HubFrame, Welcome};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::Error as WsError;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::http::{HeaderValue, Response, header};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use url::Url;

use crate::error::{Cause, Disconnect, Error};

/// Longest message of the hub: frames over 64 KiB come in parts, answers do not.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// How much of a refusal's body stands in the error.
const REFUSAL_CHARS_MAX: usize = 200;

/// How long a close frame may take on its way out.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Where a hub is.
#[derive(Clone, Debug)]
pub(crate) struct HubAddress {
    url: Url,
    host: String,
    port: u16,
}

impl HubAddress {
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let bad = |reason: &str| Cause::BadUrl {
            url: url.to_owned(),
            reason: reason.to_owned(),
        };
        let mut parsed = Url::parse(url).map_err(|error| bad(&error.to_string()))?;
        match parsed.scheme() {
            "ws" => {}
            "wss" => {
                return Err(Cause::Unsupported {
                    url: url.to_owned(),
                }
                .into());
            }
            _ => return Err(bad("its scheme is another").into()),
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(bad("it carries a user name or password").into());
        }
        parsed.set_fragment(None);
        let host = parsed
            .host_str()
            .ok_or_else(|| bad("it names no host"))?
            .trim_matches(['[', ']'])
            .to_owned();
        let port = parsed.port_or_known_default().unwrap_or(80);
        Ok(Self {
            url: parsed,
            host,
            port,
        })
    }

    fn request(&self) -> Result<Request, Error> {
        let unusable = |error: WsError| Cause::BadUrl {
            url: self.url.to_string(),
            reason: error.to_string(),
        };
        let mut request = self.url.as_str().into_client_request().map_err(unusable)?;
        request.headers_mut().insert(
            header::SEC_WEBSOCKET_PROTOCOL,
            HeaderValue::from_static(SUBPROTOCOL),
        );
        Ok(request)
    }
}

/// An open socket whose hub said `welcome`.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
}

/// Connects within `timeout`.
pub(crate) async fn connect(
    address: HubAddress,
    timeout: Duration,
) -> Result<(Socket, Welcome), Error> {
    let late = |_| Cause::Timeout {
        what: "connecting",
        after: timeout,
        last: None,
    };
    tokio::time::timeout(timeout, open(&address))
        .await
        .map_err(late)?
}

async fn open(address: &HubAddress) -> Result<(Socket, Welcome), Error> {
    let request = address.request()?;
    let unreachable = |source| Disconnect::Connect {
        address: format!("{}:{}", address.host, address.port),
        source,
    };
    let stream = TcpStream::connect((address.host.as_str(), address.port))
        .await
        .map_err(unreachable)?;
    // Frames are written whole; waiting for more would only delay a decision.
    stream
        .set_nodelay(true)
        .map_err(|source| Disconnect::Broken { source })?;
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(0)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let (socket, _response) = client_async_with_config(request, stream, Some(config))
        .await
        .map_err(failure)?;
    let (sink, stream) = socket.split();
    let mut reader = Reader(stream);
    let writer = Writer {
        sink,
        queue: VecDeque::new(),
        is_unflushed: false,
        stuck_since: None,
    };
    let first = loop {
        if let Received::Frame(first) = reader.receive().await? {
            break first;
        }
    };
    match HubFrame::read(&first) {
        Ok(HubFrame::Welcome(welcome)) => Ok((Socket { reader, writer }, welcome)),
        Ok(_) => Err(Cause::Protocol("its first frame is no `welcome`".to_owned()).into()),
        Err(error) => Err(Cause::Protocol(error.to_string()).into()),
    }
}

/// The half that reads.
#[derive(Debug)]
pub(crate) struct Reader(SplitStream<WebSocketStream<TcpStream>>);

/// What came.
#[derive(Debug)]
pub(crate) enum Received {
    Frame(Utf8Bytes),
    /// A ping or pong: the other side lives.
    SignOfLife,
}

impl Reader {
    /// Cancel safe: a message is taken when the future is ready.
    pub(crate) async fn receive(&mut self) -> Result<Received, Error> {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => Ok(Received::Frame(text)),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                Ok(Received::SignOfLife)
            }
            Some(Ok(Message::Binary(_))) => {
                Err(Cause::Protocol("it sent a binary message".to_owned()).into())
            }
            Some(Ok(Message::Close(frame))) => Err(closed(frame)),
            Some(Err(error)) => Err(failure(error)),
            None => Err(Disconnect::End.into()),
        }
    }
}

fn closed(frame: Option<CloseFrame>) -> Error {
    match frame {
        Some(frame) => Cause::Closed {
            code: frame.code.into(),
            reason: frame.reason.to_string(),
        }
        .into(),
        None => Disconnect::End.into(),
    }
}

/// The half that writes, with what waits for it.
///
/// Bounded by its user: the requests in flight and one `subscribe` for each of a few threads.
#[derive(Debug)]
pub(crate) struct Writer {
    sink: SplitSink<WebSocketStream<TcpStream>, Message>,
    queue: VecDeque<String>,
    is_unflushed: bool,
    /// Since when there is something to write that was not finished.
    stuck_since: Option<Instant>,
}

impl Writer {
    pub(crate) fn push(&mut self, frame: String) {
        self.queue.push_back(frame);
        self.stuck_since.get_or_insert_with(Instant::now);
    }

    pub(crate) fn has_work(&self) -> bool {
        !self.queue.is_empty() || self.is_unflushed
    }

    pub(crate) fn stuck_since(&self) -> Option<Instant> {
        self.stuck_since
    }

    /// Writes all that waits.
    ///
    /// Cancel safe: a frame leaves the queue when the socket has taken it.
    pub(crate) async fn write(&mut self) -> Result<(), Error> {
        poll_fn(|cx| self.poll_write(cx)).await.map_err(failure)?;
        self.stuck_since = None;
        Ok(())
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), WsError>> {
        while !self.queue.is_empty() {
            ready!(Pin::new(&mut self.sink).poll_ready(cx))?;
            let frame = self
                .queue
                .pop_front()
                .expect("the loop ends when nothing waits");
            self.is_unflushed = true;
            // Every frame taken is progress; what counts is how long the next one waits.
            self.stuck_since = Some(Instant::now());
            Pin::new(&mut self.sink).start_send(Message::text(frame))?;
        }
        ready!(Pin::new(&mut self.sink).poll_flush(cx))?;
        self.is_unflushed = false;
        Poll::Ready(Ok(()))
    }

    /// Says goodbye, if the socket takes it at once.
    pub(crate) async fn close(mut self) {
        let _the_connection_is_given_up_either_way =
            tokio::time::timeout(CLOSE_TIMEOUT, self.sink.close()).await;
    }
}

fn failure(error: WsError) -> Error {
    match error {
        WsError::Http(response) => refusal(&response),
        WsError::Io(source) => Disconnect::Broken { source }.into(),
        WsError::ConnectionClosed | WsError::AlreadyClosed => Disconnect::End.into(),
        // A connection that breaks without a close frame is told as a violation of the WebSocket
        // protocol.
        WsError::Protocol(error) => Disconnect::Broken {
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        }
        .into(),
        other => Cause::Protocol(other.to_string()).into(),
    }
}

fn refusal(response: &Response<Option<Vec<u8>>>) -> Error {
    let body = response.body().as_deref().unwrap_or_default();
    let body = String::from_utf8_lossy(body)
        .trim()
        .chars()
        .take(REFUSAL_CHARS_MAX)
        .collect();
    let seconds = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    Cause::Handshake {
        status: response.status().as_u16(),
        body,
        retry_after: seconds.map(Duration::from_secs),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Result<(&str, u16), &str>) {
        let parsed = HubAddress::parse(url);
        let found = parsed
            .as_ref()
            .map(|address| (address.host.as_str(), address.port))
            .map_err(Error::code);
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn only_plain_websocket_addresses_are_taken() {
        check("ws://127.0.0.1:7878/ws", Ok(("127.0.0.1", 7878)));
        check("ws://hub/ws", Ok(("hub", 80)));
        check("ws://[::1]:9/ws", Ok(("::1", 9)));
        check("wss://hub/ws", Err("unsupported"));
        check("http://hub/ws", Err("bad_url"));
        check("ws://me:secret@hub/ws", Err("bad_url"));
        check("hub", Err("bad_url"));
    }
}
