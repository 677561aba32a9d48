//! What a path names, with an error like every other when it cannot be read.

use axum::extract::{FromRequestParts, Path as AxumPath};
use http::request::Parts;
use serde::de::DeserializeOwned;
use threadcast_wire::error_code::ErrorCode;

use super::errors::HttpError;

/// The percent-decoded variables of a path.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        match AxumPath::from_request_parts(parts, state).await {
            Ok(AxumPath(variables)) => Ok(Self(variables)),
            Err(rejection) => Err(HttpError::new(ErrorCode::BadFrame, rejection.body_text())),
        }
    }
}
