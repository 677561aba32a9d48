//! Legal histories as they stand in a log: expanded, and within what a snapshot can tell.

use serde_json::{Value, json};
use threadcast_agui::event::{Event, EventBody};

use crate::conversation::Conversation;
use crate::histories::writer::{Writer, spelled};
use crate::verify::Expected;

/// The events of a random thread with a few runs; the last one may be open.
pub fn history(seed: u64) -> Vec<Event> {
    let mut author = Author {
        writer: Writer::new(seed),
        conversation: Conversation::new(),
        events: Vec::new(),
    };
    let runs = 1 + author.writer.random.below(3);
    for run in 1..=runs {
        author.write_run(run, run == runs);
    }
    author.events
}

/// The types of `events`, for a look at what histories hold.
pub fn type_names(events: &[Event]) -> impl Iterator<Item = String> {
    events.iter().map(|event| match &event.body {
        EventBody::Unknown { .. } => "unknown".to_owned(),
        _ => event.type_name().to_owned(),
    })
}

struct Author {
    writer: Writer,
    conversation: Conversation,
    events: Vec<Event>,
}

impl Author {
    fn write_run(&mut self, run: usize, is_last: bool) {
        let started = self.writer.run_started(run);
        assert!(self.propose(&started), "a run may start");
        for _ in 0..self.writer.random.below(16) {
            let proposal = self.writer.some_event(&self.conversation);
            self.propose(&proposal);
        }
        if is_last && self.writer.random.one_in(2) {
            return;
        }
        if self.writer.random.one_in(5) {
            self.propose(&json!({"type": "RUN_ERROR", "message": "broke", "code": "E"}));
            return;
        }
        for end in self.writer.ends() {
            self.propose(&end);
        }
        let outcome = self.writer.some_outcome();
        assert!(self.propose(&outcome), "everything is closed");
        if self.writer.random.one_in(8) {
            self.propose(&json!({"type": "RUN_ERROR", "message": "late"}));
        }
    }

    /// Keeps the event if it is legal now.
    fn propose(&mut self, proposal: &Value) -> bool {
        let event = Event::read(&spelled(proposal)).expect("proposals are events");
        let run = format!("r{}", self.writer.run).parse().expect("an id");
        let expected = Expected {
            thread: "t".parse().expect("an id"),
            run,
        };
        let judged = self.conversation.verifier().judge(&event, &expected);
        let is_legal = judged.is_ok() && !self.is_left_out(&event);
        if is_legal {
            self.conversation.apply(&event);
            self.events.push(event);
        }
        is_legal
    }

    /// What a snapshot cannot tell, see `docs/protocol.md`: a call that is begun only after it was
    /// answered, repeated ids of messages in a run that restates its messages, and calls of a
    /// message that an activity takes the place of.
    fn is_left_out(&self, event: &Event) -> bool {
        let run = self.events.iter().rev();
        let mut run = run.take_while(|event| !matches!(event.body, EventBody::RunStarted { .. }));
        match &event.body {
            EventBody::ToolCallStart { call, .. } => {
                let is_first = |event: &&Event| match &event.body {
                    EventBody::ToolCallStart { call: started, .. } => started == call,
                    EventBody::ToolCallResult { call: answered, .. } => answered == call,
                    _ => false,
                };
                let first = run.filter(is_first).last();
                first.is_some_and(|first| matches!(first.body, EventBody::ToolCallResult { .. }))
            }
            EventBody::ToolCallResult { message, .. } => {
                self.conversation.message(message).is_some()
                    && run.any(|event| matches!(event.body, EventBody::MessagesSnapshot { .. }))
            }
            EventBody::ActivitySnapshot { message, .. } => {
                let message = self.conversation.message(message);
                message.is_some_and(|message| !message.tool_calls().is_empty())
            }
            _ => false,
        }
    }
}
