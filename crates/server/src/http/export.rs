//! A thread's log as lines, for other hubs and other programs (docs/protocol.md §13.12, §16).
//!
//! Read in pieces while the caller takes them. What is exported is the log as it stood when it was
//! asked for: what comes meanwhile is no part of it.

use std::collections::VecDeque;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Uri};
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::json::RawJson;
use threadcast_hub::hub::Hub;
use threadcast_run_registry::export::{AguiExport, EXPORT_VERSION, ExportHead, entry_line};
use threadcast_run_registry::fold::Fold;
use threadcast_thread_log::engine::{Head, ReadLimit};
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Position, Seq};
use threadcast_wire::error_code::ErrorCode;

use super::delete::no_thread;
use super::errors::HttpError;
use super::path::Path;
use super::query::parameter;
use super::router::App;
use super::threads::thread_id;

/// Names the run within which an AG-UI stream stops, for it was not over.
const OPEN_RUN: HeaderName = HeaderName::from_static("threadcast-open-run");

/// Bounds of one read.
const READ: ReadLimit = ReadLimit {
    entries: 1024,
    bytes: 1 << 20,
};

/// About how long a block of lines is; one entry may be told in several long ones.
const BLOCK_BYTES: usize = 1 << 20;

/// What lines are made of entries.
#[derive(Debug)]
enum Form {
    /// Entries as they stand.
    Log { private: bool },
    /// Events for an AG-UI client, and nothing else.
    AgUi(Box<AguiExport>),
}

/// Why a stream of lines ends before its end.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("the log store failed")]
    Engine(#[from] EngineError),
    #[error("the log was trimmed or replaced while it was read")]
    Gone,
}

/// `GET /threads/{id}/export[?format=ag-ui][&private=true]`.
pub(crate) async fn export(
    State(app): State<App>,
    Path(thread): Path<String>,
    uri: Uri,
) -> Result<Response, HttpError> {
    let thread = thread_id(thread)?;
    let head = app.hub.engine().head(&thread).await?;
    if head.epochs.is_empty() {
        return Err(no_thread(&app.hub, &thread).await?);
    }
    let before = Seq::new(head.first.get() - 1).expect("it is one less");
    // Of a whole log nothing comes before its first entry.
    let base = if before == Seq::ZERO {
        None
    } else {
        Some(app.hub.fold_at(&thread, before).await?)
    };
    let mut open_run = None;
    let (form, lines) = match parameter(&uri, "format").as_deref() {
        None | Some("threadcast") => {
            let private = flag(&uri, "private")?;
            let line = export_head(&thread, &head, base.as_ref(), private).to_line();
            (Form::Log { private }, vec![line])
        }
        Some("ag-ui") => {
            open_run = open_run_at(&app.hub, &thread, head.seq).await?;
            let (export, events) = match base {
                Some(base) => AguiExport::behind(base),
                None => (AguiExport::new(thread.clone()), Vec::new()),
            };
            (Form::AgUi(Box::new(export)), texts(&events))
        }
        Some(other) => {
            let message = format!("`format` is `{other}`, expected `threadcast` or `ag-ui`");
            return Err(HttpError::new(ErrorCode::BadFrame, message));
        }
    };
    let mut response = respond(Lines {
        hub: app.hub,
        position: Position {
            epoch: head.epochs.last().expect("there is one").0.clone(),
            seq: head.seq,
        },
        thread,
        read: before,
        form,
        unwritten: VecDeque::new(),
        lines,
    });
    let run = open_run.and_then(|run| HeaderValue::from_bytes(run.as_str().as_bytes()).ok());
    response
        .headers_mut()
        .extend(run.map(|run| (OPEN_RUN, run)));
    Ok(response)
}

fn flag(uri: &Uri, name: &str) -> Result<bool, HttpError> {
    match parameter(uri, name).as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => {
            let message = format!("`{name}` is `{other}`, expected `true` or `false`");
            Err(HttpError::new(ErrorCode::BadFrame, message))
        }
    }
}

