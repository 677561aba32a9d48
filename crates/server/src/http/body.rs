//! Request bodies: bounded, text, JSON without surprises.

use axum::body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::json;
use threadcast_agui::json::RawJson;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;

use super::errors::HttpError;

/// Reads a whole body of at most `bytes_max` as JSON.
///
/// # Errors
/// `too_large`; `bad_frame` for what breaks off or is no JSON (depth and repeated names included).
pub(crate) async fn read_json(body: Body, bytes_max: usize) -> Result<RawJson, HttpError> {
    let bytes = read(body, bytes_max).await?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| HttpError::new(ErrorCode::BadFrame, "the body is no UTF-8"))?;
    RawJson::parse(text).map_err(|error| {
        HttpError::new(ErrorCode::BadFrame, format!("the body is refused: {error}"))
    })
}

/// As [`read_json`]; an empty body is none.
pub(crate) async fn read_json_if_any(
    body: Body,
    bytes_max: usize,
) -> Result<Option<RawJson>, HttpError> {
    use hyper::body::Body as _;
    if body.is_end_stream() {
        Ok(None)
    } else {
        read_json(body, bytes_max).await.map(Some)
    }
}

async fn read(body: Body, bytes_max: usize) -> Result<bytes::Bytes, HttpError> {
    match Limited::new(body, bytes_max).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("the body is longer than {bytes_max} bytes");
            Err(ErrorBody::new(ErrorCode::TooLarge, message)
                .with_details(json!({ "limit": bytes_max }))
                .into())
        }
        Err(error) => Err(HttpError::new(
            ErrorCode::BadFrame,
            format!("the body broke off: {error}"),
        )),
    }
}
