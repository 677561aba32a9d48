//! Server-sent events, outwards: LF only, one space after `data:`, never `[DONE]` (docs/protocol.md
//! §13.2).

use std::convert::Infallible;
use std::io::Write;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::Stream;
use futures::stream::{self, StreamExt};
use http::HeaderName;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
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

/// A response of `blocks`, with comments while they are silent; ends with them, or when `stop` is
/// cancelled.
pub(crate) fn respond<S>(blocks: S, stop: CancellationToken) -> Response
where
    S: Stream<Item = Vec<u8>> + Send + 'static,
{
    let body = Body::from_stream(keep_alive(blocks).take_until(stop.cancelled_owned()));
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-cache"),
        (X_ACCEL_BUFFERING, "no"),
    ];
    (headers, body).into_response()
}

fn keep_alive<S>(blocks: S) -> impl Stream<Item = Result<Bytes, Infallible>> + Send
where
    S: Stream<Item = Vec<u8>> + Send + 'static,
{
    stream::unfold(Box::pin(blocks), |mut blocks| async {
        match tokio::time::timeout(KEEP_ALIVE, blocks.next()).await {
            Ok(Some(block)) => Some((Ok(Bytes::from(block)), blocks)),
            Ok(None) => None,
            Err(_silent) => Some((Ok(Bytes::from_static(KEEP_ALIVE_COMMENT)), blocks)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcast_thread_log::position::{Epoch, Seq};

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
            b"data: {}\n\n".to_vec()
        });
        let blocks: Vec<_> = keep_alive(late).map(|block| block.unwrap()).collect().await;
        assert_eq!(
            blocks,
            [KEEP_ALIVE_COMMENT, KEEP_ALIVE_COMMENT, b"data: {}\n\n"]
        );
    }
}
