use serde_json::{Value, json};
use threadcast_agui::event::Event;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::verify::Expected;

use super::*;

fn input(value: &Value) -> RunInput {
    RunInput::read(&value.to_string()).unwrap()
}

fn asking(text: &str) -> RunInput {
    let message = json!({ "id": "u1", "role": "user", "content": text });
    input(&json!({ "threadId": "t", "runId": "r1", "messages": [message], "state": {} }))
}

/// Plays a script into a conversation, checking every event as an agent's is.
fn play(conversation: &mut Conversation, input: &RunInput) {
    for step in script(input).into_steps() {
        let event = Event::read(&step.event).unwrap();
        let (thread, run) = (
            ThreadId::new("t").unwrap(),
            RunId::new(input.run.as_str()).unwrap(),
        );
        let expected = Expected { thread, run };
        if let Err(violation) = conversation.verifier().judge(&event, &expected) {
            panic!("{violation:?}: {}", step.event);
        }
        conversation.apply(&event);
    }
}

/// The run that follows `conversation` with this resume entry.
fn resuming(conversation: &Conversation, entry: &Value) -> RunInput {
    let mut messages = String::new();
    for message in conversation.messages() {
        messages.push_str(if messages.is_empty() { "[" } else { "," });
        message.write(&mut messages);
    }
    let messages: Value = serde_json::from_str(&format!("{messages}]")).unwrap();
    input(&json!({
        "threadId": "t", "runId": "r2", "messages": messages, "state": conversation.state(), "resume": [entry],
    }))
}

fn asked(text: &str) -> Conversation {
    let mut conversation = Conversation::new();
    play(&mut conversation, &asking(text));
    conversation
}

/// Asks, answers with `entry`, and gives the conversation at the end.
fn answered(entry: &mut Value) -> Conversation {
    let mut conversation = asked("Refund order 1042");
    entry["interruptId"] = json!(conversation.pending_interrupts()[0].id.as_str());
    let resume = resuming(&conversation, entry);
    play(&mut conversation, &resume);
    conversation
}

fn resolved(payload: &Value) -> Conversation {
    answered(&mut json!({ "status": "resolved", "payload": payload }))
}

fn last_text(conversation: &Conversation) -> String {
    let mut out = String::new();
    conversation.messages().last().unwrap().write(&mut out);
    out
}

#[test]
fn the_asking_run_ends_with_a_question_about_its_call() {
    let conversation = asked("Refund order 1042");
    let [interrupt] = conversation.pending_interrupts() else {
        panic!("one question")
    };
    let schema = interrupt
        .response_schema
        .as_ref()
        .unwrap()
        .to_value()
        .unwrap();
    assert_eq!(schema["required"], json!(["approved"]));
    assert_eq!(
        conversation.state()["refund"]["status"],
        "waiting for approval"
    );
    assert_eq!(conversation.state()["order"]["id"], 1042);
    assert_eq!(
        conversation.pending_tool_calls(),
        [interrupt.call.clone().unwrap()]
    );
}

#[test]
fn each_answer_has_its_own_end() {
    let paid = resolved(&json!({ "approved": true }));
    assert_eq!(paid.state()["refund"]["status"], "paid");
    assert!(paid.pending_interrupts().is_empty());

    let edited = resolved(&json!({ "approved": true, "amount": 5, "reason": "half" }));
    assert_eq!(edited.state()["refund"]["amount"], json!(5.0));
    assert!(
        last_text(&edited).contains("half"),
        "{}",
        last_text(&edited)
    );

    let rejected = resolved(&json!({ "approved": false, "reason": "too late" }));
    assert_eq!(rejected.state()["refund"]["status"], "rejected");

    let withdrawn = answered(&mut json!({ "status": "cancelled" }));
    assert_eq!(withdrawn.state()["refund"]["status"], "cancelled");
}

#[test]
fn any_input_gives_a_valid_run() {
    for text in [
        "",
        "hi",
        "Where is it?!",
        "refund 999999",
        "ü🙂 \u{2028} \"quoted\"\n two",
    ] {
        asked(text);
    }
    let lost = json!({ "interruptId": "int-x", "status": "resolved", "payload": [1] });
    let resume =
        json!({ "threadId": "t", "runId": "r", "messages": [], "state": [1], "resume": [lost] });
    play(&mut Conversation::new(), &input(&resume));
}

#[test]
fn the_same_run_says_the_same() {
    let say = || {
        script(&asking("Refund order 1042"))
            .into_steps()
            .into_iter()
            .map(|step| step.event)
            .collect::<Vec<_>>()
    };
    assert_eq!(say(), say());
    assert_ne!(
        say(),
        script(&asking("Hello?"))
            .into_steps()
            .into_iter()
            .map(|step| step.event)
            .collect::<Vec<_>>()
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_takes_seconds_unless_it_is_instant() {
    for (speed, seconds) in [(DemoSpeed::default(), 3..10), (DemoSpeed::INSTANT, 0..1)] {
        let asking = asking("Refund order 1042");
        let mut stream = DemoStream::start(asking.json.as_str(), speed).unwrap();
        let start = Instant::now();
        while stream.next().await.is_some() {}
        assert!(
            seconds.contains(&start.elapsed().as_secs()),
            "{:?} at {speed:?}",
            start.elapsed()
        );
    }
}
