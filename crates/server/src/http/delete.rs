//! The end of a thread, and what is told of it afterwards (docs/protocol.md §13.11).

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_hub::clock;
use threadcast_hub::deletion::DeleteError;
use threadcast_hub::hub::Hub;
use threadcast_thread_log::engine::ThreadRecord;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use tracing::Instrument;

use super::errors::HttpError;
use super::path::Path;
use super::router::App;
use super::threads::{json_response, thread_id};

/// What stays of a deleted thread.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    by: Principal,
    at: Millis,
}

/// `DELETE /threads/{id}`: the log goes, and who deleted it and when stays.
pub(crate) async fn delete(
    State(app): State<App>,
    Path(thread): Path<String>,
) -> Result<Response, HttpError> {
    let thread = thread_id(thread)?;
    let note = note(&Principal::anonymous());
    let (hub, deleted) = (app.hub.clone(), thread.clone());
    // Carried to its end whether or not anyone waits for it.
    let deleting = async move { hub.delete(&deleted, note).await };
    let deleting = app.tasks.spawn(deleting.in_current_span()).await;
    let seq = match deleting
        .map_err(|error| HttpError::new(ErrorCode::Internal, error.to_string()))?
    {
        Err(DeleteError::NoThread { thread }) => return Err(no_thread(&app.hub, &thread).await?),
        deleted => deleted?,
    };
    Ok(json_response(&json!({ "threadId": thread, "seq": seq })))
}

impl From<DeleteError> for HttpError {
    fn from(error: DeleteError) -> Self {
        match &error {
            DeleteError::Busy { run, .. } => {
                let message = format!("{error}: cancel it first");
                let body = ErrorBody::new(ErrorCode::ThreadBusy, message);
                body.with_details(json!({ "runId": run })).into()
            }
            DeleteError::Engine(error) => error.into(),
            DeleteError::NoThread { .. } => Self::new(ErrorCode::NotFound, error.to_string()),
            DeleteError::Overloaded { .. } => Self::new(ErrorCode::Overloaded, error.to_string()),
        }
    }
}

/// What a deletion leaves.
pub(super) fn note(by: &Principal) -> ThreadRecord {
    let (by, at) = (by.clone(), clock::now());
    serde_json::to_vec(&Note { by, at }).expect("a note is plain data")
}

/// That there is no such thread; any more, if there was one.
///
/// # Errors
/// The engine failed.
pub(super) async fn no_thread(hub: &Hub, thread: &ThreadId) -> Result<HttpError, EngineError> {
    let note = hub.engine().head(thread).await?.record;
    let note = note.and_then(|note| serde_json::from_slice::<Note>(&note).ok());
    let Some(Note { by, at }) = note else {
        let message = format!("there is no thread `{thread}`");
        return Ok(HttpError::new(ErrorCode::NotFound, message));
    };
    let message = format!("thread `{thread}` was deleted by `{}`", by.id);
    let body = ErrorBody::new(ErrorCode::NotFound, message);
    Ok(body.with_details(json!({ "by": by, "at": at })).into())
}

#[cfg(test)]
mod tests;
