//! Version 1: all but the messages as one object, then the messages, each on a line of its own.

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
    let mut lines = text.split('\n');
    let stored = lines.next().unwrap_or_default();
    let stored: Stored = serde_json::from_str(stored).map_err(CheckpointError::unreadable)?;
    let seq = Seq::new(stored.seq.get())
        .filter(|seq| stored.versions.control.max(stored.versions.state) <= *seq)
        .ok_or_else(|| CheckpointError::unreadable("a version is beyond its head"))?;
    let found = text.bytes().filter(|byte| *byte == b'\n').count();
    if found != stored.messages {
        let problem = format_args!("{found} messages are there, it says {}", stored.messages);
        return Err(CheckpointError::unreadable(problem));
    }
    let state = stored.state.to_value();
    let conversation = Conversation::of(
        lines.map(message),
        found,
        state.map_err(CheckpointError::unreadable)?,
        stored.runs.read()?,
        stored.verifier.read()?,
    )?;
    let registry = stored.registry.read(seq)?;
    let parts = (conversation, registry, lanes(stored.lanes)?);
    Ok(Fold::of(
        thread,
        Position { epoch, seq },
        stored.versions,
        parts,
    ))
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
