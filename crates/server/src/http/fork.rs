//! A new thread that begins with what another one held (docs/protocol.md §13.10, §6.5).

use axum::extract::{Request, State};
use axum::response::Response;
use http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_hub::clock;
use threadcast_run_registry::fork::{ForkError, fork as fork_of};
use threadcast_thread_log::engine::Outcome;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;

use super::body::read_json_if_any;
use super::errors::HttpError;
use super::past::fold_at;
use super::path::Path;
use super::router::App;
use super::threads::json_response;
use crate::random;

/// `POST /threads/{id}/fork?at=SEQ`, with `{threadId}` or nothing.
pub(crate) async fn fork(
    State(app): State<App>,
    Path(thread): Path<String>,
    uri: Uri,
    request: Request,
) -> Result<Response, HttpError> {
    let to = new_thread(&app, request).await?;
    let fold = fold_at(&app, thread, &uri).await?;
    let from = fold.position().clone();
    let append = fork_of(&fold, &to, &Principal::anonymous(), clock::now(), &from)?;
    let from = json!({ "threadId": fold.thread(), "epoch": from.epoch, "seq": from.seq });
    drop(fold);
    let live = app.hub.live(&to).await?;
    let appended = match live.append(append).await? {
        Outcome::Appended(appended) => appended,
        Outcome::Refused(refused) => return Err(exists(&to, Seq::ZERO, refused.head.seq)),
    };
    let mut response = json_response(&json!({
        "threadId": to, "epoch": appended.epoch, "seq": appended.last, "from": from,
    }));
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

async fn new_thread(app: &App, request: Request) -> Result<ThreadId, HttpError> {
    #[derive(Default, Deserialize)]
    struct Body {
        #[serde(rename = "threadId")]
        thread: Option<ThreadId>,
    }
    let body = match read_json_if_any(request.into_body(), app.body_bytes_max).await? {
        Some(json) => serde_json::from_str(json.as_str()).map_err(|error| {
            let message = format!("the body names no new thread: {error}");
            HttpError::new(ErrorCode::BadFrame, message)
        })?,
        None => Body::default(),
    };
    Ok(body.thread.unwrap_or_else(|| {
        let name = format!("fork-{}", random::hex(8));
        ThreadId::new(name).expect("a random name is a thread id")
    }))
}

/// That a thread of which its maker wrote `expected` entries has a log of `found`.
pub(super) fn exists(thread: &ThreadId, expected: Seq, found: Seq) -> HttpError {
    let expected = match expected {
        Seq::ZERO => "none was".to_owned(),
        expected => format!("{expected} were"),
    };
    let message = format!("thread `{thread}` has a log of {found} entries, {expected} expected");
    let body = ErrorBody::new(ErrorCode::ThreadExists, message);
    body.with_details(json!({ "seq": found })).into()
}

impl From<ForkError> for HttpError {
    fn from(error: ForkError) -> Self {
        let ForkError::TooLarge { max, .. } = error;
        let body = ErrorBody::new(ErrorCode::TooLarge, error.to_string());
        body.with_details(json!({ "limit": max })).into()
    }
}
