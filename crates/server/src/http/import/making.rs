//! A thread that is being made of the lines of an export.
//!
//! Invariant: until the log is whole the import's lease stands in it, and nowhere else; so what there
//! is of it can be found and removed, whatever became of an append.

use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::FutureExt;
use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_hub::clock;
use threadcast_hub::hub::Hub;
use threadcast_hub::live_thread::LiveThread;
use threadcast_hub::owned::Owned;
use threadcast_run_registry::export::EXPORT_LINE_BYTES_MAX;
use threadcast_run_registry::import::{ImportError, ImportStart, Importer};
use threadcast_thread_log::engine::{Append, Appended, Outcome, Refused};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::lease::LeaseToken;
use threadcast_thread_log::position::Seq;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::unread::Unread;
use crate::http::delete;
use crate::http::errors::HttpError;
use crate::http::fork::exists;
use crate::random;

/// Longest wait for more of the body. A player with nothing to send yet sends empty lines.
const MORE_WAIT: Duration = Duration::from_secs(60);

/// How often the log is told that the import goes on.
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// The end of an import that came to it.
pub(super) struct Imported {
    pub(super) thread: ThreadId,
    pub(super) appended: Appended,
}

/// A thread that is being made of lines.
pub(super) struct Import {
    hub: Hub,
    live: LiveThread,
    importer: Importer,
    lease: LeaseToken,
    appended: Option<Appended>,
    /// While it lives, nobody takes the thread for one whose owner is gone. None until something is
    /// appended: the thread may have an owner of its own.
    owned: Option<Owned>,
    stop: CancellationToken,
}

impl Import {
    /// # Errors
    /// The thread has a log, or the log store failed.
    pub(super) async fn begin(
        hub: Hub,
        thread: ThreadId,
        stop: CancellationToken,
    ) -> Result<Self, HttpError> {
        let head = hub.engine().head(&thread).await?;
        if !head.epochs.is_empty() {
            return Err(exists(&thread, Seq::ZERO, head.seq));
        }
        let live = hub.live(&thread).await?;
        let lease = LeaseToken(random::hex(16).into());
        let importer = Importer::new(ImportStart {
            thread,
            by: Principal::anonymous(),
            now: clock::now(),
            lease: lease.clone(),
            node: hub.node().clone(),
        });
        Ok(Self {
            hub,
            live,
            importer,
            lease,
            appended: None,
            owned: None,
            stop,
        })
    }

    pub(super) async fn read(&mut self, body: &mut Body) -> Result<Imported, HttpError> {
        let mut unread = Unread::default();
        while let Some(piece) = self.next_piece(body).await? {
            unread.add(&piece);
            while let Some(line) = unread.next_line() {
                self.take_line(&line).await?;
            }
            if unread.len() > EXPORT_LINE_BYTES_MAX {
                return Err(too_long());
            }
        }
        let last = unread.into_rest();
        if !last.is_empty() {
            self.take_line(&last).await?;
        }
        self.importer.finish().map_err(refused)?;
        while let Some(append) = self.importer.next_append() {
            self.append(append).await?;
        }
        let appended = self.appended.clone();
        Ok(Imported {
            thread: self.live.thread().clone(),
            appended: appended.ok_or_else(|| refused_as("the export holds no entries"))?,
        })
    }

    /// The next piece of the body; none at its end. If it does not come at once, what was taken is
    /// appended, and while it does not come the lease is kept alive.
    async fn next_piece(&mut self, body: &mut Body) -> Result<Option<Bytes>, HttpError> {
        match body.frame().now_or_never() {
            Some(None) => return Ok(None),
            Some(Some(frame)) => {
                let frame = frame.map_err(|error| broken_off(&error))?;
                return Ok(Some(frame.into_data().unwrap_or_default()));
            }
            None => {}
        }
        if let Some(append) = self.importer.flush() {
            self.append(append).await?;
        }
        let gives_up = Instant::now() + MORE_WAIT;
        loop {
            let more = timeout(BEAT_EVERY, timeout_at(gives_up, body.frame()));
            let more = self.stop.run_until_cancelled(more).await;
            match more.ok_or_else(stopping)? {
                Ok(Ok(None)) => return Ok(None),
                Ok(Ok(Some(frame))) => {
                    let frame = frame.map_err(|error| broken_off(&error))?;
                    return Ok(Some(frame.into_data().unwrap_or_default()));
                }
                Ok(Err(_)) => {
                    let message = format!("nothing of the body came for {} s", MORE_WAIT.as_secs());
                    let idle = HttpError::new(ErrorCode::BadFrame, message);
                    return Err(idle.with_status(StatusCode::REQUEST_TIMEOUT));
                }
                Err(_) => self.beat().await?,
            }
        }
    }

