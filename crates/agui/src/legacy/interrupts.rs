//! Interrupts of agents from before 1.0: CUSTOM events named `on_interrupt`, and a run that ends as
//! if nothing had been asked.

use std::collections::HashSet;

use crate::edit::append_member;
use crate::event::{Event, EventBody};
use crate::fields::{self, Fields, Problem, ReadError};
use crate::ids::{InterruptId, SubagentRunId, ToolCallId};
use crate::interrupt::Interrupt;
use crate::json::{DEPTH_MAX, RawJson};
use crate::legacy::minted::Minted;
use crate::scan;
use crate::text::decode_token;
use crate::write::{self, ObjectWriter, string_token};

/// The CUSTOM event that asks.
const NAME: &str = "on_interrupt";

/// The reason of a question that gives none, as the framework that sends such events says it where
/// it has an outcome.
const REASON: &str = "langgraph:interrupt";

/// Deepest value that is taken for JSON: it stands six levels deep in its RUN_FINISHED, and that
/// comes back within frames.
const VALUE_DEPTH_MAX: usize = DEPTH_MAX - 16;

/// Most bytes of the questions of one run: with what else stands in its RUN_FINISHED they are one
/// event.
pub const QUESTIONS_BYTES_MAX: usize = 4 << 20;

/// Gives the RUN_FINISHED of one stream the interrupts that its CUSTOM events asked for.
///
/// The CUSTOM events stay as they are. An agent that sends an outcome has said itself what it asks,
/// so nothing is added then. How an answer goes back is told by [`is_asked_by_event`].
#[derive(Clone, Debug)]
pub struct OnInterrupt {
    ids: Minted,
    taken: HashSet<Box<str>>,
    asked: Vec<RawJson>,
    asked_bytes: usize,
}

impl OnInterrupt {
    /// `prefix` must be unique in the thread, such as the run's id; of a long one the end is used.
    pub fn new(prefix: &str) -> Self {
        Self {
            ids: Minted::new(prefix, "interrupt"),
            taken: HashSet::new(),
            asked: Vec::new(),
            asked_bytes: 0,
        }
    }

    /// Gives every event but such a RUN_FINISHED back as it is; takes it before `rawEvent` is left
    /// out, for the id of the question may stand in it.
    ///
    /// # Errors
    /// The questions of the run are over [`QUESTIONS_BYTES_MAX`].
    pub fn translate(&mut self, event: Event) -> Result<Event, ReadError> {
        match &event.body {
            EventBody::Custom { name, value } if **name == *NAME => {
                let question = Question::read(&event, value);
                self.ask(&question)?;
                Ok(event)
            }
            EventBody::RunFinished { .. } => self.finish(event),
            EventBody::RunStarted { .. } | EventBody::RunError { .. } => {
                self.forget();
                Ok(event)
            }
            _ => Ok(event),
        }
    }

    fn ask(&mut self, question: &Question<'_>) -> Result<(), ReadError> {
        let own = question.own_id().filter(|id| !self.taken.contains(id));
        let id = own.unwrap_or_else(|| self.mint());
        let interrupt = question.interrupt(&id);
        self.taken.insert(id);
        self.asked_bytes += interrupt.as_str().len();
        if self.asked_bytes > QUESTIONS_BYTES_MAX {
            let problem = Problem::TooLong {
                max: QUESTIONS_BYTES_MAX,
                found: self.asked_bytes,
            };
            return Err(ReadError::at("value", problem));
        }
        self.asked.push(interrupt);
        Ok(())
    }

    fn mint(&mut self) -> Box<str> {
        loop {
            let id = self.ids.mint();
            if !self.taken.contains(&id) {
                return id;
            }
        }
    }

    fn finish(&mut self, event: Event) -> Result<Event, ReadError> {
        let asked = self.forget();
        let says_outcome = Fields::of(event.json.as_str())?.value("outcome").is_some();
        if asked.is_empty() || says_outcome {
            return Ok(event);
        }
        let asked: Vec<&str> = asked.iter().map(RawJson::as_str).collect();
        let outcome = format!(
            r#"{{"type":"interrupt","interrupts":[{}]}}"#,
            asked.join(",")
        );
        let json = append_member(event.json.as_str(), "outcome", &outcome);
        Event::from_raw(RawJson::from_trusted(json))
    }

    fn forget(&mut self) -> Vec<RawJson> {
        self.taken.clear();
        self.asked_bytes = 0;
        std::mem::take(&mut self.asked)
    }
}

