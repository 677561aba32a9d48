//! Text to client frame.

use serde::Deserialize;
use serde_json::value::RawValue;
use threadcast_agui::fields::{INTEGER_MAX, Problem, ReadError};
use threadcast_agui::ids::ID_BYTES_MAX;
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::json::{JsonError, RawJson};
use threadcast_agui::run_input::RunInput;
use threadcast_thread_log::position::{Epoch, Position};

use super::{
    ClientFrame, ClientName, ClientOp, FrameError, FrameProblem, OnBusy, RequestId, SubscribeStart,
};
use crate::limits::{AGENT_NAME_BYTES_MAX, REASON_BYTES_MAX};
use crate::members::{self, Members};

impl ClientFrame {
    /// Reads one text message.
    ///
    /// # Errors
    /// The text is no JSON object, nested deeper than 64, repeats a member name, lacks a member,
    /// has one of another type, or asks for an op this version does not serve.
    pub fn read(text: &str) -> Result<Self, FrameError> {
        let json = RawJson::parse(text).map_err(|error| unreadable(text, error))?;
        let frame = members::object(json.as_str()).map_err(|error| {
            let problem = match error.problem {
                Problem::WrongType { found, .. } => FrameProblem::NotAnObject { found },
                _ => error.into(),
            };
            FrameError { id: None, problem }
        })?;
        let id = frame
            .read_if("id", request_id)
            .map_err(|error| FrameError {
                id: None,
                problem: error.into(),
            })?;
        match op(&frame) {
            Ok(op) => Ok(Self { id, op }),
            Err(problem) => Err(FrameError { id, problem }),
        }
    }
}

/// The refusal of text that is malformed JSON or breaks a rule of the frame as a whole.
fn unreadable(text: &str, error: JsonError) -> FrameError {
    #[derive(Deserialize)]
    struct Outline<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    // A frame that is too deep or repeats some name deep inside still tells which request it was.
    let id = serde_json::from_str::<Outline<'_>>(text)
        .ok()
        .and_then(|outline| outline.id);
    let id = id.and_then(|id| request_id(id.get()).ok());
    FrameError {
        id,
        problem: FrameProblem::Json(error),
    }
}

fn op(frame: &Members<'_>) -> Result<ClientOp, FrameProblem> {
    let op = frame.read("op", members::string)?;
    match &*op {
        "hello" => hello(frame),
        "subscribe" => subscribe(frame),
        "unsubscribe" => Ok(ClientOp::Unsubscribe {
            thread: frame.read("threadId", members::thread)?,
        }),
        "run" => run(frame),
        "resume" => resume(frame),
        "cancel" => cancel(frame),
        "status" => Ok(ClientOp::Status {
            thread: frame.read("threadId", members::thread)?,
            run: frame.read_if("runId", members::run)?,
        }),
        "ping" => Ok(ClientOp::Ping),
        _ => Err(FrameProblem::UnknownOp {
            op: shortened(&op).into(),
        }),
    }
}

fn hello(frame: &Members<'_>) -> Result<ClientOp, FrameProblem> {
    let client = frame.read("client", |json| {
        let client = members::object(json)?;
        Ok(ClientName {
            name: client.read("name", |json| members::name(json, "client name"))?,
            version: client.read("version", |json| members::name(json, "client version"))?,
        })
    })?;
    let heartbeat_ms = frame.read_if("heartbeatMs", |json| members::count(json, 1))?;
    Ok(ClientOp::Hello {
        client,
        heartbeat_ms,
    })
}

