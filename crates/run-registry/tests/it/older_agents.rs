//! Agents that ask by CUSTOM events, and the way back of the answers.

use serde_json::{Value, json};
use threadcast_run_registry::decide::Refusal;
use threadcast_run_registry::request::{agent_request, sources};
use threadcast_thread_log::run_status::RunStatus;

use crate::owner::failure;
use crate::world::{World, cancel, finished, plain_resume, resume, run, run_id, started};

/// A question whose id the agent's native form gives, if it is given one.
fn asks_by_event(id: &str, value: &Value) -> String {
    let native = json!({ "id": id, "value": value });
    json!({ "type": "CUSTOM", "name": "on_interrupt", "value": value, "rawEvent": native })
        .to_string()
}

/// A thread whose run `r1` asked so.
fn asked(questions: &[String]) -> World {
    let mut world = World::new();
    let props = r#""forwardedProps":{"token":"anns"},"tools":[]"#;
    world.accepts("ann", &run("r1", props), "r1");
    let mut lines = vec![started("r1")];
    lines.extend_from_slice(questions);
    lines.push(finished("r1"));
    world.play("r1", &lines);
    world
}

fn body(world: &World, run: &str) -> Value {
    let sources = sources(&world.fold, &run_id(run)).unwrap();
    let entry =
        |seq: threadcast_thread_log::position::Seq| &world.log.entries[seq.get() as usize - 1];
    let request = agent_request(
        world.fold.thread(),
        world.fold.conversation(),
        entry(sources.accepted),
        sources.inherits.map(entry),
        &sources.asked,
    );
    serde_json::from_str(&request.unwrap().body).unwrap()
}

#[test]
fn what_was_asked_by_events_is_open_and_the_events_stay() {
    let question = asks_by_event("9f", &json!("Sure?"));
    let world = asked(std::slice::from_ref(&question));
    assert_eq!(world.status("r1"), RunStatus::Interrupted);
    assert_eq!(world.open(), ["9f"]);
    let events = world.log.events();
    assert_eq!(
        events[1], r#"{"type":"CUSTOM","name":"on_interrupt","value":"Sure?"}"#,
        "but for the native form, which is not kept"
    );
    assert!(
        world.log.fold().registry().interrupts().has_open(),
        "the log alone says so"
    );
}

#[test]
fn answers_go_as_a_command_whoever_gives_them_and_in_whichever_form() {
    for (by, keeps_props) in [("ann", true), ("bob", false)] {
        let mut world = asked(&[asks_by_event("9f", &json!("Sure?"))]);
        world.accepts(by, &resume("r1", "r2", r#"9f:{"ok":1.50}"#), "r2");
        let body = body(&world, "r2");
        assert_eq!(
            body["forwardedProps"]["command"],
            json!({ "resume": { "ok": 1.5 } })
        );
        assert_eq!(body["forwardedProps"].get("token").is_some(), keeps_props);
        assert_eq!(body.get("resume"), None);
    }
    let mut world = asked(&[asks_by_event("9f", &json!("Sure?"))]);
    let own = r#""forwardedProps":{"command":{"goto":"x"}}"#;
    world.accepts("ann", &plain_resume("r2", "9f:1", own), "r2");
    let body = body(&world, "r2");
    assert_eq!(
        body["forwardedProps"],
        json!({ "command": { "goto": "x", "resume": 1 } })
    );
    assert_eq!(body.get("resume"), None);
}

#[test]
fn several_answers_go_by_the_ids_the_agent_gave() {
    let mut world = asked(&[
        asks_by_event("9f", &json!("a?")),
        asks_by_event("8e", &json!("b?")),
    ]);
    world.accepts("ann", &resume("r1", "r2", "8e:2 9f:1"), "r2");
    let command = &body(&world, "r2")["forwardedProps"]["command"];
    assert_eq!(command["resume"], json!({ "9f": 1, "8e": 2 }));
}

#[test]
fn a_run_that_is_given_up_tells_its_agent() {
    let mut world = asked(&[asks_by_event("9f", &json!("Sure?"))]);
    let answer = world.command("ann", &cancel("r1")).unwrap();
    let command = &body(&world, answer.run.as_str())["forwardedProps"]["command"];
    assert_eq!(
        command["resume"],
        json!({ "__agui_cancelled__": true, "interrupt_id": "9f" })
    );
}

/// A run of a client that answers by the command.
fn commands(run_id: &str, resume: &str) -> threadcast_run_registry::decide::Command {
    run(
        run_id,
        &format!(r#""forwardedProps":{{"command":{{"resume":{resume}}}}}"#),
    )
}

#[test]
fn a_command_answers_once_and_never_otherwise() {
    let mut world = asked(&[asks_by_event("9f", &json!("Sure?"))]);
    let nothing = world.command("ann", &commands("r2", "null"));
    assert!(
        matches!(nothing, Err(Refusal::InterruptsOpen { .. })),
        "{nothing:?}"
    );
    world.accepts("ann", &commands("r2", r#""{\"ok\":1}""#), "r2");
    assert!(world.open().is_empty());
    let sent = body(&world, "r2");
    assert_eq!(
        sent["forwardedProps"]["command"]["resume"], r#"{"ok":1}"#,
        "as submitted"
    );
    let repeated = world
        .command("ann", &commands("r2", r#""{\"ok\":1}""#))
        .unwrap();
    assert!(repeated.duplicate);
    world.play("r2", &[started("r2"), finished("r2")]);
    let same = world
        .command("bob", &resume("r1", "r3", r#"9f:{"ok":1}"#))
        .unwrap();
    assert_eq!(
        (same.run.as_str(), same.duplicate),
        ("r2", true),
        "it is the same answer"
    );
    let other = world.command("bob", &commands("r3", "false"));
    assert!(
        matches!(other, Err(Refusal::AlreadyResolved { .. })),
        "{other:?}"
    );
}

#[test]
fn a_command_is_judged_by_the_schema_of_the_question() {
    let schema =
        json!({ "message": "?", "responseSchema": { "type": "object", "required": ["pick"] } });
    let mut world = asked(&[asks_by_event("9f", &schema)]);
    let wrong = world.command("ann", &commands("r2", r#"{"peck":1}"#));
    assert!(
        matches!(wrong, Err(Refusal::PayloadInvalid { .. })),
        "{wrong:?}"
    );
    world.accepts("ann", &commands("r2", r#"{"pick":1}"#), "r2");
}

#[test]
fn a_command_is_no_answer_to_an_agent_that_sends_outcomes() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let asks = crate::world::asks("r1", &[&crate::world::interrupt("i")]);
    world.play(
        "r1",
        &[started("r1"), asks_by_event("9f", &json!("Sure?")), asks],
    );
    assert_eq!(world.open(), ["i"], "nothing was added");
    let command = world.command("ann", &commands("r2", "1"));
    assert!(
        matches!(command, Err(Refusal::InterruptsOpen { .. })),
        "{command:?}"
    );
    world.accepts("ann", &resume("r1", "r2", "i:1"), "r2");
    let sent = body(&world, "r2");
    assert_eq!(sent["resume"][0]["payload"], 1);
    assert_eq!(sent.get("forwardedProps"), None);
}

#[test]
fn questions_without_bound_end_the_run() {
    let large = asks_by_event("", &json!("x".repeat(1 << 20)));
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let mut lines = vec![started("r1")];
    lines.extend(std::iter::repeat_n(large, 6));
    world.play("r1", &lines);
    let (code, message) = failure(&world);
    assert_eq!(code, "PROTOCOL_VIOLATION");
    assert!(message.contains("`value` comes to"), "{message}");
}
