//! Server-sent events, outwards: LF only, one space after `data:`, never `[DONE]` (docs/protocol.md
//! §13.2).

use std::io::Write;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::Stream;
use futures::stream::{self, StreamExt};
use http::HeaderName;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Position;
use tokio_util::sync::CancellationToken;

/// Silence after which a comment shows proxies and readers that the stream lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_COMMENT: &[u8] = b": keep-alive\n\n";

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Appends an event that has no place in the log.
pub(crate) fn write_made_up(out: &mut Vec<u8>, json: &str) {
    debug_assert!(!json.contains(['\n', '\r']), "an event has no line breaks");
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(json.as_bytes());
    out.extend_from_slice(b"\n\n");
}

/// Appends an event of the log.
pub(crate) fn write_event(out: &mut Vec<u8>, position: &Position, json: &str) {
    write_id(out, position);
    write_made_up(out, json);
}

/// Appends a position alone: readers keep it as their last event id and dispatch nothing.
pub(crate) fn write_position(out: &mut Vec<u8>, position: &Position) {
    write_id(out, position);
    out.push(b'\n');
}

fn write_id(out: &mut Vec<u8>, Position { epoch, seq }: &Position) {
    writeln!(out, "id: {epoch}:{seq}").expect("a vector takes everything");
}

/// Why a stream of events ends although it is not complete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokenOff {
    #[error("the log cannot be read")]
    Log(#[from] EngineError),
    #[error("the log that is read was replaced")]
    Replaced,
    #[error("the hub stops")]
    Stopping,
}

/// A response of `blocks`, with comments while they are silent; ends with them.
///
/// A stream that breaks off, or that `stop` cuts, is cut on the wire, too: the body lacks its end,
/// so that no reader takes it for a whole one.
pub(crate) fn respond<S>(blocks: S, stop: CancellationToken) -> Response
where
    S: Stream<Item = Result<Vec<u8>, BrokenOff>> + Send + 'static,
{
    let body = Body::from_stream(keep_alive(blocks, stop));
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-cache"),
        (X_ACCEL_BUFFERING, "no"),
    ];
    (headers, body).into_response()
}

fn keep_alive<S>(
    blocks: S,
    stop: CancellationToken,
) -> impl Stream<Item = Result<Bytes, BrokenOff>> + Send
where
    S: Stream<Item = Result<Vec<u8>, BrokenOff>> + Send + 'static,
{
    stream::unfold(Some((Box::pin(blocks), stop)), |open| async {
        let (mut blocks, stop) = open?;
        let next = tokio::select! {
            biased;
            () = stop.cancelled() => Ok(Some(Err(BrokenOff::Stopping))),
            next = tokio::time::timeout(KEEP_ALIVE, blocks.next()) => next,
        };
        match next {
            Ok(Some(Ok(block))) => Some((Ok(Bytes::from(block)), Some((blocks, stop)))),
            Ok(Some(Err(error))) => {
                tracing::debug!(%error, "event stream broken off");
                // hyper drops what it has not flushed when a body fails; it flushes while a body
                // makes it wait.
                tokio::task::yield_now().await;
                Some((Err(error), None))
            }
            Ok(None) => None,
            Err(_silent) => {
                let comment = Bytes::from_static(KEEP_ALIVE_COMMENT);
                Some((Ok(comment), Some((blocks, stop))))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcast_thread_log::position::{Epoch, Seq};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn blocks_are_written_as_plain_clients_read_them() {
        let position = Position {
            epoch: Epoch::new("e1"),
            seq: Seq::new(7).unwrap(),
        };
        let mut out = Vec::new();
        write_made_up(&mut out, "{}");
        write_event(&mut out, &position, "{\"a\":1}");
        write_position(&mut out, &position);
        assert_eq!(
            out,
            b"data: {}\n\nid: e1:7\ndata: {\"a\":1}\n\nid: e1:7\n\n"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_filled_with_comments() {
        let late = stream::once(async {
            tokio::time::sleep(KEEP_ALIVE * 5 / 2).await;
            Ok(b"data: {}\n\n".to_vec())
        });
        let blocks: Vec<_> = keep_alive(late, CancellationToken::new())
            .map(|block| block.unwrap())
            .collect()
            .await;
        assert_eq!(
            blocks,
            [KEEP_ALIVE_COMMENT, KEEP_ALIVE_COMMENT, b"data: {}\n\n"]
        );
    }

    #[tokio::test]
    async fn a_stopping_hub_breaks_streams_off() {
        let stop = CancellationToken::new();
        let mut blocks = Box::pin(keep_alive(stream::pending(), stop.clone()));
        stop.cancel();
        let last = blocks.next().await;
        assert!(matches!(last, Some(Err(BrokenOff::Stopping))), "{last:?}");
        assert!(blocks.next().await.is_none());
    }

    #[tokio::test]
    async fn what_was_written_before_a_stream_broke_off_is_read() {
        let (near, far) = tokio::io::duplex(1 << 10);
        let service = hyper::service::service_fn(|_| {
            let blocks = [Ok(b"data: {}\n\n".to_vec()), Err(BrokenOff::Replaced)];
            let response = respond(stream::iter(blocks), CancellationToken::new());
            std::future::ready(Ok::<_, std::convert::Infallible>(response))
        });
        let serving = hyper::server::conn::http1::Builder::new()
            .serve_connection(hyper_util::rt::TokioIo::new(near), service);
        let reading = async {
            let (mut from, mut to) = tokio::io::split(far);
            to.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                .await
                .unwrap();
            let mut response = String::new();
            from.read_to_string(&mut response).await.unwrap();
            response
        };
        let (served, response) = tokio::join!(serving, reading);
        assert!(served.is_err(), "the body has no end");
        assert!(response.ends_with("data: {}\n\n\r\n"), "{response:?}");
    }
}
