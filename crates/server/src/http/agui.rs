//! AG-UI as it is: `POST /agents/{agent}/run`, for clients that know nothing of a hub
//! (docs/protocol.md §13.2).
//!
//! The caller is one viewer of the run it starts: the run goes on without it, and everybody else
//! sees the same.

use axum::extract::{Request, State};
use axum::response::Response;
use futures::stream;
use http::Uri;
use http::header::CONTENT_TYPE;
use serde_json::json;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::run_input::RunInput;
use threadcast_hub::decisions::CommandError;
use threadcast_run_registry::decide::{CancelCommand, Command, RunCommand};
use threadcast_thread_log::position::Position;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::error_code::ErrorCode;
use tracing::Instrument;

use super::body::read_json;
use super::errors::HttpError;
use super::event_stream::{self, BrokenOff};
use super::path::Path;
use super::projection::{Projection, ReaderState};
use super::reader::Reader;
use super::router::App;
use super::run_level::{RunLevel, run_level};
use crate::config::OnCallerGone;

/// `GET /agents`.
pub(crate) async fn agents(
    State(app): State<App>,
) -> ([(http::HeaderName, &'static str); 1], String) {
    let agents: Vec<_> = app
        .agents
        .names()
        .map(|name| json!({ "name": name }))
        .collect();
    (
        [(CONTENT_TYPE, "application/json")],
        json!({ "agents": agents }).to_string(),
    )
}

/// `POST /agents/{agent}/run`.
pub(crate) async fn run(
    State(app): State<App>,
    Path(agent): Path<String>,
    uri: Uri,
    request: Request,
) -> Result<Response, HttpError> {
    let Some(agent) = app.agents.find(&agent).cloned() else {
        return Err(HttpError::new(
            ErrorCode::AgentUnknown,
            format!("there is no agent `{agent}`"),
        ));
    };
    let json = read_json(request.into_body(), app.body_bytes_max).await?;
    let input = RunInput::read(json.as_str()).map_err(|error| {
        HttpError::new(
            ErrorCode::BadFrame,
            format!("the body is no run input: {error}"),
        )
    })?;
    let thread = input.thread.clone();
    // A caller without a state holds an empty one.
    let said = input
        .state
        .as_ref()
        .and_then(|state| state.to_value().ok())
        .unwrap_or_else(|| json!({}));
    let reader = Reader::of_caller(&uri, input.protocol_version.as_deref());
    let live = app.hub.live(&thread).await?;
    let accepting = accept(app.clone(), thread, RunCommand { agent, input });
    let accepted = app.tasks.spawn(accepting.in_current_span()).await;
    let Accepted { run, caller } = accepted.map_err(CommandError::from)??;
    let accepted = live.with_fold(|fold| {
        fold.registry()
            .run(&run)
            .map_or_else(|| fold.head(), |run| run.accepted)
    });
    let after = Position {
        epoch: live.epoch_at(accepted),
        seq: accepted,
    };
    let projection = Projection::new(live, &after, reader, ReaderState::Said(said));
    let stream = RunStream {
        projection,
        run,
        caller,
        has_ended: false,
        broken_off: None,
    };
    Ok(event_stream::respond(
        stream::unfold(stream, RunStream::next),
        app.stop,
    ))
}

/// A run that was accepted, and who asked for it.
#[derive(Debug)]
struct Accepted {
    run: RunId,
    caller: Caller,
}

/// Carries a submission out whether or not its caller waits. A caller who went away meanwhile is
/// found gone when nobody takes what this gives.
async fn accept(app: App, thread: ThreadId, command: RunCommand) -> Result<Accepted, CommandError> {
    let on_gone = app.agents.on_caller_gone(&command.agent);
    let answer = app
        .hub
        .command(thread, &Principal::anonymous(), Command::Run(command))
        .await?;
    let on_gone = match on_gone {
        // Who repeats a submission did not start the run and may not end it.
        OnCallerGone::Cancel if answer.duplicate => OnCallerGone::Keep,
        on_gone => on_gone,
    };
    let run = answer.run;
    Ok(Accepted {
        caller: Caller::new(&app, on_gone, answer.thread, run.clone()),
        run,
    })
}

/// The events of one run.
#[derive(Debug)]
struct RunStream {
    projection: Projection,
    run: RunId,
    caller: Caller,
    has_ended: bool,
    /// Told once what was read before it is out.
    broken_off: Option<BrokenOff>,
}

impl RunStream {
    /// What the next entries give, up to the run's end. A late error that follows the end is not
    /// waited for.
    async fn next(mut self) -> Option<(Result<Vec<u8>, BrokenOff>, Self)> {
        let mut block = Vec::new();
        while block.is_empty() {
            if let Some(error) = self.broken_off.take() {
                return Some((Err(error), self));
            }
            if self.has_ended {
                return None;
            }
            self.broken_off = self.write_next(&mut block).await.err();
        }
        Some((Ok(block), self))
    }

    async fn write_next(&mut self, block: &mut Vec<u8>) -> Result<(), BrokenOff> {
        let entries = self.projection.next_entries().await?;
        for entry in &entries {
            if entry.record.run.as_ref() != Some(&self.run) {
                continue;
            }
            let goes_on = self.projection.write(entry, block).await?;
            debug_assert!(goes_on.is_continue(), "one run never ends its stream early");
            if run_level(entry) == Some(RunLevel::Ended) {
                self.has_ended = true;
                self.caller.is_served();
                return Ok(());
            }
        }
        self.projection.heal_when_idle(entries.last(), block);
        Ok(())
    }
}

/// The one who asked for a run, watched for going away where that cancels the run.
#[derive(Debug)]
struct Caller(Option<Watched>);

#[derive(Debug)]
struct Watched {
    app: App,
    thread: ThreadId,
    run: RunId,
}

impl Caller {
    fn new(app: &App, on_gone: OnCallerGone, thread: ThreadId, run: RunId) -> Self {
        match on_gone {
            OnCallerGone::Cancel => Self(Some(Watched {
                app: app.clone(),
                thread,
                run,
            })),
            OnCallerGone::Keep => Self(None),
        }
    }

    /// It saw the run's end.
    fn is_served(&mut self) {
        self.0 = None;
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let Some(Watched { app, thread, run }) = self.0.take() else {
            return;
        };
        if app.stop.is_cancelled() {
            return;
        }
        let hub = app.hub.clone();
        app.tasks.spawn(async move {
            let command = Command::Cancel(CancelCommand {
                run,
                reason: Some("the caller is gone".to_owned()),
            });
            if let Err(error) = hub
                .command(thread.clone(), &Principal::anonymous(), command)
                .await
            {
                tracing::warn!(%thread, %error, "run of a gone caller not cancelled");
            }
        });
    }
}

#[cfg(test)]
mod tests;
