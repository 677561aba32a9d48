//! Threads over plain HTTP: a view, and the two decisions a person takes (docs/protocol.md §13.4,
//! §13.6).

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::decide::{CancelCommand, Command, ResumeCommand};
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::limits::REASON_BYTES_MAX;

use super::body::{read_json, read_json_if_any};
use super::delete::no_thread;
use super::errors::HttpError;
use super::path::Path;
use super::router::App;

/// `GET /threads/{id}`: the hub's own view.
pub(crate) async fn view(
    State(app): State<App>,
    Path(thread): Path<String>,
) -> Result<Response, HttpError> {
    let thread = thread_id(thread)?;
    let answer = app.hub.thread_answer(&thread).await?;
    if answer.seq == Seq::ZERO {
        return Err(no_thread(&app.hub, &thread).await?);
    }
    Ok(json_response(&answer))
}

/// `POST /threads/{id}/resume` `{of, runId, resume}`.
pub(crate) async fn resume(
    State(app): State<App>,
    Path(thread): Path<String>,
    request: Request,
) -> Result<Response, HttpError> {
    #[derive(Deserialize)]
    struct Body {
        of: RunId,
        #[serde(rename = "runId")]
        run: RunId,
        resume: Vec<RawJson>,
    }
    let refused = |error: &dyn std::fmt::Display| {
        HttpError::new(
            ErrorCode::BadFrame,
            format!("the body is no resume: {error}"),
        )
    };
    let json = read_json(request.into_body(), app.body_bytes_max).await?;
    let Body { of, run, resume } =
        serde_json::from_str(json.as_str()).map_err(|error| refused(&error))?;
    let entries: Result<_, _> = resume
        .iter()
        .map(|entry| ResumeEntry::read(entry.as_str()))
        .collect();
    let entries = entries.map_err(|error| refused(&error))?;
    command(
        &app,
        thread,
        Command::Resume(ResumeCommand { of, run, entries }),
    )
    .await
}

/// `POST /threads/{id}/runs/{run}/cancel`, with `{reason}` or nothing.
pub(crate) async fn cancel(
    State(app): State<App>,
    Path((thread, run)): Path<(String, String)>,
    request: Request,
) -> Result<Response, HttpError> {
    #[derive(Default, Deserialize)]
    struct Body {
        reason: Option<String>,
    }
    let run =
        RunId::new(run).map_err(|error| HttpError::new(ErrorCode::BadFrame, error.to_string()))?;
    let body = match read_json_if_any(request.into_body(), app.body_bytes_max).await? {
        Some(json) => serde_json::from_str(json.as_str()).map_err(|error| {
            HttpError::new(
                ErrorCode::BadFrame,
                format!("the body is no cancellation: {error}"),
            )
        })?,
        None => Body::default(),
    };
    if let Some(found) = body.reason.as_ref().map(String::len)
        && found > REASON_BYTES_MAX
    {
        let message =
            format!("`reason` is {found} bytes long, at most {REASON_BYTES_MAX} are allowed");
        return Err(HttpError::new(ErrorCode::BadFrame, message));
    }
    command(
        &app,
        thread,
        Command::Cancel(CancelCommand {
            run,
            reason: body.reason,
        }),
    )
    .await
}

async fn command(app: &App, thread: String, command: Command) -> Result<Response, HttpError> {
    let answer = app
        .hub
        .command(thread_id(thread)?, &Principal::anonymous(), command)
        .await?;
    Ok(json_response(&answer))
}

pub(super) fn thread_id(thread: String) -> Result<ThreadId, HttpError> {
    ThreadId::new(thread).map_err(|error| HttpError::new(ErrorCode::BadFrame, error.to_string()))
}

pub(super) fn json_response(body: &impl Serialize) -> Response {
    let json = serde_json::to_string(body).expect("answers are plain data");
    ([(CONTENT_TYPE, "application/json")], json).into_response()
}