/// What one CUSTOM event asks.
struct Question<'a> {
    /// The text of a value that is none but text.
    text: Option<Box<str>>,
    /// What the framework was given, as JSON.
    value: RawJson,
    event: &'a Event,
}

impl<'a> Question<'a> {
    /// The value of the event is the text of JSON, bare text, or JSON itself.
    fn read(event: &'a Event, value: &RawJson) -> Self {
        let inside = value
            .as_str()
            .starts_with('"')
            .then(|| decode_token(value.as_str()));
        let parsed = match &inside {
            Some(text) => RawJson::parse_within(text, VALUE_DEPTH_MAX).ok(),
            None => RawJson::parse_within(value.as_str(), VALUE_DEPTH_MAX).ok(),
        };
        let parsed =
            parsed.filter(|json| inside.is_none() || json.as_str().starts_with(['{', '[']));
        let text = match (&parsed, inside) {
            (None, Some(text)) => Some(text.into()),
            _ => None,
        };
        let kept =
            || RawJson::from_trusted(string_token(text.as_deref().unwrap_or(value.as_str())));
        Self {
            value: parsed.unwrap_or_else(kept),
            text,
            event,
        }
    }

    /// The id it came with: that of the framework, with which it matches answers, or one that the
    /// value has.
    fn own_id(&self) -> Option<Box<str>> {
        let own = framework_id(self.event).or_else(|| self.text_member(&["id"]));
        own.filter(|id| InterruptId::new(&**id).is_ok())
    }

    /// The first of these members that the value has and that is not null.
    fn member(&self, names: &[&str]) -> Option<&str> {
        let value = self.value.as_str();
        if !value.starts_with('{') {
            return None;
        }
        let find =
            |name: &&str| scan::members(value).find(|member| decode_token(member.name) == **name);
        let found = names.iter().filter_map(find).map(|member| member.value);
        found.into_iter().find(|value| *value != "null")
    }

    /// The same for a member that holds text.
    fn text_member(&self, names: &[&str]) -> Option<Box<str>> {
        let token = self.member(names).filter(|value| value.starts_with('"'))?;
        Some(decode_token(token).into())
    }

    /// The interrupt that the question is; members of the value that do not fit are left out.
    fn interrupt(&self, id: &str) -> RawJson {
        write::object(|object| {
            object.string("id", id);
            let reason = self.text_member(&["reason"]);
            object.string("reason", reason.as_deref().unwrap_or(REASON));
            let message = self.text.clone().or_else(|| self.text_member(&["message"]));
            object.string_if("message", message.as_deref());
            let call = self.text_member(&["toolCallId", "tool_call_id"]);
            let call = call.filter(|call| ToolCallId::new(&**call).is_ok());
            object.string_if("toolCallId", call.as_deref());
            let schema = self.member(&["responseSchema", "response_schema"]);
            if let Some(schema) = schema.filter(|schema| schema.starts_with('{')) {
                object.raw("responseSchema", schema);
            }
            let expires_at = self.text_member(&["expiresAt", "expires_at"]);
            object.string_if("expiresAt", expires_at.as_deref());
            self.write_mark(object.name("metadata"));
            let owner = self.event.owner.as_ref();
            object.string_if("subagentRunId", owner.map(SubagentRunId::as_str));
        })
    }

    fn write_mark(&self, out: &mut String) {
        let mut metadata = ObjectWriter::begin(out);
        let mut hub = ObjectWriter::begin(metadata.name("threadcast"));
        let mut mark = ObjectWriter::begin(hub.name("onInterrupt"));
        mark.raw("value", self.value.as_str());
        mark.end();
        hub.end();
        metadata.end();
    }
}

/// The id in the framework's native form of the event, where an agent sends that along.
fn framework_id(event: &Event) -> Option<Box<str>> {
    let event = Fields::of(event.json.as_str()).ok()?;
    let native = Fields::of(event.value("rawEvent")?).ok()?;
    let id = fields::tag(&native, "id")?;
    (!id.is_empty()).then(|| id.into())
}

/// Whether an interrupt was asked by a CUSTOM event, as its metadata says, and so is answered by a
/// command; not so one of an agent's own outcome.
pub fn is_asked_by_event(interrupt: &Interrupt) -> bool {
    let metadata = interrupt.metadata.as_ref().map(RawJson::as_str);
    let hub = metadata.and_then(|json| Fields::of(json).ok()?.value("threadcast"));
    hub.and_then(|json| Fields::of(json).ok()?.value("onInterrupt"))
        .is_some()
}
