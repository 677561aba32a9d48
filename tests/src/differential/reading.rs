//! What the hub makes of a stream, and how far that is to be compared.

use std::collections::HashSet;

use threadcast_agui::event::{Event, EventBody, Outcome};
use threadcast_agui::ids::ToolCallId;
use threadcast_agui::message::Message;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::stream_judge::{Broken, StreamJudge};
use threadcast_run_registry::verify::Rule;

/// Rules that AG-UI states and its published client does not check, see `docs/protocol.md` §14.7.
pub const UNCHECKED: [Rule; 4] = [
    Rule::InterruptIdRepeated,
    Rule::RunIdMismatch,
    Rule::RunIdRepeated,
    Rule::ThreadIdMismatch,
];

/// What the hub makes of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// How many events are to be compared.
    pub compared: usize,
    pub stop: Stop,
    /// JSON text of what is held there, as `tests/node/differential.mjs` takes it.
    pub held: String,
}

/// Why a comparison goes no further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// All events are legal.
    End,
    /// The event of this index breaks a rule, which is compared.
    Broken { index: usize, rule: Rule },
    /// The next event breaks an [`UNCHECKED`] rule.
    Unchecked(Rule),
    /// The next event is a delta that applies for the client alone.
    Stricter,
    /// A list has restated several messages of one id, which the client holds as one object from
    /// then on.
    OneObject,
}

impl Stop {
    /// The index of the offending event, as both are to find it.
    #[must_use]
    pub fn broken(self) -> Option<usize> {
        match self {
            Self::Broken { index, .. } => Some(index),
            Self::End | Self::Unchecked(_) | Self::Stricter | Self::OneObject => None,
        }
    }
}

/// How far a stream is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Until {
    /// Where the two are known to part.
    Parting,
    /// The end, or an event that breaks a rule.
    End,
}

/// Reads a stream as the hub reads an agent's.
#[must_use]
pub fn read(events: &[String], until: Until) -> Reading {
    let mut judge = StreamJudge::new();
    let mut pending = Vec::new();
    let (compared, stop) = take_all(&mut judge, events, until, &mut pending);
    let pending = serde_json::to_string(&pending).unwrap();
    Reading {
        compared,
        stop,
        held: held(&judge, &pending),
    }
}

fn take_all(
    judge: &mut StreamJudge,
    events: &[String],
    until: Until,
    pending: &mut Vec<Vec<ToolCallId>>,
) -> (usize, Stop) {
    for (index, event) in events.iter().enumerate() {
        if until == Until::Parting && is_stricter(judge.conversation(), event) {
            return (index, Stop::Stricter);
        }
        let taken = match judge.take(event) {
            Ok(taken) => taken,
            Err(broken) if until == Until::Parting && UNCHECKED.contains(&broken.rule) => {
                return (index, Stop::Unchecked(broken.rule));
            }
            Err(Broken { rule, .. }) => return (events.len(), Stop::Broken { index, rule }),
        };
        for one in taken {
            match &one.event.body {
                EventBody::RunFinished {
                    outcome: Outcome::Success { .. },
                    ..
                } => pending.push(judge.conversation().pending_tool_calls()),
                EventBody::MessagesSnapshot { messages }
                    if until == Until::Parting && is_one_object(judge.conversation(), messages) =>
                {
                    return (index + 1, Stop::OneObject);
                }
                _ => {}
            }
        }
    }
    (events.len(), Stop::End)
}

/// Whether the hub refuses a delta that the client applies, or may apply.
fn is_stricter(held: &Conversation, event: &str) -> bool {
    if !event.contains("_DELTA") {
        return false;
    }
    let failure = match Event::read(event).map(|event| event.body) {
        Ok(EventBody::StateDelta { delta }) => held.clone().patch_state(&delta).err(),
        Ok(EventBody::ActivityDelta { message, patch, .. }) => {
            held.activity_failure(&message, &patch)
        }
        _ => None,
    };
    failure.is_some_and(|failure| failure.is_stricter)
}

/// Whether several of the held messages are the same one of the list.
fn is_one_object(held: &Conversation, list: &[Message]) -> bool {
    let restated: HashSet<_> = list.iter().map(|message| &message.id).collect();
    let mut seen = HashSet::new();
    let mut ids = held.messages().map(|message| &message.id);
    ids.any(|id| restated.contains(id) && !seen.insert(id))
}

fn held(judge: &StreamJudge, pending: &str) -> String {
    let conversation = judge.conversation();
    let messages: Vec<_> = conversation
        .messages()
        .map(|message| message.to_json().to_string())
        .collect();
    let interrupts: Vec<_> = conversation
        .pending_interrupts()
        .iter()
        .map(|interrupt| interrupt.json.as_str())
        .collect();
    format!(
        r#"{{"messages":[{}],"state":{},"pendingInterrupts":[{}],"pending":{pending}}}"#,
        messages.join(","),
        conversation.state(),
        interrupts.join(",")
    )
}
