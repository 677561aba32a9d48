//! An export becomes a new thread while it is read (docs/protocol.md §13.12, §16).
//!
//! Whoever sends it slowly is a player: what has come is appended before more is waited for, and
//! viewers see it. An import that does not come to its end leaves no thread behind.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_hub::hub::Hub;
use threadcast_wire::error_code::ErrorCode;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::errors::HttpError;
use super::path::Path;
use super::router::App;
use super::threads::{json_response, thread_id};

mod making;
mod unread;

use making::{Import, Imported};

/// How long a refused body is read on.
const DRAIN_WAIT: Duration = Duration::from_secs(5);

/// `POST /threads/{id}/import`: the lines of an export, to be the log of a thread that has none.
pub(crate) async fn import(
    State(app): State<App>,
    Path(thread): Path<String>,
    request: Request,
) -> Result<Response, HttpError> {
    let thread = thread_id(thread)?;
    let Ok(seat) = app.imports.clone().try_acquire_owned() else {
        let message = "other imports are under way";
        return Err(HttpError::new(ErrorCode::Overloaded, message));
    };
    // Its end, or that of what it began, does not hang on the connection.
    let span = tracing::info_span!("import", %thread);
    let (hub, stop) = (app.hub.clone(), app.stop.clone());
    let importing = async move {
        let _seat = seat;
        let mut body = request.into_body();
        let ended = import_from(hub, thread, stop, &mut body).await;
        if ended.is_err() {
            tokio::spawn(timeout(DRAIN_WAIT, drain(body)));
        }
        ended
    };
    let imported = app.tasks.spawn(importing.instrument(span)).await;
    let appended =
        imported.map_err(|error| HttpError::new(ErrorCode::Internal, error.to_string()))??;
    let Imported { thread, appended } = appended;
    let body = json!({ "threadId": thread, "epoch": appended.epoch, "seq": appended.last });
    let mut response = json_response(&body);
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

async fn import_from(
    hub: Hub,
    thread: ThreadId,
    stop: CancellationToken,
    body: &mut Body,
) -> Result<Imported, HttpError> {
    let mut import = Import::begin(hub, thread, stop).await?;
    let ended = import.read(body).await;
    if ended.is_err() {
        import.undo().await;
    }
    ended
}

/// Reads on for a caller who is told an error only when it has sent what it is sending.
async fn drain(mut body: Body) {
    while let Some(Ok(_)) = body.frame().await {}
}
