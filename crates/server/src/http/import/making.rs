//! A thread that is being made of the lines of an export.
//!
//! Invariant: until the log is whole it is this import's alone, by its lease; so what there is of it
//! can be removed.

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
use threadcast_thread_log::engine::{Append, Appended, Durability, Guard, Outcome, RefusedReason};
use threadcast_thread_log::lease::{LeaseChange, LeaseToken};
use threadcast_thread_log::principal::Principal;
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use tokio::time::{Instant, timeout, timeout_at};

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
    /// Whether the log may be whole, and free for others.
    may_be_whole: bool,
    /// While it lives, nobody takes the thread for one whose owner is gone.
    _owned: Owned,
}

impl Import {
    pub(super) async fn begin(hub: Hub, thread: ThreadId) -> Result<Self, HttpError> {
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
            _owned: live.own(),
            hub,
            live,
            importer,
            lease,
            appended: None,
            may_be_whole: false,
        })
    }

    pub(super) async fn read(&mut self, body: &mut Body) -> Result<Imported, HttpError> {
        let mut unread = Vec::new();
        while let Some(piece) = self.next_piece(body).await? {
            unread.extend_from_slice(&piece);
            self.take_lines(&mut unread).await?;
            if unread.len() > EXPORT_LINE_BYTES_MAX {
                return Err(too_long());
            }
        }
        if !unread.is_empty() {
            self.take_line(&unread).await?;
        }
        self.importer.finish().map_err(refused)?;
        self.may_be_whole = true;
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
            match timeout(BEAT_EVERY, timeout_at(gives_up, body.frame())).await {
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

    /// Takes the whole lines in `unread`, and appends all of them.
    async fn take_lines(&mut self, unread: &mut Vec<u8>) -> Result<(), HttpError> {
        let mut taken = 0;
        while let Some(length) = unread[taken..].iter().position(|byte| *byte == b'\n') {
            self.take_line(&unread[taken..taken + length]).await?;
            taken += length + 1;
        }
        unread.drain(..taken);
        Ok(())
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

    async fn append(&mut self, append: Append) -> Result<(), HttpError> {
        match self.live.append(append).await? {
            Outcome::Appended(appended) => {
                self.importer.appended(&appended);
                self.appended = Some(appended);
                Ok(())
            }
            Outcome::Refused(refused) if self.appended.is_none() => {
                Err(exists(self.live.thread(), &refused.head))
            }
            Outcome::Refused(refused) => Err(self.lost(refused.reason)),
        }
    }

    /// Somebody deleted what was imported so far.
    fn lost(&mut self, reason: RefusedReason) -> HttpError {
        tracing::warn!(?reason, "import lost its thread");
        self.appended = None;
        let thread = self.live.thread();
        let message = format!("thread `{thread}` was deleted while it was imported");
        HttpError::new(ErrorCode::NotFound, message)
    }

    async fn beat(&mut self) -> Result<(), HttpError> {
        if self.appended.is_none() {
            return Ok(());
        }
        let beat = Append {
            thread: self.live.thread().clone(),
            known: self.live.head(),
            may_create: false,
            guard: Guard {
                lease: Some(self.lease.clone()),
                ..Guard::default()
            },
            lease: LeaseChange::Renew,
            source: None,
            entries: Vec::new(),
            record: None,
            durability: Durability::Held,
        };
        match self.live.append(beat).await? {
            Outcome::Appended(_) => Ok(()),
            Outcome::Refused(refused) => Err(self.lost(refused.reason)),
        }
    }

    /// Removes what was appended: half a log is another log.
    pub(super) async fn undo(self) {
        if self.appended.is_none() || self.may_be_whole {
            return;
        }
        let thread = self.live.thread();
        let note = delete::note(&Principal::anonymous());
        if let Err(error) = self.hub.engine().delete(thread, note).await {
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
