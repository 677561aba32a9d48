//! What a thread was at an entry: state and messages, made of what is stored (docs/protocol.md
//! §13.9).
//!
//! The live fold is never looked at, so that looking back costs those who follow nothing.

use std::fmt::Write as _;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::Uri;
use http::header::CONTENT_TYPE;
use threadcast_agui::json::RawJson;
use threadcast_hub::history::FoldAtError;
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::position::Seq;
use threadcast_wire::error_code::ErrorCode;

use super::delete::no_thread;
use super::errors::HttpError;
use super::path::Path;
use super::query::parameter;
use super::router::App;
use super::threads::thread_id;

/// `GET /threads/{id}/state?at=SEQ`.
pub(crate) async fn state(
    State(app): State<App>,
    Path(thread): Path<String>,
    uri: Uri,
) -> Result<Response, HttpError> {
    let fold = fold_at(&app, thread, &uri).await?;
    let state = RawJson::from_value(fold.conversation().state());
    Ok(answer(&fold, "state", state.as_str()))
}

/// `GET /threads/{id}/messages?at=SEQ`.
pub(crate) async fn messages(
    State(app): State<App>,
    Path(thread): Path<String>,
    uri: Uri,
) -> Result<Response, HttpError> {
    let fold = fold_at(&app, thread, &uri).await?;
    // Text that agents cut inside a character has a JSON form and no value.
    let mut messages = String::from("[");
    for (n, message) in fold.conversation().messages().enumerate() {
        if n > 0 {
            messages.push(',');
        }
        message.write(&mut messages);
    }
    messages.push(']');
    Ok(answer(&fold, "messages", &messages))
}

fn answer(fold: &Fold, name: &str, json: &str) -> Response {
    let quoted = |text: &str| serde_json::to_string(text).expect("a string always has a JSON form");
    let mut body = String::with_capacity(json.len() + 256);
    write!(
        body,
        r#"{{"threadId":{},"epoch":{},"seq":{},"{name}":{json}}}"#,
        quoted(fold.thread().as_str()),
        quoted(fold.position().epoch.as_str()),
        fold.head(),
    )
    .expect("a string takes everything");
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

/// The fold at the seq that is asked for, by default the last one.
pub(super) async fn fold_at(app: &App, thread: String, uri: &Uri) -> Result<Fold, HttpError> {
    let thread = thread_id(thread)?;
    let at = match at(uri)? {
        Some(at) => at,
        None => app.hub.engine().head(&thread).await?.seq,
    };
    match app.hub.fold_at(&thread, at).await {
        Err(FoldAtError::NoThread { .. }) => Err(no_thread(&app.hub, &thread).await?),
        folded => Ok(folded?),
    }
}

/// The parameter `at`.
fn at(uri: &Uri) -> Result<Option<Seq>, HttpError> {
    let Some(text) = parameter(uri, "at") else {
        return Ok(None);
    };
    let seq = text.parse().ok().and_then(Seq::new);
    let seq = seq.filter(|seq| *seq > Seq::ZERO);
    let Some(seq) = seq else {
        let message = format!("`at` is `{text}`, a seq from 1 to {} is expected", Seq::MAX);
        return Err(HttpError::new(ErrorCode::BadFrame, message));
    };
    Ok(Some(seq))
}
