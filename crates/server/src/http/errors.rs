//! Errors as HTTP answers: the table's status and the same JSON as on the socket (docs/protocol.md
//! §10).

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use threadcast_hub::decisions::{CommandError, engine_error_body};
use threadcast_hub::history::FoldAtError;
use threadcast_thread_log::error::EngineError;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;

/// An error on its way out.
#[derive(Debug)]
pub(crate) struct HttpError {
    status: StatusCode,
    body: ErrorBody,
}

/// Seconds after which a busy hub may be asked again.
const RETRY_AFTER_S: HeaderValue = HeaderValue::from_static("1");

impl HttpError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        ErrorBody::new(code, message).into()
    }

    /// With a status that says more to HTTP than the code's own.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl From<ErrorBody> for HttpError {
    fn from(body: ErrorBody) -> Self {
        let status =
            StatusCode::from_u16(body.code.http_status()).expect("the table holds HTTP statuses");
        Self { status, body }
    }
}

impl From<CommandError> for HttpError {
    fn from(error: CommandError) -> Self {
        error.to_body().into()
    }
}

impl From<EngineError> for HttpError {
    fn from(error: EngineError) -> Self {
        (&error).into()
    }
}

impl From<FoldAtError> for HttpError {
    fn from(error: FoldAtError) -> Self {
        match &error {
            FoldAtError::NoThread { .. } | FoldAtError::Beyond { .. } => {
                Self::new(ErrorCode::NotFound, error.to_string())
            }
            FoldAtError::Trimmed { first, .. } => {
                ErrorBody::new(ErrorCode::Trimmed, error.to_string())
                    .with_details(json!({ "first": first }))
                    .into()
            }
            FoldAtError::Engine(error) => error.into(),
        }
    }
}

impl From<&EngineError> for HttpError {
    fn from(error: &EngineError) -> Self {
        engine_error_body(error).into()
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let json = serde_json::to_string(&self.body).expect("an error body is plain data");
        let mut response =
            (self.status, [(CONTENT_TYPE, "application/json")], json).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, RETRY_AFTER_S);
        }
        response
    }
}

/// For paths that are none.
pub(crate) async fn not_found() -> HttpError {
    HttpError::new(ErrorCode::NotFound, "there is no such path")
}

/// For methods a path does not serve.
pub(crate) async fn method_not_allowed() -> HttpError {
    HttpError::new(ErrorCode::NotFound, "the path does not serve this method")
        .with_status(StatusCode::METHOD_NOT_ALLOWED)
}
