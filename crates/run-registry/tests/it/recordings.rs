//! Recorded runs of published agents fold to what the published client made of them.

use std::path::Path;

use serde_json::{Value, json};
use threadcast_agui::chunk::Lanes;
use threadcast_agui::event::{Event, EventBody, RunStartedInput};
use threadcast_agui::make;
use threadcast_agui::message::Message;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::snapshot::snapshot;
use threadcast_run_registry::verify::Expected;

use crate::support::{fixtures, messages};

#[test]
fn recorded_runs_fold_to_what_the_client_held() {
    let mut folded = 0;
    for path in fixtures::files("recordings", ".jsonl") {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        // The strictness table holds no runs; the aborted run ends where its client stopped
        // reading.
        if name.starts_with("agui-") && !name.contains("strictness") && !name.contains("abort") {
            check(&path);
            folded += 1;
        }
    }
    assert!(folded >= 15, "{folded} recordings");
}

fn check(path: &Path) {
    let lines: Vec<Value> = fixtures::read(path)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut conversation = Conversation::new();
    let requests = lines
        .iter()
        .filter(|line| line["t"] == "req" && line["body"].is_object());
    // What the client said of each stream it read; a refusal of its own has no new messages.
    let mut told = lines
        .iter()
        .filter(|line| line["t"] == "client" && line["value"]["newMessages"].is_array());
    for request in requests {
        let body = body_of(&lines, &request["n"]);
        if body.is_empty() {
            continue;
        }
        fold_response(&mut conversation, &request["body"], &body, path);
        let new = &told.next().unwrap()["value"]["newMessages"];
        assert_verdict(&conversation, &request["body"], new, path);
    }
    assert!(
        told.next().is_none(),
        "{}: a run is missing",
        path.display()
    );
    let is_final = |line: &&Value| line["t"] == "client" && line["what"] == "final";
    let Some(expected) = lines.iter().rev().find(is_final) else {
        panic!("{}: no result", path.display())
    };
    let expected = &expected["value"];
    assert_eq!(
        messages(&conversation),
        expected["messages"],
        "{}",
        path.display()
    );
    assert_eq!(
        conversation.state(),
        &expected["state"],
        "{}",
        path.display()
    );
    let interrupts = conversation.pending_interrupts().iter();
    let interrupts: Vec<_> = interrupts
        .map(|interrupt| interrupt.json.to_value().unwrap())
        .collect();
    assert_eq!(
        json!(interrupts),
        expected["pendingInterrupts"],
        "{}",
        path.display()
    );
}

fn body_of(lines: &[Value], n: &Value) -> String {
    let blocks = lines
        .iter()
        .filter(|line| line["t"] == "sse" && line["n"] == *n);
    blocks.map(|line| line["raw"].as_str().unwrap()).collect()
}

/// The client took the stream for whole, and these messages were new to it.
fn assert_verdict(conversation: &Conversation, input: &Value, new: &Value, path: &Path) {
    let open = conversation.verifier().active_run();
    assert_eq!(open, None, "{} stops inside a run", path.display());
    let sent = input["messages"].as_array().unwrap();
    let is_new = |message: &Value| sent.iter().all(|sent| sent["id"] != message["id"]);
    let mut found = messages(conversation);
    found.as_array_mut().unwrap().retain(is_new);
    assert_eq!(&found, new, "{}", path.display());
}

/// The client closed the connection: what it held is the beginning of what came.
#[test]
fn an_aborted_run_was_legal_as_far_as_its_client_read() {
    let path = fixtures::folder("recordings").join("agui-pydantic-abort.jsonl");
    let lines: Vec<Value> = fixtures::read(&path)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let request = lines.iter().find(|line| line["t"] == "req").unwrap();
    let mut conversation = Conversation::new();
    let body = body_of(&lines, &request["n"]);
    fold_response(&mut conversation, &request["body"], &body, &path);
    assert!(conversation.verifier().active_run().is_some());
    let held = &lines.last().unwrap()["value"]["messages"];
    let (found, held) = (&messages(&conversation)[1], &held[1]);
    assert_eq!(found["id"], held["id"]);
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    assert!(text(found).starts_with(&text(held)), "{found} and {held}");
}

/// As the hub does: the run's new messages come with its RUN_STARTED, chunks are expanded,
/// everything is judged.
fn fold_response(conversation: &mut Conversation, input: &Value, body: &str, path: &Path) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (thread, run) = (
        text(&input["threadId"]).parse().unwrap(),
        text(&input["runId"]).parse().unwrap(),
    );
    let expected = Expected { thread, run };
    let mut lanes = Lanes::default();
    for block in body.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let mut event = Event::read(block.trim().strip_prefix("data: ").unwrap()).unwrap();
        if matches!(event.body, EventBody::RunStarted { .. }) {
            let new = new_messages(conversation, input);
            event = make::run_started_with_input(
                &event,
                RunStartedInput::new(&expected.thread, &expected.run, new),
            );
        }
        let mut expanded = Vec::new();
        lanes.expand(event, |one| expanded.push(one.event)).unwrap();
        for event in &expanded {
            if let Err(violation) = conversation.verifier().judge(event, &expected) {
                panic!("{}: {} breaks {violation}", path.display(), event.json);
            }
            conversation.apply(event);
            let mut joined = Conversation::new();
            snapshot(conversation)
                .iter()
                .for_each(|event| joined.apply(event));
            assert_eq!(
                messages(&joined),
                messages(conversation),
                "{} at {}",
                path.display(),
                event.json
            );
            assert_eq!(
                joined.state(),
                conversation.state(),
                "{} at {}",
                path.display(),
                event.json
            );
        }
    }
}

fn new_messages(conversation: &Conversation, input: &Value) -> Vec<Message> {
    let messages = input["messages"].as_array().unwrap().iter();
    let messages = messages.filter_map(|message| Message::read(&message.to_string()).unwrap());
    messages
        .filter(|message| conversation.message(&message.id).is_none())
        .collect()
}
