//! Hub frames to bytes, appended to a buffer of the caller.

use serde::Serialize;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::{Epoch, Position, Seq};

use super::{ResetReason, Subscribed, Welcome};
use crate::client_frame::RequestId;
use crate::error_body::ErrorBody;
use crate::error_code::ErrorCode;
use crate::view::ThreadView;
use crate::write::{member, member_raw, members_of};

/// A thread's id as it stands in its frames: escaped once, not for every entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadTag(Box<str>);

impl ThreadTag {
    /// The tag of `thread`.
    pub fn new(thread: &ThreadId) -> Self {
        let mut out = Vec::with_capacity(thread.as_str().len() + 16);
        member(&mut out, "threadId", thread);
        Self(String::from_utf8(out).expect("an id is a string").into())
    }
}

/// Begins a frame: `{"op":"…","threadId":"…"`.
fn begin(out: &mut Vec<u8>, op: &str, thread: &ThreadTag) {
    begin_op(out, op);
    out.extend_from_slice(thread.0.as_bytes());
}

fn begin_op(out: &mut Vec<u8>, op: &str) {
    out.extend_from_slice(b"{\"op\":\"");
    out.extend_from_slice(op.as_bytes());
    out.push(b'"');
}

/// What an entry's frame is long beside thread id and body, at most.
const ENTRY_FRAME_BYTES: usize = 96;

fn write_entry(out: &mut Vec<u8>, op: &str, thread: &ThreadTag, seq: Seq, at: Millis, body: &str) {
    out.reserve(thread.0.len() + body.len() + ENTRY_FRAME_BYTES);
    begin(out, op, thread);
    member(out, "seq", &seq);
    member(out, "at", &at);
    member_raw(out, op, body);
    out.push(b'}');
}

/// One AG-UI event, its bytes as they stand in the log.
pub fn write_event(out: &mut Vec<u8>, thread: &ThreadTag, seq: Seq, at: Millis, event: &RawJson) {
    write_entry(out, "event", thread, seq, at, event.as_str());
}

/// The public part of a fact.
pub fn write_fact(out: &mut Vec<u8>, thread: &ThreadTag, seq: Seq, at: Millis, fact: &RawJson) {
    write_entry(out, "fact", thread, seq, at, fact.as_str());
}

/// Events that stand for the entries `from` to `seq` together.
pub fn write_events<'a>(
    out: &mut Vec<u8>,
    thread: &ThreadTag,
    from: Seq,
    seq: Seq,
    events: impl IntoIterator<Item = &'a RawJson>,
    view: Option<&ThreadView>,
) {
    let write =
        |out: &mut Vec<u8>, event: &RawJson| out.extend_from_slice(event.as_str().as_bytes());
    write_events_by(out, thread, (from, seq), events, write, view);
}

/// The same with events that write themselves.
pub fn write_events_by<T>(
    out: &mut Vec<u8>,
    thread: &ThreadTag,
    (from, seq): (Seq, Seq),
    events: impl IntoIterator<Item = T>,
    write: impl Fn(&mut Vec<u8>, T),
    view: Option<&ThreadView>,
) {
    begin(out, "events", thread);
    member(out, "from", &from);
    member(out, "seq", &seq);
    out.extend_from_slice(b",\"events\":[");
    for (at, event) in events.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(out, event);
    }
    out.push(b']');
    if let Some(view) = view {
        member(out, "thread", view);
    }
    out.push(b'}');
}

/// A piece of a longer frame; `n` counts from 1.
pub fn write_part(out: &mut Vec<u8>, thread: &ThreadTag, n: u64, last: bool, text: &str) {
    begin(out, "part", thread);
    member(out, "n", &n);
    if last {
        member(out, "last", &true);
    }
    member(out, "text", text);
    out.push(b'}');
}

/// Entries after `seq` belong to `epoch`.
pub fn write_epoch(out: &mut Vec<u8>, thread: &ThreadTag, epoch: &Epoch, seq: Seq) {
    begin(out, "epoch", thread);
    member(out, "epoch", epoch);
    member(out, "seq", &seq);
    out.push(b'}');
}

/// What the client holds of the thread is void; a `subscribed` and a baseline follow. `head` is
/// where the log stands.
pub fn write_reset(out: &mut Vec<u8>, thread: &ThreadTag, head: &Position, reason: ResetReason) {
    begin(out, "reset", thread);
    member(out, "epoch", &head.epoch);
    member(out, "seq", &head.seq);
    member(out, "reason", reason.as_str());
    out.push(b'}');
}

/// The beginning of a subscription.
pub fn write_subscribed(out: &mut Vec<u8>, subscribed: &Subscribed) {
    begin_op(out, "subscribed");
    if let Some(id) = &subscribed.id {
        member(out, "id", id);
    }
    member(out, "threadId", &subscribed.thread);
    member(out, "epoch", &subscribed.head.epoch);
    member(out, "seq", &subscribed.head.seq);
    member(out, "mode", &subscribed.mode);
    if let Some(reason) = &subscribed.reason {
        member(out, "reason", reason);
    }
    out.push(b'}');
}

/// The hub ended the subscription.
pub fn write_unsubscribed(out: &mut Vec<u8>, thread: &ThreadTag, code: ErrorCode, message: &str) {
    begin(out, "unsubscribed", thread);
    member(out, "code", &code);
    member(out, "message", message);
    out.push(b'}');
}

/// The answer to a request that was served; `answer` is one of [`crate::answer`].
pub fn write_ok(out: &mut Vec<u8>, id: &RequestId, answer: &impl Serialize) {
    begin_op(out, "ok");
    member(out, "id", id);
    members_of(out, answer);
    out.push(b'}');
}

/// The answer to a request that was not served, or (without `id`) to something that was none.
pub fn write_error(out: &mut Vec<u8>, id: Option<&RequestId>, error: &ErrorBody) {
    begin_op(out, "error");
    if let Some(id) = id {
        member(out, "id", id);
    }
    members_of(out, error);
    out.push(b'}');
}

/// The first frame of a connection.
pub fn write_welcome(out: &mut Vec<u8>, welcome: &Welcome) {
    begin_op(out, "welcome");
    members_of(out, welcome);
    out.push(b'}');
}

/// This node is going away.
pub fn write_draining(out: &mut Vec<u8>, reconnect_after_ms: u64) {
    begin_op(out, "draining");
    member(out, "reconnectAfterMs", &reconnect_after_ms);
    out.push(b'}');
}
