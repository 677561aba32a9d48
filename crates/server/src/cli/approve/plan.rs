//! From open interrupts and the command's options to an answer for each: pure.
//!
//! Invariant: a plan has one place for every open question, for a resume must cover all of them.

use serde_json::{Value, json};
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::fields::ReadError;
use threadcast_agui::ids::{InterruptId, ToolCallId};
use threadcast_agui::interrupt::{Interrupt, ResumeEntry};
use threadcast_agui::json::RawJson;
use threadcast_agui::text::Escaped;
use threadcast_client::view::InterruptView;

use super::Form;

/// One open interrupt, ready to be asked.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) id: InterruptId,
    pub(super) form: Form,
    pub(super) expired: bool,
    pub(super) call: Option<ToolCallId>,
}

/// What the options ask for.
#[derive(Debug, PartialEq)]
pub(super) enum Wanted {
    Asking,
    Cancelling,
    Payload(Value),
    Rejecting,
}

/// What is sent for one question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Cancelled,
    Resolved(Option<Value>),
}

/// Why the options make no plan.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlanError {
    #[error("--json is no JSON: {0}")]
    NoJson(#[source] serde_json::Error),
    #[error(
        "--json answers several questions, so it must be an object with a payload for each interrupt id"
    )]
    NotByInterrupt,
    #[error("--json holds no payload for interrupt `{id}`")]
    NoPayload { id: InterruptId },
    #[error("the schema of interrupt `{id}` shows no way to say no; use --cancel or --json")]
    NoRejection { id: InterruptId },
    #[error("the thread has no open interrupt `{id}`")]
    Unknown { id: InterruptId },
}

impl Question {
    pub(super) fn of(view: &InterruptView) -> Result<Self, ReadError> {
        let interrupt = Interrupt::read(view.interrupt.as_str())?;
        // A schema that no value can hold is none that could be asked by; the hub has the last
        // word.
        let schema = interrupt
            .response_schema
            .and_then(|schema| schema.to_value().ok());
        Ok(Self {
            id: interrupt.id,
            form: Form::of(schema.as_ref()),
            expired: view.expired,
            call: interrupt.call,
        })
    }

    /// The resume entry of an answer.
    pub(super) fn entry(&self, answer: &Answer) -> Result<ResumeEntry, ReadError> {
        let id = self.id.as_str();
        let entry = match answer {
            Answer::Resolved(Some(payload)) => {
                json!({"interruptId": id, "status": "resolved", "payload": payload})
            }
            Answer::Resolved(None) => json!({"interruptId": id, "status": "resolved"}),
            Answer::Cancelled => json!({"interruptId": id, "status": "cancelled"}),
        };
        ResumeEntry::read(&entry.to_string())
    }
}

impl Wanted {
    pub(super) fn of(json: Option<&str>, reject: bool, cancel: bool) -> Result<Self, PlanError> {
        match json {
            Some(json) => serde_json::from_str(json)
                .map(Self::Payload)
                .map_err(PlanError::NoJson),
            None if cancel => Ok(Self::Cancelling),
            None if reject => Ok(Self::Rejecting),
            None => Ok(Self::Asking),
        }
    }
}

/// What the options say to each question, `None` where a person is to be asked; `only` are those
/// the options are for, all when it is empty.
pub(super) fn plan(
    questions: &[Question],
    wanted: &Wanted,
    only: &[InterruptId],
) -> Result<Vec<Option<Answer>>, PlanError> {
    let is_open = |id: &&InterruptId| questions.iter().any(|question| question.id == **id);
    if let Some(id) = only.iter().find(|id| !is_open(id)) {
        return Err(PlanError::Unknown { id: id.clone() });
    }
    let is_meant = |question: &&Question| only.is_empty() || only.contains(&question.id);
    let meant_count = questions.iter().filter(is_meant).count();
    let answer = |question: &Question| {
        if !is_meant(&question) {
            return Ok(None);
        }
        match wanted {
            Wanted::Asking => Ok(None),
            Wanted::Cancelling => Ok(Some(Answer::Cancelled)),
            Wanted::Payload(payload) => question.payload(payload, meant_count).map(Some),
            Wanted::Rejecting => match question.form.rejection() {
                Some(payload) => Ok(Some(Answer::Resolved(Some(payload)))),
                None => Err(PlanError::NoRejection {
                    id: question.id.clone(),
                }),
            },
        }
    };
    questions.iter().map(answer).collect()
}

