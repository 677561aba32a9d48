//! Stopping a run: by request, or because its caller is gone where that is configured.

use serde_json::json;
use threadcast_server::config::OnCallerGone;

use crate::support::agent::{Act, ScriptedAgent, blocks, sse, started};
use crate::support::http::{get, input, post, types};
use crate::support::server::{TestServer, quick};
use crate::support::socket::Socket;
use crate::support::soon;

async fn hanging() -> ScriptedAgent {
    ScriptedAgent::start(|request| vec![Act::Send(sse(&[started(&request.body)])), Act::Hang]).await
}

#[tokio::test]
async fn an_agent_that_goes_on_is_cut_off_after_the_grace() {
    let agent = hanging().await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut caller = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    caller.event("RUN_STARTED").await;

    let answer = post(
        server.address,
        "/threads/t/runs/r/cancel",
        &json!({ "reason": "enough" }),
    )
    .await
    .json()
    .await;
    assert_eq!(answer["runId"], "r", "{answer}");
    assert_eq!(caller.event("RUN_ERROR").await["code"], "abort");
    soon(agent.closed.notified()).await;
    let view = get(server.address, "/threads/t").await.json().await;
    assert_eq!(view["status"], "cancelled");
    let again = post(server.address, "/threads/t/runs/r/cancel", &json!({}))
        .await
        .json()
        .await;
    assert_eq!(again["status"], "cancelled", "{again}");
}

#[tokio::test]
async fn an_agent_may_end_its_cancelled_run_itself() {
    let agent = ScriptedAgent::start(|request| {
        let ids = &request.body;
        let end = json!({
            "type": "RUN_FINISHED", "threadId": ids["threadId"], "runId": ids["runId"], "outcome": { "type": "cancelled" },
        });
        vec![Act::Send(sse(&[started(ids)])), Act::Gate, Act::Send(blocks(&[end]).into())]
    })
    .await;
    let mut policy = quick();
    policy.cancel_grace = std::time::Duration::from_secs(10);
    let server = TestServer::with_agent(&agent.url, policy).await;
    let mut caller = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    caller.event("RUN_STARTED").await;
    post(server.address, "/threads/t/runs/r/cancel", &json!({}))
        .await
        .json()
        .await;
    agent.open_gate();
    assert_eq!(
        caller.event("RUN_FINISHED").await["outcome"]["type"],
        "cancelled"
    );
    assert_eq!(
        get(server.address, "/threads/t").await.json().await["status"],
        "cancelled"
    );
}

#[tokio::test]
async fn a_run_is_cancelled_before_its_agent_has_answered() {
    let agent = ScriptedAgent::start(|_| vec![Act::Hang]).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let caller = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    post(server.address, "/threads/t/runs/r/cancel", &json!({}))
        .await
        .json()
        .await;
    let events = caller.events().await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_ERROR"]);
    assert_eq!(events[1]["code"], "abort");
}

#[tokio::test]
async fn a_gone_caller_cancels_where_that_is_configured() {
    let agent = hanging().await;
    let mut policy = quick();
    policy.on_caller_gone = OnCallerGone::Cancel;
    let server = TestServer::with_agent(&agent.url, policy).await;
    let mut socket = Socket::watching(server.address, "t").await;
    let mut caller = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    caller.event("RUN_STARTED").await;
    drop(caller);
    assert_eq!(
        socket.events_of_run().await.last().unwrap()["code"],
        "abort"
    );
}

#[tokio::test]
async fn what_is_not_there_cannot_be_cancelled() {
    let agent = hanging().await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let answer = post(server.address, "/threads/t/runs/r/cancel", &json!({})).await;
    assert_eq!(answer.refusal().await, (404, "not_found".into()));
}