fn export_head(thread: &ThreadId, head: &Head, base: Option<&Fold>, private: bool) -> ExportHead {
    let checkpoint =
        base.map(|base| String::from_utf8(base.to_checkpoint()).expect("checkpoints are text"));
    ExportHead {
        threadcast: EXPORT_VERSION,
        thread_id: thread.clone(),
        epochs: head.epochs.clone(),
        first: head.first,
        last: head.seq,
        private,
        checkpoint,
    }
}

async fn open_run_at(hub: &Hub, thread: &ThreadId, at: Seq) -> Result<Option<RunId>, HttpError> {
    let live = hub.live(thread).await?;
    let at_head = live.with_fold(|fold| (fold.head() == at).then(|| open_run(fold)));
    match at_head {
        Some(run) => Ok(run),
        None => Ok(open_run(&hub.fold_at(thread, at).await?)),
    }
}

fn open_run(fold: &Fold) -> Option<RunId> {
    fold.conversation().verifier().active_run().cloned()
}

fn texts(events: &[RawJson]) -> Vec<String> {
    let texts = events.iter().map(|event| event.as_str().to_owned());
    texts.collect()
}

fn respond(lines: Lines) -> Response {
    let body = Body::from_stream(stream::unfold(Some(lines), async |lines| {
        let mut lines = lines?;
        match lines.next().await {
            Ok(block) if block.is_empty() => None,
            Ok(block) => Some((Ok(Bytes::from(block)), Some(lines))),
            Err(error) => {
                tracing::warn!(thread = %lines.thread, %error, "export broken off");
                Some((Err(error), None))
            }
        }
    }));
    ([(CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

/// The lines of the next of `entries`: of all, or of as many as fill a block; `read` is the last.
fn write(entries: &mut VecDeque<Entry>, form: &mut Form, read: &mut Seq) -> Vec<String> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    while bytes < BLOCK_BYTES
        && let Some(entry) = entries.pop_front()
    {
        let written = match form {
            Form::Log { private } => vec![entry_line(&entry, *private)],
            Form::AgUi(export) => texts(&export.take(&entry)),
        };
        bytes += written.iter().map(String::len).sum::<usize>();
        lines.extend(written);
        *read = entry.seq;
    }
    lines
}

/// The lines of an export that are still to come.
#[derive(Debug)]
struct Lines {
    hub: Hub,
    thread: ThreadId,
    /// The last entry that is exported.
    position: Position,
    /// The entry read last.
    read: Seq,
    form: Form,
    /// Read and not written yet.
    unwritten: VecDeque<Entry>,
    /// Written and not given yet.
    lines: Vec<String>,
}

impl Lines {
    /// The next lines; nothing at the end.
    async fn next(&mut self) -> Result<String, Broken> {
        while self.lines.is_empty() {
            if self.unwritten.is_empty() {
                if self.read >= self.position.seq {
                    break;
                }
                self.unwritten = self.read_on().await?.into();
            }
            self.lines = write(&mut self.unwritten, &mut self.form, &mut self.read);
        }
        let mut block = String::new();
        for line in self.lines.drain(..) {
            block.push_str(&line);
            block.push('\n');
        }
        Ok(block)
    }

    async fn read_on(&self) -> Result<Vec<Entry>, Broken> {
        let mut entries = self
            .hub
            .engine()
            .read(&self.thread, self.read, READ)
            .await?;
        // Asked afterwards: no other log came between.
        let head = self.hub.engine().head(&self.thread).await?;
        let follows = entries
            .first()
            .is_some_and(|entry| entry.seq == self.read.next());
        if !follows || !head.verdict(&self.position).is_of_log() {
            return Err(Broken::Gone);
        }
        entries.retain(|entry| entry.seq <= self.position.seq);
        Ok(entries)
    }
}

#[cfg(test)]
mod tests;
