//! What a request has to wait for: the engine, or a decision.
//!
//! None of it touches the session; what it came to is taken in by the session's own task.

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::decide::Command;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::principal::Principal;
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
    /// The thread that is to be subscribed, and of its log enough to judge the position.
    Subscribe {
        start: SubscribeStart,
        found: Result<LiveThread, EngineError>,
    },
}

pub(super) async fn find(hub: Hub, thread: ThreadId, start: SubscribeStart) -> Finished {
    let found = async {
        let live = hub.live(&thread).await?;
        if let SubscribeStart::Position(position) | SubscribeStart::LogAfter(position) = &start {
            live.verdict(position).await?;
        }
        Ok(live)
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
    let id = id.as_ref();
    let answer = match run {
        Some(run) => hub.live(&thread).await.map(|live| {
            let answer = live.with_fold(|fold| view::run_answer(fold, run));
            ok(id, &answer)
        }),
        None => hub
            .thread_answer(&thread)
            .await
            .map(|answer| ok(id, &answer)),
    };
    Finished::Answer(answer.unwrap_or_else(|failure| error(id, &engine_error_body(&failure))))
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
