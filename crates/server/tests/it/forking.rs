//! A new thread that begins where another one was, and the end of a thread.

use http::Method;
use serde_json::{Value, json};

use crate::support::agent::{Act, ScriptedAgent, run_saying, sse, started};
use crate::support::http::{Answer, get, input, post, send};
use crate::support::server::{TestServer, quick};

async fn delete(server: &TestServer, path: &str) -> Answer {
    send(server.address, Method::DELETE, path, &[], "").await
}

/// A thread `t` whose agent said `first` and `second` in two runs of seven entries.
async fn served() -> (ScriptedAgent, TestServer) {
    let agent = ScriptedAgent::streaming(|request| {
        let word = request["runId"].as_str().unwrap().to_owned();
        run_saying(request, &word)
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    for run in ["first", "second"] {
        let input = input("t", run, "hi");
        let run = post(server.address, "/agents/a/run", &input).await;
        run.blocks().await;
    }
    (agent, server)
}

async fn texts(server: &TestServer, path: &str) -> Vec<Value> {
    let messages = get(server.address, path).await.json().await;
    let messages = messages["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].clone()).collect()
}

#[tokio::test]
async fn a_fork_holds_what_was_there_and_goes_on_by_itself() {
    let (agent, server) = served().await;
    let body = json!({ "threadId": "other" });
    let forked = post(server.address, "/threads/t/fork?at=7", &body).await;
    assert_eq!(forked.status, 201);
    let forked = forked.json().await;
    assert_eq!(forked["threadId"], "other");
    assert_eq!(forked["from"]["threadId"], "t");
    assert_eq!(forked["from"]["seq"], 7);

    let view = get(server.address, "/threads/other").await.json().await;
    assert_eq!(
        (&view["seq"], &view["epoch"]),
        (&forked["seq"], &forked["epoch"])
    );
    assert_eq!(view["thread"]["interrupts"], json!([]));
    assert_eq!(
        texts(&server, "/threads/other/messages").await,
        ["hi", "first"]
    );

    let run = post(
        server.address,
        "/agents/a/run",
        &input("other", "third", "go on"),
    )
    .await;
    run.blocks().await;
    let all = ["hi", "first", "go on", "third"];
    assert_eq!(texts(&server, "/threads/other/messages").await, all);
    let asked = agent.seen().last().unwrap().body["messages"].clone();
    assert_eq!(asked.as_array().unwrap().len(), 3, "{asked}");
    let untouched = ["hi", "first", "hi", "second"];
    assert_eq!(texts(&server, "/threads/t/messages").await, untouched);
}

#[tokio::test]
async fn a_fork_needs_no_name_and_no_place() {
    let (_agent, server) = served().await;
    let forked = send(server.address, Method::POST, "/threads/t/fork", &[], "").await;
    assert_eq!(forked.status, 201);
    let name = forked.json().await["threadId"].as_str().unwrap().to_owned();
    let path = format!("/threads/{name}/messages");
    assert_eq!(texts(&server, &path).await.len(), 4);
}

#[tokio::test]
async fn what_cannot_be_forked_is_told_and_nothing_begins() {
    let (_agent, server) = served().await;
    let other = json!({ "threadId": "other" });
    for (path, body, expected) in [
        ("/threads/none/fork", &other, (404, "not_found")),
        ("/threads/t/fork?at=999", &other, (404, "not_found")),
        ("/threads/t/fork?at=x", &other, (400, "bad_frame")),
        (
            "/threads/t/fork",
            &json!({ "threadId": 7 }),
            (400, "bad_frame"),
        ),
        (
            "/threads/t/fork",
            &json!({ "threadId": "t" }),
            (409, "thread_exists"),
        ),
    ] {
        let refused = post(server.address, path, body).await.refusal().await;
        assert_eq!(
            refused,
            (expected.0, expected.1.to_owned()),
            "{path} {body}"
        );
    }
    let none = get(server.address, "/threads/other").await;
    assert_eq!(none.refusal().await.0, 404);
    let refused = post(
        server.address,
        "/threads/t/fork",
        &json!({ "threadId": "t" }),
    )
    .await;
    let head = get(server.address, "/threads/t").await.json().await["seq"].clone();
    assert_eq!(refused.json().await["details"]["seq"], head);
}

#[tokio::test]
async fn a_deleted_thread_is_gone_and_a_new_one_of_its_name_is_another() {
    let (_agent, server) = served().await;
    let before = get(server.address, "/threads/t").await.json().await;
    let deleted = delete(&server, "/threads/t").await;
    assert_eq!(deleted.status, 200);
    assert_eq!(deleted.json().await["seq"], before["seq"]);

    for path in [
        "/threads/t",
        "/threads/t/state",
        "/threads/t/messages?at=1",
        "/threads/t/export",
    ] {
        let gone = get(server.address, path).await;
        assert_eq!(gone.status, 404, "{path}");
        let gone = gone.json().await;
        assert_eq!(gone["details"]["by"]["id"], "anonymous", "{path}: {gone}");
        assert!(
            gone["details"]["at"].as_u64().unwrap() > 0,
            "{path}: {gone}"
        );
    }
    assert_eq!(delete(&server, "/threads/t").await.status, 404);
    assert_eq!(delete(&server, "/threads/none").await.status, 404);

    let run = post(server.address, "/agents/a/run", &input("t", "first", "hi")).await;
    assert_eq!(run.status, 200, "its runs are forgotten, too");
    run.blocks().await;
    let after = get(server.address, "/threads/t").await.json().await;
    assert_ne!(after["epoch"], before["epoch"]);
    assert_eq!(texts(&server, "/threads/t/messages").await, ["hi", "first"]);
}

#[tokio::test]
async fn a_thread_with_an_active_run_is_not_deleted() {
    let agent =
        ScriptedAgent::start(|request| vec![Act::Send(sse(&[started(&request.body)])), Act::Hang])
            .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut run = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    run.event("RUN_STARTED").await;
    let refused = delete(&server, "/threads/t").await;
    assert_eq!(refused.status, 409);
    let refused = refused.json().await;
    assert_eq!(refused["code"], "thread_busy");
    assert_eq!(refused["details"]["runId"], "r");

    post(server.address, "/threads/t/runs/r/cancel", &json!({})).await;
    run.blocks().await;
    assert_eq!(delete(&server, "/threads/t").await.status, 200);
}
