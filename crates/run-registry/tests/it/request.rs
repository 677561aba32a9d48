//! What an agent is sent.

use serde_json::{Value, json};
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::request::{AgentRequest, agent_request, sources};

use crate::world::{
    World, asks, error, finished, interrupt, plain_resume, resume, run, run_id, started, user,
};

fn request(world: &World, run: &str) -> AgentRequest {
    let sources = sources(&world.fold, &run_id(run)).unwrap();
    let entry =
        |seq: threadcast_thread_log::position::Seq| &world.log.entries[seq.get() as usize - 1];
    agent_request(
        world.fold.thread(),
        world.fold.conversation(),
        entry(sources.accepted),
        sources.inherits.map(entry),
        &sources.asked,
    )
    .unwrap()
}

fn body(world: &World, run: &str) -> Value {
    serde_json::from_str(&request(world, run).body).unwrap()
}

const PRIVATE: &str = r#""tools":[{"name":"pay","description":"pays","parameters":{"max":12345678901234567890123}}],"context":[{"description":"d","value":"v"}],"forwardedProps":{"token":"anns"}"#;

#[test]
fn the_agent_is_sent_the_threads_messages_and_state() {
    let mut world = World::new();
    world.accepts(
        "ann",
        &run("r1", &format!(r#""messages":[{}]"#, user("u1"))),
        "r1",
    );
    let activity =
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{}}"#
            .to_owned();
    let state = r#"{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}"#.to_owned();
    world.play("r1", &[started("r1"), activity, state, finished("r1")]);
    let input = format!(
        r#""messages":[{}],"state":{{}},"parentRunId":"r1",{PRIVATE}"#,
        user("u2")
    );
    world.accepts("ann", &run("r2", &input), "r2");
    let request = request(&world, "r2");
    assert!(
        request.body.contains("12345678901234567890123"),
        "what is opaque goes through as it came"
    );
    let body: Value = serde_json::from_str(&request.body).unwrap();
    let ids: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["u1", "u2"], "activities stay here");
    assert_eq!(body["state"], json!({"n": 1}));
    assert_eq!(
        (&body["threadId"], &body["runId"], &body["parentRunId"]),
        (&json!("t"), &json!("r2"), &json!("r1"))
    );
    assert_eq!(body["forwardedProps"], json!({"token": "anns"}));
    assert!(
        body.get("protocolVersion").is_none(),
        "an old client's silence is passed on"
    );
    assert!(body.get("resume").is_none());
}

#[test]
fn a_state_that_was_taken_over_is_sent() {
    let mut world = World::new();
    world.accepts(
        "ann",
        &run("r1", r#""state":{"n":7},"protocolVersion":"0.9""#),
        "r1",
    );
    let body = body(&world, "r1");
    assert_eq!(
        (&body["state"], &body["protocolVersion"]),
        (&json!({"n": 7}), &json!("0.9"))
    );
    assert_eq!(
        (&body["tools"], &body["context"], &body["messages"]),
        (&json!([]), &json!([]), &json!([]))
    );
    assert!(body.get("forwardedProps").is_none());
}

#[test]
fn answers_alone_carry_on_the_asking_runs_tools_but_not_its_senders_secrets() {
    for (by, keeps_props) in [("ann", true), ("bob", false)] {
        let mut world = World::new();
        world.accepts("ann", &run("r1", PRIVATE), "r1");
        world.play("r1", &[started("r1"), asks("r1", &[&interrupt("i")])]);
        world.accepts("eve", &resume("r1", "r2", "i:1"), "r2");
        assert!(body(&world, "r2").get("forwardedProps").is_none());
        world.play("r2", &[started("r2"), asks("r2", &[&interrupt("i")])]);
        // Two answers in a row still reach the submission that held the tools.
        world.accepts(by, &resume("r2", "r3", "i:{\"x\":1.50}"), "r3");
        let request = request(&world, "r3");
        assert!(request.body.contains(r#""payload":{"x":1.50}"#));
        let body: Value = serde_json::from_str(&request.body).unwrap();
        assert_eq!(body["tools"][0]["name"], "pay");
        assert_eq!(body["context"][0]["value"], "v");
        assert_eq!(body["resume"][0]["interruptId"], "i");
        assert_eq!(body["protocolVersion"], "1.0");
        assert_eq!(body.get("forwardedProps").is_some(), keeps_props);
    }
}

#[test]
fn dropped_answers_are_not_sent() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    world.play("r1", &[started("r1"), asks("r1", &[&interrupt("i")])]);
    world.accepts("ann", &plain_resume("r2", "i:1", ""), "r2");
    assert!(body(&world, "r2").get("resume").is_some());
    world.play("r2", &[started("r2"), finished("r2")]);
    let new = format!(r#""messages":[{}]"#, user("u"));
    world.accepts("ann", &plain_resume("r3", "i:1", &new), "r3");
    assert!(body(&world, "r3").get("resume").is_none());
}

#[test]
fn the_same_decision_has_the_same_key_and_nothing_else_has() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let mut keys = vec![request(&world, "r1").idempotency_key];
    world.play(
        "r1",
        &[
            started("r1"),
            asks("r1", &[&interrupt("i"), &interrupt("j")]),
        ],
    );
    world.accepts("ann", &resume("r1", "r2", "i:1 j:2"), "r2");
    let key = request(&world, "r2").idempotency_key;
    let mut owner = world.play("r2", &[]);
    owner.end(
        &Ending::Truncated {
            reason: "cut".into(),
        },
        world.now,
    );
    world.flush(&mut owner);
    world.accepts("bob", &plain_resume("r3", "j:2 i:1", ""), "r3");
    assert_eq!(
        request(&world, "r3").idempotency_key,
        key,
        "sent again under another run, the key stays"
    );
    world.play(
        "r3",
        &[
            started("r3"),
            asks("r3", &[&interrupt("i"), &interrupt("j")]),
        ],
    );
    world.accepts("ann", &resume("r3", "r4", "i:1 j:2"), "r4");
    keys.extend([key, request(&world, "r4").idempotency_key]);
    world.play("r4", &[started("r4"), error("no")]);
    world.accepts("ann", &run("r5", ""), "r5");
    keys.push(request(&world, "r5").idempotency_key);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 4);
    assert!(keys.iter().all(|key| key.len() == 32));
}

#[test]
fn a_copy_of_a_conversation_shares_what_it_holds() {
    let mut world = World::new();
    world.accepts(
        "ann",
        &run("r1", &format!(r#""messages":[{}]"#, user("u1"))),
        "r1",
    );
    let state = r#"{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}"#.to_owned();
    world.play("r1", &[started("r1"), state, finished("r1")]);
    let conversation = world.fold.conversation();
    let copy = conversation.clone();
    assert!(std::ptr::eq(conversation.state(), copy.state()));
    assert_eq!(conversation.messages().count(), 1);
    for (original, copied) in conversation.messages().zip(copy.messages()) {
        assert!(std::ptr::eq(original, copied));
    }
}