fn subscribe(frame: &Members<'_>) -> Result<ClientOp, FrameProblem> {
    const STARTS: &[&str] = &["snapshot", "log", "tail"];
    let thread = frame.read("threadId", members::thread)?;
    let after = frame.read_if("after", members::seq)?;
    let epoch = frame.read_if("epoch", |json| {
        members::string(json).map(|epoch| Epoch::new(&*epoch))
    })?;
    let start = frame.read_if("start", |json| {
        let found = members::string(json)?;
        let start = STARTS.iter().copied().find(|start| *start == &*found);
        start.ok_or_else(|| {
            ReadError::new(Problem::NotOneOf {
                allowed: STARTS,
                found: shortened(&found).into(),
            })
        })
    })?;
    let start = match (after, epoch, start) {
        (Some(seq), Some(epoch), None) => SubscribeStart::Position(Position { epoch, seq }),
        (Some(seq), Some(epoch), Some("log")) => SubscribeStart::LogAfter(Position { epoch, seq }),
        (Some(_), Some(_), Some(found)) => return Err(FrameProblem::StartAndPosition { found }),
        (Some(_), None, _) => return Err(FrameProblem::HalfPosition { found: "after" }),
        (None, Some(_), _) => return Err(FrameProblem::HalfPosition { found: "epoch" }),
        (None, None, Some("log")) => SubscribeStart::Log,
        (None, None, Some("tail")) => SubscribeStart::Tail,
        (None, None, Some(_)) => SubscribeStart::Snapshot,
        (None, None, None) => SubscribeStart::Keep,
    };
    Ok(ClientOp::Subscribe { thread, start })
}

fn run(frame: &Members<'_>) -> Result<ClientOp, FrameProblem> {
    let agent = frame.read("agent", |json| members::name(json, "agent name"))?;
    if agent.len() > AGENT_NAME_BYTES_MAX {
        return Err(FrameProblem::AgentNameTooLong { found: agent.len() });
    }
    let on_busy = frame.read_if("onBusy", members::string)?;
    let on_busy = match on_busy.as_deref() {
        None | Some("reject") => OnBusy::Reject,
        Some(found @ ("queue" | "cancel")) => {
            return Err(FrameProblem::OnBusyNotServed {
                found: found.into(),
            });
        }
        Some(found) => {
            let problem = Problem::NotOneOf {
                allowed: &["reject"],
                found: shortened(found).into(),
            };
            return Err(ReadError {
                at: "onBusy".to_owned(),
                problem,
            }
            .into());
        }
    };
    let input = frame.read("input", RunInput::read)?;
    Ok(ClientOp::Run {
        agent,
        input,
        on_busy,
    })
}

fn resume(frame: &Members<'_>) -> Result<ClientOp, FrameProblem> {
    let thread = frame.read("threadId", members::thread)?;
    let of = frame.read("of", members::run)?;
    let run = frame.read("runId", members::run)?;
    let entries = frame.read("resume", |json| {
        let entries = members::array(json)?.into_iter().enumerate();
        let read = |(at, entry)| {
            ResumeEntry::read(entry).map_err(|error| members::under(&format!("[{at}]"), error))
        };
        entries.map(read).collect()
    })?;
    Ok(ClientOp::Resume {
        thread,
        of,
        run,
        entries,
    })
}

fn cancel(frame: &Members<'_>) -> Result<ClientOp, FrameProblem> {
    let thread = frame.read("threadId", members::thread)?;
    let run = frame.read("runId", members::run)?;
    let reason = frame.read_if("reason", members::string)?.map(String::from);
    match &reason {
        Some(reason) if reason.len() > REASON_BYTES_MAX => Err(FrameProblem::ReasonTooLong {
            found: reason.len(),
        }),
        _ => Ok(ClientOp::Cancel {
            thread,
            run,
            reason,
        }),
    }
}

/// A request's name.
pub(crate) fn request_id(json: &str) -> Result<RequestId, ReadError> {
    if json.starts_with('"') {
        return members::name(json, "request id").map(|id| RequestId::Text(id.into()));
    }
    match members::kind(json) {
        "a number" => members::integer(json, -INTEGER_MAX).map(RequestId::Number),
        found => Err(members::wrong("a string or an integer", found)),
    }
}

/// What an error repeats of a client's text.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(ID_BYTES_MAX)]
}
