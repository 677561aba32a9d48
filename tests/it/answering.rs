//! The agent's question is answered on the socket that watches, by exactly one answer.

use serde_json::{Value, json};
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::viewer::{Start, Viewer, events_of};

/// An agent that asks for two approvals, one of them with a deadline that has passed, and is
/// satisfied by any answer.
fn asking() -> Recording {
    let schema = json!({
        "type": "object",
        "properties": { "approved": { "type": "boolean" }, "amount": { "type": "number", "maximum": 100 } },
        "required": ["approved"],
    });
    let interrupts = json!([
        { "id": "refund", "reason": "tool_call", "message": "Refund 40?", "responseSchema": schema },
        { "id": "late", "reason": "confirmation", "expiresAt": "2020-01-01T00:00:00Z" },
    ]);
    let asked = vec![
        json!({ "type": "RUN_STARTED", "threadId": "THREAD", "runId": "RUN" }),
        json!({ "type": "RUN_FINISHED", "threadId": "THREAD", "runId": "RUN", "outcome": { "type": "interrupt", "interrupts": interrupts } }),
    ];
    let answered = vec![
        json!({ "type": "RUN_STARTED", "threadId": "THREAD", "runId": "RUN" }),
        json!({ "type": "RUN_FINISHED", "threadId": "THREAD", "runId": "RUN" }),
    ];
    Recording::scripted("asking", &[asked, answered.clone(), answered])
}

/// A hub, its agent, and a viewer of a thread whose run waits for two answers.
struct Asked {
    hub: Program,
    replay: Replay,
    viewer: Viewer,
}

const THREAD: &str = "refunds";

async fn asked() -> Asked {
    let replay = Replay::start([asking()]).await;
    let hub = Program::start(&replay.agents()).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe(THREAD, Start::Snapshot).await;
    let answer = viewer
        .ask(run(
            "first",
            &json!([{ "id": "u1", "role": "user", "content": "refund me" }]),
        ))
        .await;
    assert_eq!(answer["op"], "ok", "{answer}");
    viewer.frames_to_end(THREAD, "first").await;
    Asked {
        hub,
        replay,
        viewer,
    }
}

fn run(run: &str, messages: &Value) -> Value {
    json!({ "op": "run", "agent": "asking", "input": { "threadId": THREAD, "runId": run, "messages": messages } })
}

fn resume(run: &str, entries: &Value) -> Value {
    json!({ "op": "resume", "threadId": THREAD, "of": "first", "runId": run, "resume": entries })
}

