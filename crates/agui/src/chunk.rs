//! Turns chunk events into the start, content and end events they stand for.
//!
//! Each subagent invocation, and the parent agent, has a lane, and a lane holds at most one item
//! that is being assembled from chunks. An item ends when another one begins in its lane or when an
//! event of the same owner comes that is not part of it; the end of the stream ends nothing.
//!
//! Invariant: lanes stand in the order in which their items were opened, no owner has two, and no
//! two lanes assemble the same item.

mod item;
mod write;

use crate::event::{Event, EventBody};
use crate::ids::SubagentRunId;
use crate::text::Escaped;

use item::Item;
pub use item::{Conflict, ItemKind};

/// The items that chunks have opened and nothing has closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes(Vec<Lane>);

#[derive(Clone, Debug, PartialEq)]
struct Lane {
    /// Absent is the parent agent.
    owner: Option<SubagentRunId>,
    item: Item,
}

/// An event as it goes into the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    pub event: Event,
    /// Whether expansion wrote it. An item whose start is so marked goes on being assembled.
    pub from_chunk: bool,
}

/// Why a chunk belongs to no item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    #[error("chunk names neither {kind} nor subagent, and {open} subagents have one open")]
    Ambiguous { kind: ItemKind, open: usize },
    #[error("chunk of {kind} `{id}` has {conflict}")]
    Conflict {
        kind: ItemKind,
        id: Box<str>,
        conflict: Conflict,
    },
    #[error("first chunk of a {kind} names no id")]
    NoId { kind: ItemKind },
    #[error("first chunk of tool call `{id}` names no tool")]
    NoToolName { id: Box<str> },
    /// Absent is the parent agent.
    #[error("chunk of {kind} `{id}` is tagged `{found}`, its owner is {}", owner_name(.expected.as_ref()))]
    OtherOwner {
        kind: ItemKind,
        id: Box<str>,
        expected: Option<SubagentRunId>,
        found: SubagentRunId,
    },
}

fn owner_name(owner: Option<&SubagentRunId>) -> String {
    owner.map_or_else(
        || "the parent agent".to_owned(),
        |owner| format!("`{owner}`"),
    )
}

/// What a chunk event says, whatever its kind.
struct Chunk<'a> {
    event: &'a Event,
    kind: ItemKind,
    id: Option<&'a str>,
    delta: Option<&'a Escaped>,
}

impl<'a> Chunk<'a> {
    fn of(event: &'a Event) -> Option<Self> {
        let (kind, id, delta) = match &event.body {
            EventBody::ReasoningMessageChunk { message, delta } => (
                ItemKind::ReasoningMessage,
                message.as_ref().map(AsRef::as_ref),
                delta,
            ),
            EventBody::TextMessageChunk { message, delta, .. } => (
                ItemKind::TextMessage,
                message.as_ref().map(AsRef::as_ref),
                delta,
            ),
            EventBody::ToolCallChunk { call, delta, .. } => {
                (ItemKind::ToolCall, call.as_ref().map(AsRef::as_ref), delta)
            }
            _ => return None,
        };
        Some(Self {
            event,
            kind,
            id,
            delta: delta.as_ref(),
        })
    }
}

impl Lanes {
    /// Whether no item is being assembled.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives `emit` what `event` stands for: the ends of items it closes, then itself or, for a
    /// chunk, the events that it opens and continues an item with.
    ///
    /// # Errors
    /// The chunk belongs to no item; then nothing is emitted and nothing changes.
    pub fn expand(
        &mut self,
        event: Event,
        mut emit: impl FnMut(Expanded),
    ) -> Result<(), ChunkError> {
        if let Some(chunk) = Chunk::of(&event) {
            return self.expand_chunk(&chunk, |event| {
                emit(Expanded {
                    event,
                    from_chunk: true,
                })
            });
        }
        self.close_for(&event, |lane| {
            emit(Expanded {
                event: lane.end(),
                from_chunk: true,
            })
        });
        emit(Expanded {
            event,
            from_chunk: false,
        });
        Ok(())
    }

    /// Takes one event of an expanded log, so that expansion can go on behind it.
    pub fn follow(&mut self, event: &Event, from_chunk: bool) {
        if !from_chunk {
            self.close_for(event, |_| {});
        } else if let Some(item) = Item::started_by(&event.body) {
            self.0.retain(|lane| lane.owner != event.owner);
            self.0.push(Lane {
                owner: event.owner.clone(),
                item,
            });
        } else {
            self.0.retain(|lane| !lane.item.is_ended_by(&event.body));
        }
    }

    /// The starts of the items, in the order in which they were opened: following them, as written
    /// by expansion, leads an empty one here.
    pub fn openings(&self) -> impl Iterator<Item = Event> {
        self.0.iter().map(Lane::opening)
    }

