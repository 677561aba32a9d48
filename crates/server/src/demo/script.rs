//! What the demo agent says, and with which pauses.

use std::time::Duration;

use serde_json::{Value, json};
use threadcast_agui::run_input::RunInput;

/// One event, said `pause` after the one before it.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) pause: Duration,
    pub(crate) event: String,
}

/// A run that is being written.
#[derive(Debug)]
pub(crate) struct Script {
    steps: Vec<Step>,
    pause: Duration,
}

const WORD: Duration = Duration::from_millis(40);
const ARGUMENT: Duration = Duration::from_millis(60);

impl Script {
    /// Begins the run that `input` asks for.
    pub(crate) fn start(input: &RunInput) -> Self {
        let mut script = Self {
            steps: Vec::new(),
            pause: Duration::from_millis(150),
        };
        let (thread, run) = (&input.thread, &input.run);
        script.say(&json!({ "type": "RUN_STARTED", "threadId": thread, "runId": run, "protocolVersion": "1.0" }));
        script
    }

    /// Ends the run.
    pub(crate) fn finish(mut self, input: &RunInput, outcome: &Value) -> Self {
        let (thread, run) = (&input.thread, &input.run);
        self.say(&json!({ "type": "RUN_FINISHED", "threadId": thread, "runId": run, "outcome": outcome }));
        self
    }

    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// Lets time pass before what follows.
    pub(crate) fn wait(&mut self, millis: u64) {
        self.pause += Duration::from_millis(millis);
    }

    pub(crate) fn say(&mut self, event: &Value) {
        self.steps.push(Step {
            pause: std::mem::take(&mut self.pause),
            event: event.to_string(),
        });
    }

    /// A whole assistant message, word by word.
    pub(crate) fn text(&mut self, message: &str, text: &str) {
        self.say(
            &json!({ "type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant" }),
        );
        for delta in words(text) {
            self.pause += WORD;
            self.say(
                &json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta }),
            );
        }
        self.say(&json!({ "type": "TEXT_MESSAGE_END", "messageId": message }));
    }

    /// A whole reasoning span with one message, word by word.
    pub(crate) fn reasoning(&mut self, message: &str, text: &str) {
        self.say(&json!({ "type": "REASONING_START", "messageId": message }));
        self.say(&json!({ "type": "REASONING_MESSAGE_START", "messageId": message, "role": "reasoning" }));
        for delta in words(text) {
            self.pause += WORD;
            self.say(&json!({ "type": "REASONING_MESSAGE_CONTENT", "messageId": message, "delta": delta }));
        }
        self.say(&json!({ "type": "REASONING_MESSAGE_END", "messageId": message }));
        self.say(&json!({ "type": "REASONING_END", "messageId": message }));
    }

    /// Tool calls side by side: all begin, their arguments grow in turns, all end.
    pub(crate) fn calls(&mut self, parent: &str, calls: &[(&str, &str, Value)]) {
        for (call, name, _) in calls {
            self.wait(80);
            self.say(&json!({
                "type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": name, "parentMessageId": parent,
            }));
        }
        let arguments: Vec<_> = calls
            .iter()
            .map(|(call, _, arguments)| (call, pieces(arguments)))
            .collect();
        for turn in 0..arguments
            .iter()
            .map(|(_, pieces)| pieces.len())
            .max()
            .unwrap_or(0)
        {
            for (call, pieces) in &arguments {
                if let Some(delta) = pieces.get(turn) {
                    self.pause += ARGUMENT;
                    self.say(
                        &json!({ "type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": delta }),
                    );
                }
            }
        }
        for (call, _, _) in calls {
            self.say(&json!({ "type": "TOOL_CALL_END", "toolCallId": call }));
        }
    }

    /// What a tool gave back.
    pub(crate) fn result(&mut self, call: &str, content: &Value) {
        self.say(&json!({
            "type": "TOOL_CALL_RESULT", "messageId": format!("{call}-result"), "toolCallId": call,
            "content": content.to_string(), "role": "tool",
        }));
    }
}

/// The words of a text, each with the space before it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest[first.len_utf8()..]
            .find(' ')
            .map_or(rest.len(), |at| at + first.len_utf8());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Argument text in pieces, cut where a model would: somewhere.
fn pieces(arguments: &Value) -> Vec<String> {
    let chars: Vec<char> = arguments.to_string().chars().collect();
    chars
        .chunks(9)
        .map(|piece| piece.iter().collect())
        .collect()
}
