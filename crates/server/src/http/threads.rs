//! Threads over plain HTTP: a view, the events, and the two decisions a person takes
//! (docs/protocol.md §13.4–13.6).

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Uri};
use serde::{Deserialize, Serialize};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::json::RawJson;
use threadcast_hub::live_thread::LiveThread;
use threadcast_run_registry::decide::{CancelCommand, Command, ResumeCommand};
use threadcast_run_registry::snapshot::{leaves_state_out, snapshot};
use threadcast_thread_log::position::{Epoch, Position, PositionVerdict, Seq};
use threadcast_thread_log::principal::Principal;
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::limits::REASON_BYTES_MAX;

use super::body::{read_json, read_json_if_any};
use super::errors::HttpError;
use super::event_stream::{self, BrokenOff, write_made_up, write_position};
use super::path::Path;
use super::projection::{Projection, ReaderState};
use super::router::App;

/// `GET /threads/{id}`: the hub's own view.
pub(crate) async fn view(
    State(app): State<App>,
    Path(thread): Path<String>,
) -> Result<Response, HttpError> {
    let thread = thread_id(thread)?;
    let answer = app.hub.thread_answer(&thread).await?;
    if answer.seq == Seq::ZERO {
        return Err(HttpError::new(
            ErrorCode::NotFound,
            format!("there is no thread `{thread}`"),
        ));
    }
    Ok(json_response(&answer))
}

/// `GET /threads/{id}/events`: what comes, after the caller's position or after a baseline.
///
/// A baseline is made up: its events have no id. The id that follows it alone is the position it
/// brings the reader to, so that a reader who was cut off within it begins anew.
pub(crate) async fn events(
    State(app): State<App>,
    Path(thread): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, HttpError> {
    let live = app.hub.live(&thread_id(thread)?).await?;
    let (after, reader_state, first_block) = match position_of(&headers, &uri) {
        Some(position) if live.verdict(&position).await? == PositionVerdict::Valid => {
            (position, ReaderState::Follows, Vec::new())
        }
        _ => baseline(&live),
    };
    let stream = ThreadStream {
        projection: Projection::new(app.hub.clone(), live, &after, reader_state),
        block: first_block,
        broken_off: None,
    };
    Ok(event_stream::respond(
        stream::unfold(stream, ThreadStream::next),
        app.stop,
    ))
}

/// The events of a thread, without end.
#[derive(Debug)]
struct ThreadStream {
    projection: Projection,
    /// What is written and not given yet.
    block: Vec<u8>,
    /// Told once the block is out.
    broken_off: Option<BrokenOff>,
}

impl ThreadStream {
    async fn next(mut self) -> Option<(Result<Vec<u8>, BrokenOff>, Self)> {
        while self.block.is_empty() {
            if let Some(error) = self.broken_off.take() {
                return Some((Err(error), self));
            }
            self.broken_off = self.write_next().await.err();
        }
        Some((Ok(std::mem::take(&mut self.block)), self))
    }

    async fn write_next(&mut self) -> Result<(), BrokenOff> {
        for entry in self.projection.next_entries().await? {
            self.projection.write(&entry, &mut self.block).await?;
        }
        Ok(())
    }
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

fn thread_id(thread: String) -> Result<ThreadId, HttpError> {
    ThreadId::new(thread).map_err(|error| HttpError::new(ErrorCode::BadFrame, error.to_string()))
}

fn json_response(body: &impl Serialize) -> Response {
    let json = serde_json::to_string(body).expect("answers are plain data");
    ([(CONTENT_TYPE, "application/json")], json).into_response()
}

/// What brings an empty reader to the present head, and that head.
fn baseline(live: &LiveThread) -> (Position, ReaderState, Vec<u8>) {
    // Written out at leisure: nothing is folded while the fold is looked at.
    let (conversation, position) =
        live.with_fold(|fold| (fold.conversation().clone(), fold.position().clone()));
    let events = snapshot(&conversation);
    let mut block = Vec::new();
    for event in &events {
        write_made_up(&mut block, event.json.as_str());
    }
    if leaves_state_out(&conversation) {
        // The reader has not all there is at that position, so it is not to come back to it.
        return (position, ReaderState::Stale, block);
    }
    if position.seq > Seq::ZERO {
        write_position(&mut block, &position);
    }
    (position, ReaderState::Follows, block)
}

/// Where the reader stands, by the header a browser sends when it comes back, else by `after`.
fn position_of(headers: &HeaderMap, uri: &Uri) -> Option<Position> {
    if let Some(id) = headers.get("last-event-id") {
        return read_position(id.to_str().ok()?);
    }
    let query = url::form_urlencoded::parse(uri.query()?.as_bytes());
    query
        .into_iter()
        .find(|(name, _)| name == "after")
        .and_then(|(_, position)| read_position(&position))
}

fn read_position(id: &str) -> Option<Position> {
    let (epoch, seq) = id.rsplit_once(':')?;
    Some(Position {
        epoch: Epoch::new(epoch),
        seq: Seq::new(seq.parse().ok()?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(last_event_id: Option<&str>, uri: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        if let Some(id) = last_event_id {
            headers.insert("last-event-id", id.parse().unwrap());
        }
        position_of(&headers, &uri.parse().unwrap())
            .map(|Position { epoch, seq }| format!("{epoch}@{seq}"))
    }

    #[test]
    fn positions_come_from_the_header_or_the_query() {
        assert_eq!(
            found(Some("a.b:7"), "/x?after=c:1").as_deref(),
            Some("a.b@7")
        );
        assert_eq!(
            found(None, "/x?y=1&after=c%3Ad:1").as_deref(),
            Some("c:d@1")
        );
        assert_eq!(found(None, "/x"), None);
        for id in ["7", ":", "a:-1", "a:x", "a:9007199254740992"] {
            assert_eq!(found(Some(id), "/x"), None, "{id}");
        }
    }
}
