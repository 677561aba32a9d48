//! Events that add text to an item: most of every log, so they are read without a copy.

use std::borrow::Cow;

use threadcast_agui::json::{self, RawJson};

use crate::compaction::slot::Slot;
use crate::compaction::written;
use crate::event_bounds::EVENT_BYTES_MAX;

/// At least as long as an event without its values.
const FRAME_BYTES: usize = 128;

/// What text is added to. Ids are unique within a kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeltaKind {
    Arguments,
    Reasoning,
    Text,
}

impl DeltaKind {
    fn of(event_type: &str) -> Option<Self> {
        Some(match event_type {
            "\"TEXT_MESSAGE_CONTENT\"" => Self::Text,
            "\"TOOL_CALL_ARGS\"" => Self::Arguments,
            "\"REASONING_MESSAGE_CONTENT\"" => Self::Reasoning,
            _ => return None,
        })
    }

    fn event_type(self) -> &'static str {
        match self {
            Self::Arguments => "TOOL_CALL_ARGS",
            Self::Reasoning => "REASONING_MESSAGE_CONTENT",
            Self::Text => "TEXT_MESSAGE_CONTENT",
        }
    }

    fn id_name(self) -> &'static str {
        match self {
            Self::Arguments => "toolCallId",
            Self::Reasoning | Self::Text => "messageId",
        }
    }
}

/// One such event that holds nothing but what AG-UI describes; values as they stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delta<'a> {
    pub(super) kind: DeltaKind,
    id: &'a str,
    /// Without its quotes.
    text: &'a str,
    timestamp: Option<&'a str>,
    metadata: Option<&'a str>,
    owner: Option<&'a str>,
}

impl<'a> Delta<'a> {
    /// The event with the id of its item; `None` is an event of another type, one that holds more,
    /// or one that is not written the usual way.
    pub(super) fn read(json: &'a RawJson) -> Option<(Cow<'a, str>, Self)> {
        let (mut event_type, mut message, mut call, mut text) = (None, None, None, None);
        let (mut timestamp, mut metadata, mut owner) = (None, None, None);
        for (name, value) in json::members(json.as_str()) {
            match name.as_ref() {
                "type" => event_type = Some(DeltaKind::of(value)?),
                "messageId" => message = Some(string(value)?),
                "toolCallId" => call = Some(string(value)?),
                "delta" => text = Some(value.strip_prefix('"')?.strip_suffix('"')?),
                "timestamp" => timestamp = Some(number(value)?),
                "metadata" => metadata = Some(object(value)?),
                "subagentRunId" => owner = Some(string(value)?),
                _ => return None,
            }
        }
        let kind = event_type?;
        let id = match (kind, message, call) {
            (DeltaKind::Arguments, None, Some(id)) => id,
            (DeltaKind::Reasoning | DeltaKind::Text, Some(id), None) => id,
            _ => return None,
        };
        let delta = Self {
            kind,
            id,
            text: text?,
            timestamp,
            metadata,
            owner,
        };
        Some((decoded(id)?, delta))
    }

    /// Length of its values.
    fn bytes(&self) -> usize {
        let others = [self.timestamp, self.owner].into_iter().flatten();
        self.id.len() + others.map(str::len).sum::<usize>() + self.added_bytes()
    }

    /// Length of what it adds to an earlier one.
    fn added_bytes(&self) -> usize {
        self.text.len() + self.metadata.map_or(0, str::len)
    }
}

fn decoded(token: &str) -> Option<Cow<'_, str>> {
    if token.contains('\\') {
        serde_json::from_str(token).ok().map(Cow::Owned)
    } else {
        token.get(1..token.len() - 1).map(Cow::Borrowed)
    }
}

fn string(value: &str) -> Option<&str> {
    value.starts_with('"').then_some(value)
}

fn object(value: &str) -> Option<&str> {
    value.starts_with('{').then_some(value)
}

/// Which one was judged when the event was read first.
fn number(value: &str) -> Option<&str> {
    value
        .starts_with(|first: char| first == '-' || first.is_ascii_digit())
        .then_some(value)
}

/// Deltas of one item that become one, in the place of the first.
#[derive(Debug)]
pub(super) struct DeltaJoin<'a> {
    slot: usize,
    first: Delta<'a>,
    later: Vec<Delta<'a>>,
    /// At least the length of the merged event.
    bytes: usize,
}

impl<'a> DeltaJoin<'a> {
    pub(super) fn new(slot: usize, first: Delta<'a>) -> Self {
        Self {
            slot,
            first,
            later: Vec::new(),
            bytes: FRAME_BYTES + first.bytes(),
        }
    }

    pub(super) fn first_slot(&self) -> usize {
        self.slot
    }

    /// Whether `delta` says the same of whose item it is, and there is room for it.
    pub(super) fn takes(&self, delta: &Delta<'a>) -> bool {
        self.first.kind == delta.kind
            && self.first.owner == delta.owner
            && self.bytes + delta.added_bytes() <= EVENT_BYTES_MAX
    }

    pub(super) fn push(&mut self, delta: Delta<'a>) {
        self.bytes += delta.added_bytes();
        self.later.push(delta);
    }

    pub(super) fn finish(self, slots: &mut [Slot]) {
        if self.later.is_empty() {
            return;
        }
        let all = || std::iter::once(&self.first).chain(&self.later);
        let mut text =
            String::with_capacity(all().map(|delta| delta.text.len()).sum::<usize>() + 2);
        text.push('"');
        text.extend(all().map(|delta| delta.text));
        text.push('"');
        let metadata = written::metadata(all().filter_map(|delta| delta.metadata));
        let Delta {
            kind,
            id,
            timestamp,
            owner,
            ..
        } = self.first;
        slots[self.slot] = Slot::Made(written::event(
            kind.event_type(),
            &[
                (kind.id_name(), Some(id)),
                ("delta", Some(&text)),
                ("timestamp", timestamp),
                ("metadata", metadata.as_deref()),
                ("subagentRunId", owner),
            ],
        ));
    }
}
