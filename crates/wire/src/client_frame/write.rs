//! Client frame to text.

use serde::Serialize;
use threadcast_thread_log::position::Position;

use super::{ClientFrame, ClientOp, OnBusy, SubscribeStart};
use crate::write::{member, member_raw, push};

impl ClientFrame {
    /// The text of one message.
    pub fn write(&self) -> String {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(b"{\"op\":");
        push(&mut out, self.op.name());
        if let Some(id) = &self.id {
            member(&mut out, "id", id);
        }
        self.op.write_members(&mut out);
        out.push(b'}');
        String::from_utf8(out).expect("frames are written from strings")
    }
}

impl ClientOp {
    /// The op as it is called on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Subscribe { .. } => "subscribe",
            Self::Unsubscribe { .. } => "unsubscribe",
            Self::Run { .. } => "run",
            Self::Resume { .. } => "resume",
            Self::Cancel { .. } => "cancel",
            Self::Status { .. } => "status",
            Self::Ping => "ping",
        }
    }

    fn write_members(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello {
                client,
                heartbeat_ms,
            } => {
                member(out, "client", client);
                member_if(out, "heartbeatMs", heartbeat_ms.as_ref());
            }
            Self::Subscribe { thread, start } => {
                member(out, "threadId", thread);
                write_start(out, start);
            }
            Self::Unsubscribe { thread } => member(out, "threadId", thread),
            Self::Run {
                agent,
                input,
                on_busy: OnBusy::Reject,
            } => {
                member(out, "agent", agent);
                member_raw(out, "input", input.json.as_str());
            }
            Self::Resume {
                thread,
                of,
                run,
                entries,
            } => {
                member(out, "threadId", thread);
                member(out, "of", of);
                member(out, "runId", run);
                let entries: Vec<_> = entries.iter().map(|entry| &entry.json).collect();
                member(out, "resume", &entries);
            }
            Self::Cancel {
                thread,
                run,
                reason,
            } => {
                member(out, "threadId", thread);
                member(out, "runId", run);
                member_if(out, "reason", reason.as_ref());
            }
            Self::Status { thread, run } => {
                member(out, "threadId", thread);
                member_if(out, "runId", run.as_ref());
            }
            Self::Ping => {}
        }
    }
}

fn write_start(out: &mut Vec<u8>, start: &SubscribeStart) {
    match start {
        SubscribeStart::Keep => {}
        SubscribeStart::Snapshot => member(out, "start", "snapshot"),
        SubscribeStart::Log => member(out, "start", "log"),
        SubscribeStart::Tail => member(out, "start", "tail"),
        SubscribeStart::Position(position) => write_position(out, position),
        SubscribeStart::LogAfter(position) => {
            write_position(out, position);
            member(out, "start", "log");
        }
    }
}

fn write_position(out: &mut Vec<u8>, position: &Position) {
    member(out, "epoch", &position.epoch);
    member(out, "after", &position.seq);
}

fn member_if(out: &mut Vec<u8>, name: &str, value: Option<&impl Serialize>) {
    if let Some(value) = value {
        member(out, name, value);
    }
}
