//! What a request has to wait for: the engine, or a decision.
//!
//! None of it touches the session; what it came to is taken in by the session's own task.

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::decide::Command;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Position, PositionVerdict};
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;
use threadcast_wire::answer::{RunAnswer, ThreadAnswer};
use threadcast_wire::client_frame::{RequestId, SubscribeStart};
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::hub_frame::{write_error, write_ok};

use crate::decisions::engine_error_body;
use crate::frame::push_frame;
use crate::hub::Hub;
use crate::live_thread::LiveThread;
use crate::view;

/// What came of a request that had to wait for something.
pub(super) enum Finished {
    /// Complete frames, or none.
    Answer(Vec<u8>),
    Subscribe {
        start: SubscribeStart,
        found: Result<Found, EngineError>,
    },
}

/// The thread that is to be subscribed.
pub(super) struct Found {
    pub(super) live: LiveThread,
    /// What the position is worth, if one was given.
    pub(super) verdict: Option<PositionVerdict>,
}

pub(super) async fn find(hub: Hub, thread: ThreadId, start: SubscribeStart) -> Finished {
    let found = async {
        let live = hub.live(&thread).await?;
        let verdict = match &start {
            SubscribeStart::Position(position) => Some(live.verdict(position).await?),
            SubscribeStart::Keep
            | SubscribeStart::Log
            | SubscribeStart::Snapshot
            | SubscribeStart::Tail => None,
        };
        Ok(Found { live, verdict })
    };
    let found = found.await;
    Finished::Subscribe { start, found }
}

pub(super) async fn status(
    hub: Hub,
    thread: ThreadId,
    run: Option<RunId>,
    id: Option<RequestId>,
) -> Finished {
    let answer = hub.live(&thread).await.map(|live| {
        live.with_fold(|fold| {
            let Position { epoch, seq } = fold.position().clone();
            match run {
                Some(run) => {
                    let found = view::run_view(fold, &run);
                    let status = found.as_ref().map_or(RunStatus::Unknown, |run| run.status);
                    ok(
                        id.as_ref(),
                        &RunAnswer {
                            thread,
                            id: run,
                            epoch,
                            seq,
                            status,
                            run: found,
                        },
                    )
                }
                None => {
                    let view = view::thread_view(fold);
                    ok(
                        id.as_ref(),
                        &ThreadAnswer {
                            id: thread,
                            epoch,
                            seq,
                            status: view.status,
                            thread: view,
                        },
                    )
                }
            }
        })
    });
    Finished::Answer(
        answer.unwrap_or_else(|failure| error(id.as_ref(), &engine_error_body(&failure))),
    )
}

pub(super) async fn carry_out(
    hub: Hub,
    thread: ThreadId,
    by: Principal,
    command: Command,
    id: Option<RequestId>,
) -> Finished {
    Finished::Answer(match hub.command(thread, &by, command).await {
        Ok(answer) => ok(id.as_ref(), &answer),
        Err(refused) => error(id.as_ref(), &refused.to_body()),
    })
}

fn ok(id: Option<&RequestId>, answer: &impl serde::Serialize) -> Vec<u8> {
    let mut frame = Vec::new();
    if let Some(id) = id {
        push_frame(&mut frame, |out| write_ok(out, id, answer));
    }
    frame
}

fn error(id: Option<&RequestId>, error: &ErrorBody) -> Vec<u8> {
    let mut frame = Vec::new();
    push_frame(&mut frame, |out| write_error(out, id, error));
    frame
}
