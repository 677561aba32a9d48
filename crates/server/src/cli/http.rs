//! Requests to a hub over plain HTTP, for what its socket does not serve.

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;
use url::{Position, Url};

use super::hub::HubArgs;

/// Longest error that is shown.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// A hub's answer, read while it comes. Dropping it closes the connection.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: Response<Incoming>,
    _driver: AbortOnDropHandle<()>,
}

/// Sends one request on a connection of its own; `path` stands below the hub's address.
///
/// # Errors
/// The hub cannot be reached, or refuses: with its code and message.
pub(super) async fn send<B>(
    hub: &HubArgs,
    method: Method,
    path: &str,
    body: B,
) -> anyhow::Result<Answer>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let base = hub.http_base()?;
    let sent = request(&base, method, path, body).await;
    let answer = sent.with_context(|| format!("hub {base}"))?;
    if answer.response.status().is_success() {
        return Ok(answer);
    }
    Err(refusal(answer).await)
}

async fn request<B>(base: &Url, method: Method, path: &str, body: B) -> anyhow::Result<Answer>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let host = base.host_str().context("the address names no host")?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = base.port_or_known_default().unwrap_or(80);
    let stream = TcpStream::connect((host, port)).await?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    let driver = AbortOnDropHandle::new(tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "connection ended");
        }
    }));
    let target = format!("{}{path}", base.path().trim_end_matches('/'));
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header(HOST, &base[Position::BeforeHost..Position::AfterPort])
        .header(CONTENT_TYPE, "application/x-ndjson")
        .body(body)?;
    let response = sender.send_request(request).await?;
    Ok(Answer {
        response,
        _driver: driver,
    })
}

/// Code, message and details, as they are shown for a socket.
async fn refusal(answer: Answer) -> anyhow::Error {
    let status = answer.response.status();
    let body = Limited::new(answer.response.into_body(), ERROR_BYTES_MAX);
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return anyhow::anyhow!("the hub answered {status}, and broke off: {error}"),
    };
    let Ok(error) = serde_json::from_slice::<serde_json::Value>(&body) else {
        return anyhow::anyhow!("the hub answered {status}");
    };
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let details = error.get("details").map(|details| format!(" {details}"));
    anyhow::anyhow!(
        "{}: {}{}",
        text("code"),
        text("message"),
        details.unwrap_or_default()
    )
}

/// A path with the thread's id in it, percent-encoded.
pub(super) fn thread_path(thread: &str, rest: &str) -> String {
    let mut path = "/threads/".to_owned();
    for byte in thread.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path + rest
}

/// Reads a whole answer.
///
/// # Errors
/// It breaks off.
pub(super) async fn whole(answer: Answer) -> anyhow::Result<Bytes> {
    let body = answer.response.into_body().collect().await;
    Ok(body.context("the answer broke off")?.to_bytes())
}

impl HubArgs {
    /// Where the hub's paths begin.
    ///
    /// # Errors
    /// The hub is reached by TLS, which is not served.
    fn http_base(&self) -> anyhow::Result<Url> {
        let mut base = self.url()?;
        if base.scheme() != "ws" {
            bail!("hub {base}: only ws and http are supported");
        }
        base.set_query(None);
        let path = base.path().strip_suffix("/ws").map(str::to_owned);
        base.set_path(&path.unwrap_or_default());
        let text = base.as_str().replacen("ws://", "http://", 1);
        Ok(Url::parse(&text)?)
    }
}
