//! Responses that are no streams of events, as people read them in a run's end.

use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

/// How much of a refusal's body is kept, and how long it is awaited.
const EXCERPT_BYTES: usize = 2 << 10;
const EXCERPT_WAIT: Duration = Duration::from_secs(2);

/// Why a response is no stream of events, in words that precede its body.
pub(super) fn refusal_of<B>(response: &Response<B>) -> Option<String> {
    let status = response.status();
    if !status.is_success() {
        return Some(String::new());
    }
    if status == StatusCode::NO_CONTENT {
        return Some("no content".to_owned());
    }
    let content_type = response.headers().get(CONTENT_TYPE)?;
    let essence = content_type
        .to_str()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    let is_stream = essence.eq_ignore_ascii_case("text/event-stream");
    (!is_stream).then(|| format!("content type `{essence}` is no `text/event-stream`; "))
}

/// The beginning of a body, for a person to read.
pub(super) async fn excerpt(mut body: Incoming) -> String {
    let mut bytes = Vec::new();
    let read = async {
        while bytes.len() < EXCERPT_BYTES {
            let Some(Ok(frame)) = body.frame().await else {
                break;
            };
            if let Some(data) = frame.data_ref() {
                bytes.extend_from_slice(&data[..data.len().min(EXCERPT_BYTES - bytes.len())]);
            }
        }
    };
    // A body that does not come in time is cut where it stands.
    let _ = timeout(EXCERPT_WAIT, read).await;
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