impl Question {
    fn payload(&self, given: &Value, meant_count: usize) -> Result<Answer, PlanError> {
        let by_id = given
            .as_object()
            .and_then(|object| object.get(self.id.as_str()));
        let payload = match by_id {
            Some(payload) => payload,
            None if meant_count == 1 => given,
            None if given.is_object() => {
                return Err(PlanError::NoPayload {
                    id: self.id.clone(),
                });
            }
            None => return Err(PlanError::NotByInterrupt),
        };
        Ok(Answer::Resolved(
            Some(payload.clone()).filter(|payload| !payload.is_null()),
        ))
    }
}

/// A tool call as text, from the events of a baseline: what the question is about, in full.
pub(super) fn call_text(events: &[RawJson], id: &ToolCallId) -> Option<String> {
    let mut name = None;
    let mut arguments = Escaped::new();
    for event in events {
        let Ok(event) = Event::from_raw(event.clone()) else {
            continue;
        };
        match event.body {
            EventBody::ToolCallStart {
                call, name: called, ..
            } if call == *id => {
                // A baseline opens calls anew that stand in its messages; they keep their
                // arguments.
                name = Some(called);
            }
            EventBody::ToolCallArgs { call, delta } if call == *id => arguments.push(&delta),
            EventBody::MessagesSnapshot { messages } => {
                let calls = messages.iter().flat_map(|message| message.tool_calls());
                if let Some(call) = calls.into_iter().find(|call| call.id == *id) {
                    name = Some(call.name.clone());
                    arguments = call.arguments.clone();
                }
            }
            _ => {}
        }
    }
    name.map(|name| format!("{name}({})", arguments.decode_lossy()))
}

