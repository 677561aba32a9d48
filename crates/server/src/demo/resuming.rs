//! The run that takes a person's word and acts on it.

use serde_json::{Value, json};
use threadcast_agui::interrupt::{ResumeEntry, ResumeStatus};
use threadcast_agui::message::{Message, MessageBody};
use threadcast_agui::run_input::RunInput;

use super::asking::REFUND_TOOL;
use super::case::id_prefix;
use super::script::Script;

/// What the person decided.
#[derive(Debug)]
enum Word {
    Approved {
        amount: Option<f64>,
        reason: Option<String>,
    },
    GivenUp,
    Rejected {
        reason: Option<String>,
    },
}

/// The refund that was proposed, as the conversation holds it.
#[derive(Debug)]
struct Proposed {
    call: String,
    order: Value,
    amount: f64,
}

pub(crate) fn script(input: &RunInput) -> Script {
    let word = input.resume.first().map_or(Word::GivenUp, Word::of);
    let id = id_prefix(input);
    let mut script = Script::start(input);
    script.wait(200);
    let Some(proposed) = Proposed::in_messages(&input.messages) else {
        script.text(
            &format!("say-{id}-1"),
            "I cannot find the refund this answer is about, so nothing was paid.",
        );
        return script.finish(input, &json!({ "type": "success" }));
    };
    let outcome = Outcome::of(&word, &proposed);
    script.say(&json!({ "type": "STEP_STARTED", "stepName": "settle" }));
    script.wait(500);
    script.result(&proposed.call, &outcome.result);
    script.say(&state_change(input, &outcome.refund));
    script.say(&json!({ "type": "STEP_FINISHED", "stepName": "settle" }));
    script.text(&format!("say-{id}-1"), &outcome.text);
    script.finish(input, &json!({ "type": "success" }))
}

impl Word {
    fn of(entry: &ResumeEntry) -> Self {
        if entry.status == ResumeStatus::Cancelled {
            return Self::GivenUp;
        }
        let payload = entry
            .payload
            .as_ref()
            .and_then(|payload| payload.to_value().ok())
            .unwrap_or_default();
        let reason = payload["reason"]
            .as_str()
            .filter(|reason| !reason.is_empty())
            .map(str::to_owned);
        match payload["approved"].as_bool() {
            Some(true) => Self::Approved {
                amount: payload["amount"].as_f64(),
                reason,
            },
            _ => Self::Rejected { reason },
        }
    }
}

impl Proposed {
    /// The latest call of the refund tool.
    fn in_messages(messages: &[Message]) -> Option<Self> {
        let calls = messages
            .iter()
            .rev()
            .filter_map(|message| match &message.body {
                MessageBody::Assistant {
                    tool_calls: Some(calls),
                    ..
                } => Some(calls),
                _ => None,
            });
        let call = calls.flatten().find(|call| &*call.name == REFUND_TOOL)?;
        let arguments: Value = serde_json::from_str(&call.arguments.decode_lossy()).ok()?;
        Some(Self {
            call: call.id.as_str().to_owned(),
            order: arguments["orderId"].clone(),
            amount: arguments["amount"].as_f64()?,
        })
    }
}

/// What follows from a word.
#[derive(Debug)]
struct Outcome {
    /// What the refund tool gave back.
    result: Value,
    /// The refund as shared state shows it.
    refund: Value,
    text: String,
}

impl Outcome {
    fn of(word: &Word, proposed: &Proposed) -> Self {
        let Proposed { order, amount, .. } = proposed;
        match word {
            Word::Approved {
                amount: edited,
                reason,
            } => {
                let paid = edited.unwrap_or(*amount);
                let part = if paid < *amount {
                    format!(" of the {amount:.2} EUR")
                } else {
                    String::new()
                };
                Self {
                    result: json!({ "paid": paid, "orderId": order }),
                    refund: json!({ "status": "paid", "amount": paid }),
                    text: format!(
                        "Done: {paid:.2} EUR{part} for order {order} are on their way{}. It takes two to three days.",
                        because(reason.as_ref()),
                    ),
                }
            }
            Word::GivenUp => Self {
                result: json!({ "paid": 0, "cancelled": true }),
                refund: json!({ "status": "cancelled" }),
                text: format!(
                    "The question was withdrawn, so I leave order {order} as it is. Just ask again any time."
                ),
            },
            Word::Rejected { reason } => Self {
                result: json!({ "paid": 0, "rejected": true }),
                refund: json!({ "status": "rejected" }),
                text: format!(
                    "My colleague did not approve the refund for order {order}{}. I can offer a replacement instead.",
                    because(reason.as_ref()),
                ),
            },
        }
    }
}

fn because(reason: Option<&String>) -> String {
    reason.map_or_else(String::new, |reason| format!(" (\u{201c}{reason}\u{201d})"))
}

/// A delta where the shared state can take one, else the whole.
fn state_change(input: &RunInput, refund: &Value) -> Value {
    let state = input.state.as_ref().and_then(|state| state.to_value().ok());
    if state.is_some_and(|state| state.is_object()) {
        json!({ "type": "STATE_DELTA", "delta": [{ "op": "add", "path": "/refund", "value": refund }] })
    } else {
        json!({ "type": "STATE_SNAPSHOT", "snapshot": { "refund": refund } })
    }
}
