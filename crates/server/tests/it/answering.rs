//! The demo agent's question, answered over HTTP.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::support::http::{get, input, post, types};
use crate::support::server::{TestServer, config};

/// Runs the demo agent up to its question and gives the interrupt.
async fn asked(address: SocketAddr) -> Value {
    let events = post(
        address,
        "/agents/demo/run",
        &input("t", "r", "Refund order 1042"),
    )
    .await
    .events()
    .await;
    let end = events.last().unwrap();
    assert_eq!(end["outcome"]["type"], "interrupt", "{end}");
    end["outcome"]["interrupts"][0].clone()
}

fn resolved(interrupt: &Value, payload: &Value) -> Value {
    json!([{ "interruptId": interrupt["id"], "status": "resolved", "payload": payload }])
}

fn resume(run: &str, entries: &Value) -> Value {
    json!({ "of": "r", "runId": run, "resume": entries })
}

#[tokio::test]
async fn a_question_is_answered_once() {
    let server = TestServer::start(config()).await;
    let address = server.address;
    let interrupt = asked(address).await;
    let view = get(address, "/threads/t").await.json().await;
    assert_eq!(view["status"], "interrupted");
    assert_eq!(view["thread"]["interrupts"][0]["of"], "r");
    assert_eq!(view["thread"]["interrupts"][0]["interrupt"], interrupt);

    let approve = resolved(&interrupt, &json!({ "approved": true }));
    let answer = post(address, "/threads/t/resume", &resume("r2", &approve))
        .await
        .json()
        .await;
    assert_eq!(
        (&answer["runId"], &answer["duplicate"]),
        (&json!("r2"), &json!(false)),
        "{answer}"
    );
    let again = post(address, "/threads/t/resume", &resume("r3", &approve))
        .await
        .json()
        .await;
    assert_eq!(
        (&again["runId"], &again["duplicate"]),
        (&json!("r2"), &json!(true)),
        "{again}"
    );
    let reject = resolved(&interrupt, &json!({ "approved": false }));
    let late = post(address, "/threads/t/resume", &resume("r3", &reject))
        .await
        .json()
        .await;
    assert_eq!(late["code"], "already_resolved", "{late}");
    assert_eq!(late["details"]["runId"], "r2", "{late}");
}

#[tokio::test]
async fn each_wrong_answer_is_told_what_is_wrong() {
    let server = TestServer::start(config()).await;
    let address = server.address;
    let interrupt = asked(address).await;
    let approve = &resolved(&interrupt, &json!({ "approved": true }))[0];
    for (entries, status, code) in [
        (
            resolved(&interrupt, &json!({ "approved": "yes" })),
            422,
            "payload_invalid",
        ),
        (
            resolved(&interrupt, &json!({ "approved": true, "amount": 1e6 })),
            422,
            "payload_invalid",
        ),
        (json!([]), 422, "resume_incomplete"),
        (json!([approve, approve]), 422, "resume_duplicate"),
        (
            resolved(&json!({ "id": "other" }), &json!({})),
            422,
            "interrupt_unknown",
        ),
        (
            json!([{ "interruptId": "x", "status": "maybe" }]),
            400,
            "bad_frame",
        ),
        (json!("yes"), 400, "bad_frame"),
    ] {
        let answer = post(address, "/threads/t/resume", &resume("r2", &entries)).await;
        assert_eq!(
            answer.refusal().await,
            (status, code.to_owned()),
            "{entries}"
        );
    }
    let unanswered = post(address, "/agents/demo/run", &input("t", "r2", "And now?")).await;
    assert_eq!(unanswered.refusal().await, (409, "interrupts_open".into()));
    assert_eq!(
        get(address, "/threads/t").await.json().await["status"],
        "interrupted",
        "nothing is lost"
    );
}

#[tokio::test]
async fn a_plain_client_resumes_by_running_again() {
    let server = TestServer::start(config()).await;
    let interrupt = asked(server.address).await;
    let mut body = input("t", "r2", "x");
    body["messages"] = json!([]);
    body["resume"] = resolved(&interrupt, &json!({ "approved": true, "amount": 5 }));
    let events = post(server.address, "/agents/demo/run", &body)
        .await
        .events()
        .await;
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");
    assert!(types(&events).contains(&"TOOL_CALL_RESULT"));
    let view = get(server.address, "/threads/t").await.json().await;
    assert_eq!(view["status"], "success");
    assert_eq!(view["thread"]["interrupts"], json!([]));
}

#[tokio::test]
async fn cancelling_an_interrupted_run_tells_the_agent() {
    let server = TestServer::start(config()).await;
    asked(server.address).await;
    let answer = post(server.address, "/threads/t/runs/r/cancel", &json!({}))
        .await
        .json()
        .await;
    let run = answer["runId"].as_str().unwrap().to_owned();
    assert_ne!(run, "r", "{answer}");
    let mut events = get(server.address, "/threads/t/events").await;
    loop {
        let end = events.event("RUN_FINISHED").await;
        if end["runId"] == run.as_str() {
            break;
        }
    }
    let view = get(server.address, "/threads/t").await.json().await;
    assert_eq!(view["thread"]["interrupts"], json!([]));
}