    fn expand_chunk(
        &mut self,
        chunk: &Chunk<'_>,
        mut emit: impl FnMut(Event),
    ) -> Result<(), ChunkError> {
        let at = self.choose(chunk)?;
        let continued = at.filter(|at| self.0[*at].item.is_continued_by(chunk.kind, chunk.id));
        if let Some(at) = continued {
            let lane = &self.0[at];
            lane.item.check_agreement(&chunk.event.body)?;
            lane.continue_with(chunk, &mut emit);
            return Ok(());
        }
        let item = Item::opened_by(chunk)?;
        if let Some(at) = at {
            emit(self.0.remove(at).end());
        }
        // An item opens in the lane of its chunk's own tag: every other choice continues one.
        let lane = Lane {
            owner: chunk.event.owner.clone(),
            item,
        };
        lane.open_with(chunk, &mut emit);
        self.0.push(lane);
        Ok(())
    }

    /// The lane a chunk belongs to, if something is open there.
    fn choose(&self, chunk: &Chunk<'_>) -> Result<Option<usize>, ChunkError> {
        let tag = chunk.event.owner.as_ref();
        let lane_of = |owner: Option<&SubagentRunId>| {
            self.0.iter().position(|lane| lane.owner.as_ref() == owner)
        };
        if let Some(id) = chunk.id {
            let holder = self.0.iter().position(|lane| lane.item.is(chunk.kind, id));
            let Some(holder) = holder else {
                return Ok(lane_of(tag));
            };
            let expected = &self.0[holder].owner;
            return match tag {
                Some(found) if expected.as_ref() != tag => Err(ChunkError::OtherOwner {
                    kind: chunk.kind,
                    id: id.into(),
                    expected: expected.clone(),
                    found: found.clone(),
                }),
                _ => Ok(Some(holder)),
            };
        }
        if tag.is_some() {
            return Ok(lane_of(tag));
        }
        let parent = lane_of(None);
        if parent.is_some_and(|at| self.0[at].item.kind() == chunk.kind) {
            return Ok(parent);
        }
        let mut open = self
            .0
            .iter()
            .enumerate()
            .filter(|(_, lane)| lane.item.kind() == chunk.kind);
        match (open.next(), open.count()) {
            (None, _) => Ok(parent),
            (Some((at, _)), 0) => Ok(Some(at)),
            (Some(_), more) => Err(ChunkError::Ambiguous {
                kind: chunk.kind,
                open: more + 1,
            }),
        }
    }

    fn close_for(&mut self, event: &Event, mut close: impl FnMut(&Lane)) {
        if self.0.is_empty() {
            return;
        }
        let closes = closes(&event.body);
        self.0.retain(|lane| {
            let is_closed = match closes {
                Closes::Every => true,
                Closes::None => false,
                Closes::OwnersLane => lane.owner == event.owner,
            };
            if is_closed {
                close(lane);
            }
            !is_closed
        });
    }
}

/// Which lanes an event ends that is no chunk.
#[derive(Clone, Copy)]
enum Closes {
    Every,
    None,
    OwnersLane,
}

fn closes(body: &EventBody) -> Closes {
    match body {
        EventBody::MessagesSnapshot { .. }
        | EventBody::RunError { .. }
        | EventBody::RunFinished { .. }
        | EventBody::RunStarted { .. } => Closes::Every,
        EventBody::Custom { .. }
        | EventBody::ReasoningEnd { .. }
        | EventBody::ReasoningMessageContent { .. }
        | EventBody::ReasoningMessageEnd { .. }
        | EventBody::ReasoningMessageStart { .. }
        | EventBody::ReasoningStart { .. }
        | EventBody::StateDelta { .. }
        | EventBody::StateSnapshot { .. }
        | EventBody::StepFinished { .. }
        | EventBody::StepStarted { .. }
        // The owner of a subagent's own events is the invocation itself.
        | EventBody::SubagentError { .. }
        | EventBody::SubagentFinished { .. }
        | EventBody::TextMessageContent { .. }
        | EventBody::TextMessageEnd { .. }
        | EventBody::TextMessageStart { .. }
        | EventBody::ToolCallArgs { .. }
        | EventBody::ToolCallEnd { .. }
        | EventBody::ToolCallResult { .. }
        | EventBody::ToolCallStart { .. } => Closes::OwnersLane,
        EventBody::ActivityDelta { .. }
        | EventBody::ActivitySnapshot { .. }
        | EventBody::Raw { .. }
        | EventBody::ReasoningEncryptedValue { .. }
        | EventBody::SubagentStarted { .. }
        | EventBody::Unknown { .. } => Closes::None,
        // Chunks close by opening; expansion leaves none behind.
        EventBody::ReasoningMessageChunk { .. }
        | EventBody::TextMessageChunk { .. }
        | EventBody::ToolCallChunk { .. } => Closes::None,
    }
}

#[cfg(test)]
mod tests;