    async fn take_line(&mut self, line: &[u8]) -> Result<(), HttpError> {
        let line = std::str::from_utf8(line).map_err(|_| refused_as("the body is no UTF-8"))?;
        if line.trim().is_empty() {
            return Ok(());
        }
        self.importer.take(line).map_err(refused)?;
        while let Some(append) = self.importer.next_append() {
            self.append(append).await?;
        }
        Ok(())
    }

    /// Never dropped half way: whoever undoes the import would ask before the append is made.
    async fn append(&mut self, append: Append) -> Result<(), HttpError> {
        if self.stop.is_cancelled() {
            return Err(stopping());
        }
        self.owned.get_or_insert_with(|| self.live.own());
        let appended = self.admitted(append).await?;
        self.importer.appended(&appended);
        self.appended = Some(appended);
        Ok(())
    }

    async fn beat(&self) -> Result<(), HttpError> {
        if let Some(beat) = self.importer.beat() {
            self.admitted(beat).await?;
        }
        Ok(())
    }

    async fn admitted(&self, append: Append) -> Result<Appended, HttpError> {
        let written = append.known.seq;
        match self.live.append(append).await? {
            Outcome::Appended(appended) => Ok(appended),
            Outcome::Refused(refused) => Err(self.lost(&refused, written)),
        }
    }

    /// Somebody else wrote to the thread, or deleted what was imported so far.
    fn lost(&self, refused: &Refused, written: Seq) -> HttpError {
        let (thread, head) = (self.live.thread(), &refused.head);
        let reason = refused.reason;
        tracing::warn!(?reason, found = %head.seq, expected = %written, "import lost its thread");
        if head.epochs.is_empty() {
            let message = format!("thread `{thread}` was deleted while it was imported");
            return HttpError::new(ErrorCode::NotFound, message);
        }
        exists(thread, written, head.seq)
    }

    /// Removes what was appended: half a log is another log. It is there if the import's lease is:
    /// what became of the last append may be unknown.
    pub(super) async fn undo(self) {
        let thread = self.live.thread();
        let undone = async {
            let head = self.hub.engine().head(thread).await?;
            if head.lease.is_some_and(|lease| lease.token == self.lease) {
                let note = delete::note(&Principal::anonymous());
                self.hub.engine().delete(thread, note).await?;
            }
            Ok::<_, EngineError>(())
        };
        if let Err(error) = undone.await {
            tracing::warn!(%error, "half an import was not removed");
        }
    }
}

fn broken_off(error: &axum::Error) -> HttpError {
    refused_as(&format!("it breaks off: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it by value")]
fn refused(error: ImportError) -> HttpError {
    refused_as(&error.to_string())
}

fn refused_as(problem: &str) -> HttpError {
    HttpError::new(
        ErrorCode::BadFrame,
        format!("the body is no export: {problem}"),
    )
}

fn too_long() -> HttpError {
    let message = format!("a line is longer than {EXPORT_LINE_BYTES_MAX} bytes");
    let body = ErrorBody::new(ErrorCode::TooLarge, message);
    body.with_details(json!({ "limit": EXPORT_LINE_BYTES_MAX }))
        .into()
}

fn stopping() -> HttpError {
    HttpError::new(ErrorCode::Unavailable, "the hub stops")
}

#[cfg(test)]
mod tests;
