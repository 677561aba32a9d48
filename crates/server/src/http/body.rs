//! Request bodies: bounded, text, JSON without surprises.

use std::error::Error;
use std::time::Duration;

use axum::body::Body;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::json;
use threadcast_agui::json::RawJson;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use tokio::time::timeout;

use super::errors::HttpError;

/// Longest wait for more of a body: who stops in the middle holds a connection and a buffer.
const MORE_WAIT: Duration = Duration::from_secs(10);

/// Reads a whole body of at most `bytes_max` as a JSON object.
///
/// # Errors
/// `too_large`; `bad_frame` for what breaks off, stands still (408) or is no such JSON (depth
/// and repeated names included).
pub(crate) async fn read_json(body: Body, bytes_max: usize) -> Result<RawJson, HttpError> {
    parse(&read(body, bytes_max).await?)
}

/// As [`read_json`]; an empty body is none.
pub(crate) async fn read_json_if_any(
    body: Body,
    bytes_max: usize,
) -> Result<Option<RawJson>, HttpError> {
    let bytes = read(body, bytes_max).await?;
    if bytes.is_empty() {
        Ok(None)
    } else {
        parse(&bytes).map(Some)
    }
}

fn parse(bytes: &[u8]) -> Result<RawJson, HttpError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| HttpError::new(ErrorCode::BadFrame, "the body is no UTF-8"))?;
    let json = RawJson::parse(text).map_err(|error| {
        HttpError::new(ErrorCode::BadFrame, format!("the body is refused: {error}"))
    })?;
    // A derived reader would take a list of values for an object.
    if !json.as_str().starts_with('{') {
        let message = format!("the body must be an object, found {}", json.kind());
        return Err(HttpError::new(ErrorCode::BadFrame, message));
    }
    Ok(json)
}

async fn read(body: Body, bytes_max: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Limited::new(body, bytes_max);
    let mut bytes = Vec::new();
    while let Some(frame) = timeout(MORE_WAIT, body.frame()).await.map_err(|_| idle())? {
        let frame = frame.map_err(|error| broken(&*error, bytes_max))?;
        if let Some(data) = frame.data_ref() {
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}

fn idle() -> HttpError {
    let message = format!("nothing of the body came for {} s", MORE_WAIT.as_secs());
    HttpError::new(ErrorCode::BadFrame, message).with_status(StatusCode::REQUEST_TIMEOUT)
}

fn broken(error: &(dyn Error + Send + Sync + 'static), bytes_max: usize) -> HttpError {
    if error.is::<LengthLimitError>() {
        let message = format!("the body is longer than {bytes_max} bytes");
        ErrorBody::new(ErrorCode::TooLarge, message)
            .with_details(json!({ "limit": bytes_max }))
            .into()
    } else {
        HttpError::new(ErrorCode::BadFrame, format!("the body broke off: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use bytes::Bytes;
    use futures::stream::{self, StreamExt};
    use std::convert::Infallible;

    fn chunks(chunks: &'static [&'static str]) -> impl StreamExt<Item = Result<Bytes, Infallible>> {
        stream::iter(chunks.iter().map(|chunk| Ok((*chunk).into())))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stands_still_is_given_up() {
        let still = Body::from_stream(chunks(&["{"]).chain(stream::pending()));
        let error = read_json(still, 1 << 20).await.unwrap_err();
        assert_eq!(error.into_response().status(), StatusCode::REQUEST_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_read_to_its_end() {
        let slow = chunks(&["{", "\"a\"", ":1", "}"]).then(|chunk| async {
            tokio::time::sleep(MORE_WAIT * 9 / 10).await;
            chunk
        });
        let json = read_json(Body::from_stream(slow), 1 << 20).await.unwrap();
        assert_eq!(json.as_str(), "{\"a\":1}");
    }

    #[tokio::test]
    async fn an_empty_body_is_none_however_it_is_framed() {
        for empty in [Body::empty(), Body::from_stream(chunks(&[]))] {
            assert!(read_json_if_any(empty, 10).await.unwrap().is_none());
        }
    }
}
