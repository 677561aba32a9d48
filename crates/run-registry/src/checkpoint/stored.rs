//! Version 1: all but the messages as one object, then the messages, each on a line of its own.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

use serde::{Deserialize, Serialize};
use threadcast_agui::chunk::Lanes;
use threadcast_agui::event::Event;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_agui::message::Message;
use threadcast_thread_log::engine::Versions;
use threadcast_thread_log::position::{Epoch, Position, Seq};

use crate::checkpoint::CheckpointError;
use crate::checkpoint::conversation::{StoredRuns, StoredVerifier};
use crate::checkpoint::registry::StoredRegistry;
use crate::conversation::Conversation;
use crate::fold::Fold;

/// Threads that read one checkpoint, and bytes of messages that are worth one.
const READERS_MAX: usize = 4;
const READER_BYTES: usize = 256 << 10;

/// All of a fold but its messages.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stored {
    seq: Seq,
    versions: Versions,
    /// How many messages follow.
    messages: usize,
    state: RawJson,
    runs: StoredRuns,
    verifier: StoredVerifier,
    registry: StoredRegistry,
    /// The starts of the items that chunks have opened.
    lanes: Vec<RawJson>,
}

pub(super) fn write(fold: &Fold, text: &mut String) {
    let conversation = fold.conversation();
    let stored = Stored {
        seq: fold.head(),
        versions: fold.versions(),
        messages: conversation.messages().count(),
        state: RawJson::from_value(conversation.state()),
        runs: StoredRuns::of(conversation.runs()),
        verifier: StoredVerifier::of(conversation.verifier()),
        registry: StoredRegistry::of(fold.registry()),
        lanes: fold.lanes().openings().map(|event| event.json).collect(),
    };
    let json = serde_json::to_string(&stored).expect("ids, numbers and raw JSON are JSON");
    text.reserve(json.len() + conversation.messages_bytes());
    text.push_str(&json);
    for message in conversation.messages() {
        text.push('\n');
        message.write(text);
    }
}

pub(super) fn read(text: &str, thread: ThreadId, epoch: Epoch) -> Result<Fold, CheckpointError> {
    let (stored, lines) = match text.split_once('\n') {
        Some((stored, lines)) => (stored, lines.split('\n').collect()),
        None => (text, Vec::new()),
    };
    let stored: Stored = serde_json::from_str(stored).map_err(CheckpointError::unreadable)?;
    let seq = Seq::new(stored.seq.get())
        .filter(|seq| stored.versions.control.max(stored.versions.state) <= *seq)
        .ok_or_else(|| CheckpointError::unreadable("a version is beyond its head"))?;
    let found = lines.len();
    if found != stored.messages {
        let problem = format_args!("{found} messages are there, it says {}", stored.messages);
        return Err(CheckpointError::unreadable(problem));
    }
    let state = stored.state.to_value();
    let conversation = Conversation::of(
        messages(&lines)?,
        state.map_err(CheckpointError::unreadable)?,
        stored.runs.read()?,
        stored.verifier.read()?,
    );
    let registry = stored.registry.read(seq)?;
    let parts = (conversation, registry, lanes(stored.lanes)?);
    Ok(Fold::of(
        thread,
        Position { epoch, seq },
        stored.versions,
        parts,
    ))
}

/// The messages of these lines, read by several threads if there is much to read: somebody waits for
/// the thread to open.
fn messages(lines: &[&str]) -> Result<Vec<Message>, CheckpointError> {
    let bytes: usize = lines.iter().map(|line| line.len()).sum();
    let readers = thread::available_parallelism().map_or(1, NonZero::get);
    let readers = readers.min(READERS_MAX).min(bytes / READER_BYTES).max(1);
    let read =
        |lines: &[&str]| -> Result<Vec<_>, _> { lines.iter().map(|line| message(line)).collect() };
    let mut parts = lines.chunks(lines.len().div_ceil(readers).max(1));
    let own = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(move || read(part))).collect();
        let mut messages = read(own)?;
        for other in others {
            let read = other.join().unwrap_or_else(|panic| resume_unwind(panic));
            messages.append(&mut read?);
        }
        Ok(messages)
    })
}

fn message(line: &str) -> Result<Message, CheckpointError> {
    Message::read(line)
        .map_err(CheckpointError::unreadable)?
        .ok_or_else(|| CheckpointError::unreadable("a message has no role that is known"))
}

fn lanes(openings: Vec<RawJson>) -> Result<Lanes, CheckpointError> {
    let mut lanes = Lanes::default();
    for json in openings {
        lanes.follow(&event(json)?, true);
    }
    Ok(lanes)
}

/// An event that stood in the log, or that the hub made of one.
pub(super) fn event(json: RawJson) -> Result<Event, CheckpointError> {
    Event::from_raw(json).map_err(CheckpointError::unreadable)
}