fn good() -> Value {
    json!([
        { "interruptId": "refund", "status": "resolved", "payload": { "approved": true, "amount": 40 } },
        { "interruptId": "late", "status": "cancelled" },
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_goes_over_the_socket_that_watches_and_reaches_the_agent_once() {
    let Asked {
        hub,
        replay,
        mut viewer,
    } = asked().await;
    let answer = viewer.ask(resume("second", &good())).await;
    assert_eq!(
        (&answer["op"], &answer["runId"]),
        (&json!("ok"), &json!("second")),
        "{answer}"
    );
    let frames = viewer.frames_to_end(THREAD, "second").await;
    let facts = frames
        .iter()
        .filter(|frame| frame["op"] == "fact")
        .map(|frame| frame["fact"]["type"].clone());
    assert_eq!(facts.filter(|fact| fact == "interrupt.resolved").count(), 2);
    assert_eq!(events_of(&frames).last().unwrap()["type"], "RUN_FINISHED");

    let again = viewer.ask(resume("second", &good())).await;
    assert_eq!(
        (&again["runId"], &again["duplicate"]),
        (&json!("second"), &json!(true)),
        "{again}"
    );
    let by_another_run = viewer.ask(resume("third", &good())).await;
    assert_eq!(
        (&by_another_run["runId"], &by_another_run["duplicate"]),
        (&json!("second"), &json!(true))
    );

    let mut other = Viewer::connect(&hub.ws()).await;
    let different = json!([
        { "interruptId": "refund", "status": "resolved", "payload": { "approved": false } },
        { "interruptId": "late", "status": "cancelled" },
    ]);
    let loser = other.ask(resume("fourth", &different)).await;
    assert_eq!(loser["code"], "already_resolved", "{loser}");
    assert_eq!(loser["details"]["runId"], "second");
    assert!(
        loser["details"]["by"].is_object() && loser["details"]["at"].is_u64(),
        "who and when: {loser}"
    );

    let requests = replay.requests(THREAD);
    assert_eq!(requests.len(), 2, "one request a run, none for repeats");
    assert_eq!(requests[1]["resume"], good());
}

/// The right entry for each of the two questions, and what is wrong with an answer made of others.
fn wrong_answers() -> Vec<(&'static str, Value, &'static str)> {
    let refund = |payload: Value| json!({ "interruptId": "refund", "status": "resolved", "payload": payload });
    let approved = refund(json!({ "approved": true }));
    let late = json!({ "interruptId": "late", "status": "cancelled" });
    let late_with_payload = json!({ "interruptId": "late", "status": "cancelled", "payload": 1 });
    let late_resolved = json!({ "interruptId": "late", "status": "resolved" });
    let other = json!({ "interruptId": "other", "status": "cancelled" });
    let wrong = refund(json!({ "approved": "yes" }));
    let input = json!([{ "id": "u2", "role": "user", "content": "well?" }]);
    vec![
        (
            "a wrong payload",
            resume("r1", &json!([wrong, late])),
            "payload_invalid",
        ),
        (
            "a payload on cancelled",
            resume("r2", &json!([approved, late_with_payload])),
            "payload_invalid",
        ),
        (
            "a missing id",
            resume("r3", &json!([approved])),
            "resume_incomplete",
        ),
        (
            "an unknown id",
            resume("r4", &json!([approved, late, other])),
            "interrupt_unknown",
        ),
        (
            "an id twice",
            resume("r5", &json!([approved, approved, late])),
            "resume_duplicate",
        ),
        (
            "an answer past its deadline",
            resume("r6", &json!([approved, late_resolved])),
            "interrupt_expired",
        ),
        (
            "new input without an answer",
            run("r7", &input),
            "interrupts_open",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_violation_of_a_schema_is_named_with_its_path() {
    let Asked {
        hub: _hub,
        replay: _replay,
        mut viewer,
    } = asked().await;
    let payload = json!({ "approved": "yes", "amount": 500 });
    let entries = json!([
        { "interruptId": "refund", "status": "resolved", "payload": payload },
        { "interruptId": "late", "status": "cancelled" },
    ]);
    let answer = viewer.ask(resume("r", &entries)).await;
    assert_eq!(answer["details"]["interruptId"], "refund", "{answer}");
    let errors = answer["details"]["errors"].as_array().unwrap().iter();
    let paths: Vec<_> = errors
        .map(|error| error["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/approved", "/amount"], "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_answer_has_its_own_error_and_harms_nothing() {
    let Asked {
        hub: _hub,
        replay,
        mut viewer,
    } = asked().await;
    for (what, request, code) in wrong_answers() {
        let answer = viewer.ask(request).await;
        let told = (&answer["op"], &answer["code"]);
        assert_eq!(told, (&json!("error"), &json!(code)), "{what}: {answer}");
    }
    let status = viewer
        .ask(json!({ "op": "status", "threadId": THREAD }))
        .await;
    assert_eq!(status["status"], "interrupted", "{status}");
    assert_eq!(
        replay.requests(THREAD).len(),
        1,
        "the agent heard of none of it"
    );
    let answer = viewer.ask(resume("second", &good())).await;
    assert_eq!(
        answer["op"], "ok",
        "the right answer still counts: {answer}"
    );
    viewer.frames_to_end(THREAD, "second").await;
}

/// Goal: exactly one of many answers wins. Forty viewers, half of them approving and half refusing,
/// answer at once.
#[tokio::test(flavor = "multi_thread")]
async fn of_forty_answers_at_once_exactly_one_wins() {
    let Asked {
        hub,
        replay,
        mut viewer,
    } = asked().await;
    let mut answering = tokio::task::JoinSet::new();
    for person in 0..40 {
        let url = hub.ws();
        answering.spawn(async move {
            let mut viewer = Viewer::connect(&url).await;
            let entries = json!([
                { "interruptId": "refund", "status": "resolved", "payload": { "approved": person % 2 == 0 } },
                { "interruptId": "late", "status": "cancelled" },
            ]);
            viewer.ask(resume(&format!("by-{person}"), &entries)).await
        });
    }
    let answers = answering.join_all().await;
    let winners: Vec<_> = answers
        .iter()
        .filter(|it| it["op"] == "ok" && it["duplicate"] == false)
        .collect();
    assert_eq!(winners.len(), 1, "{answers:#?}");
    let winner = &winners[0]["runId"];
    for answer in &answers {
        let told = if answer["op"] == "ok" {
            &answer["runId"]
        } else {
            &answer["details"]["runId"]
        };
        assert_eq!(told, winner, "everyone learns who won: {answer}");
    }
    viewer.frames_to_end(THREAD, winner.as_str().unwrap()).await;
    assert_eq!(replay.requests(THREAD).len(), 2);
}