/// The violations that `payload_invalid` lists, one a line.
pub(super) fn violation_lines(details: Option<&Value>) -> Vec<String> {
    let errors = details
        .and_then(|details| details.get("errors"))
        .and_then(Value::as_array);
    let lines = errors.into_iter().flatten().map(|error| {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        match text("path") {
            "" => text("message").to_owned(),
            path => format!("{path}: {}", text("message")),
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str) -> Question {
        let view = json!({"of": "r1", "interrupt": {"id": id, "reason": "tool_call", "toolCallId": "c1",
            "responseSchema": {"type": "object", "properties": {"approved": {"type": "boolean"}},
            "required": ["approved"]}}});
        Question::of(&serde_json::from_str(&view.to_string()).unwrap()).unwrap()
    }

    fn free(id: &str) -> Question {
        let view = json!({"of": "r1", "interrupt": {"id": id, "reason": "input_required"}});
        Question::of(&serde_json::from_str(&view.to_string()).unwrap()).unwrap()
    }

    #[track_caller]
    fn check(
        questions: &[Question],
        wanted: &Wanted,
        only: &[&str],
        expected: Result<Vec<Option<Answer>>, &str>,
    ) {
        let only: Vec<InterruptId> = only.iter().map(|id| id.parse().unwrap()).collect();
        let planned = plan(questions, wanted, &only).map_err(|error| error.to_string());
        assert_eq!(planned, expected.map_err(str::to_owned));
    }

    fn resolved(payload: Value) -> Option<Answer> {
        Some(Answer::Resolved(Some(payload)))
    }

    #[test]
    fn one_payload_answers_one_question() {
        let payload = Wanted::Payload(json!({"approved": true}));
        check(
            &[question("i1")],
            &payload,
            &[],
            Ok(vec![resolved(json!({"approved": true}))]),
        );
        check(
            &[question("i1"), question("i2")],
            &payload,
            &["i2"],
            Ok(vec![None, resolved(json!({"approved": true}))]),
        );
        check(
            &[question("i1"), question("i2")],
            &payload,
            &[],
            Err("--json holds no payload for interrupt `i1`"),
        );
        check(
            &[question("i1"), question("i2")],
            &Wanted::Payload(json!(true)),
            &[],
            Err(
                "--json answers several questions, so it must be an object with a payload for each interrupt id",
            ),
        );
    }

    #[test]
    fn payloads_by_interrupt_answer_several() {
        let payloads = Wanted::Payload(json!({"i1": {"approved": true}, "i2": null}));
        check(
            &[question("i1"), free("i2")],
            &payloads,
            &[],
            Ok(vec![
                resolved(json!({"approved": true})),
                Some(Answer::Resolved(None)),
            ]),
        );
        check(
            &[question("i1")],
            &payloads,
            &[],
            Ok(vec![resolved(json!({"approved": true}))]),
        );
    }

    #[test]
    fn a_rejection_resolves_and_a_cancellation_gives_up() {
        check(
            &[question("i1")],
            &Wanted::Rejecting,
            &[],
            Ok(vec![resolved(json!({"approved": false}))]),
        );
        check(
            &[free("i1")],
            &Wanted::Rejecting,
            &[],
            Err("the schema of interrupt `i1` shows no way to say no; use --cancel or --json"),
        );
        check(
            &[free("i1")],
            &Wanted::Cancelling,
            &[],
            Ok(vec![Some(Answer::Cancelled)]),
        );
        check(
            &[free("i1")],
            &Wanted::Cancelling,
            &["i9"],
            Err("the thread has no open interrupt `i9`"),
        );
        check(&[free("i1")], &Wanted::Asking, &[], Ok(vec![None]));
    }

    #[test]
    fn entries_are_what_the_contract_describes() {
        let json = |answer: &Answer| question("i1").entry(answer).unwrap().json.to_string();
        assert_eq!(
            json(&Answer::Cancelled),
            r#"{"interruptId":"i1","status":"cancelled"}"#
        );
        assert_eq!(
            json(&Answer::Resolved(None)),
            r#"{"interruptId":"i1","status":"resolved"}"#
        );
        assert_eq!(
            json(&Answer::Resolved(Some(json!(5)))),
            r#"{"interruptId":"i1","status":"resolved","payload":5}"#
        );
    }

    #[test]
    fn the_call_in_question_is_shown_in_full() {
        let snapshot = r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"pay","arguments":"{\"eur\":12}"}}]}]}"#;
        let stream = [
            r#"{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"pay"}"#,
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"eur\":"}"#,
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"12}"}"#,
        ];
        let text = |events: &[&str], id: &str| {
            let events: Vec<RawJson> = events
                .iter()
                .map(|event| RawJson::parse(event).unwrap())
                .collect();
            call_text(&events, &id.parse().unwrap())
        };
        assert_eq!(text(&[snapshot], "c1").unwrap(), r#"pay({"eur":12})"#);
        assert_eq!(
            text(&[snapshot, stream[0]], "c1").unwrap(),
            r#"pay({"eur":12})"#
        );
        assert_eq!(text(&stream, "c1").unwrap(), r#"pay({"eur":12})"#);
        // Begun again in front of the list, which says more than that; what cannot be read says
        // nothing.
        let early = [r#"{"type":"TOOL_CALL_END"}"#, stream[0], snapshot];
        assert_eq!(text(&early, "c1").unwrap(), r#"pay({"eur":12})"#);
        assert_eq!(text(&stream, "c2"), None);
    }

    #[test]
    fn violations_are_listed_with_their_path() {
        let details = json!({"interruptId": "i1", "errors": [
            {"path": "/approved", "message": "1 is no boolean"}, {"path": "", "message": "too many members"}]});
        assert_eq!(
            violation_lines(Some(&details)),
            ["/approved: 1 is no boolean", "too many members"]
        );
        assert!(violation_lines(None).is_empty());
    }
}
