//! Bad input over HTTP: a specific error each.

use http::Method;
use serde_json::{Value, json};

use crate::support::http::{input, send};
use crate::support::server::{TestServer, config};
use threadcast_server::config::Config;

async fn refusal(
    server: &TestServer,
    method: Method,
    path: &str,
    body: impl Into<bytes::Bytes>,
) -> (u16, String) {
    send(server.address, method, path, &[], body)
        .await
        .refusal()
        .await
}

#[tokio::test]
async fn run_inputs() {
    let server = TestServer::start(config()).await;
    let changed = |name: &str, value: Value| {
        let mut body = input("t", "r", "hi");
        body[name] = value;
        body.to_string()
    };
    let deep = format!(
        "{{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":{}{}}}",
        "[".repeat(500),
        "]".repeat(500)
    );
    for (body, code) in [
        (String::new(), (400, "bad_frame")),
        ("{".into(), (400, "bad_frame")),
        ("[]".into(), (400, "bad_frame")),
        (
            "{\"threadId\":\"t\",\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[]}".into(),
            (400, "bad_frame"),
        ),
        (deep, (400, "bad_frame")),
        (changed("threadId", json!(7)), (400, "bad_frame")),
        (changed("threadId", json!("")), (400, "bad_frame")),
        (changed("runId", json!("x".repeat(257))), (400, "bad_frame")),
        (changed("messages", json!({})), (400, "bad_frame")),
        (
            changed(
                "messages",
                json!([{ "id": 1, "role": "user", "content": "x" }]),
            ),
            (400, "bad_frame"),
        ),
        (
            changed("resume", json!([{ "interruptId": "x" }])),
            (400, "bad_frame"),
        ),
    ] {
        let found = refusal(&server, Method::POST, "/agents/demo/run", body.clone()).await;
        assert_eq!(
            (found.0, found.1.as_str()),
            code,
            "{}",
            &body[..body.len().min(200)]
        );
    }
    let not_text = refusal(
        &server,
        Method::POST,
        "/agents/demo/run",
        &b"{\"a\":\"\xff\"}"[..],
    )
    .await;
    assert_eq!(not_text, (400, "bad_frame".into()));
}

#[tokio::test]
async fn a_body_over_the_limit() {
    let server = TestServer::start(Config {
        body_bytes_max: 1000,
        ..config()
    })
    .await;
    let long = input("t", "r", &"x".repeat(2000)).to_string();
    assert_eq!(
        refusal(&server, Method::POST, "/agents/demo/run", long).await,
        (413, "too_large".into())
    );
}

#[tokio::test]
async fn paths_and_methods() {
    let server = TestServer::start(config()).await;
    for (method, path, expected) in [
        (Method::GET, "/nowhere", (404, "not_found")),
        (Method::GET, "/threads/none", (404, "not_found")),
        (Method::POST, "/agents/nobody/run", (404, "agent_unknown")),
        (Method::GET, "/agents/demo/run", (405, "not_found")),
        (Method::PUT, "/threads/t", (405, "not_found")),
        (Method::DELETE, "/threads/none", (404, "not_found")),
        (Method::GET, "/threads/a%00b", (400, "bad_frame")),
        (Method::POST, "/threads/t/resume", (400, "bad_frame")),
        (Method::GET, "/ws", (426, "bad_frame")),
    ] {
        let (status, code) = refusal(&server, method.clone(), path, "").await;
        assert_eq!((status, code.as_str()), expected, "{method} {path}");
    }
}

#[tokio::test]
async fn a_reason_as_long_as_a_page() {
    let server = TestServer::start(config()).await;
    for (bytes, expected) in [(1024, (404, "not_found")), (1025, (400, "bad_frame"))] {
        let body = json!({ "reason": "x".repeat(bytes) }).to_string();
        let path = "/threads/t/runs/r/cancel";
        let (status, code) = refusal(&server, Method::POST, path, body).await;
        assert_eq!((status, code.as_str()), expected, "{bytes}");
    }
}

#[tokio::test]
async fn lists_are_no_objects_and_paths_are_text() {
    let server = TestServer::start(config()).await;
    let cases = [
        (Method::POST, "/threads/t/runs/r/cancel", "[\"reason\"]"),
        (Method::POST, "/threads/t/resume", "[\"r1\",\"r2\",[]]"),
        (Method::GET, "/threads/%ff", ""),
        (Method::GET, "/threads/%ff/events", ""),
    ];
    for (method, path, body) in cases {
        let found = refusal(&server, method, path, body).await;
        assert_eq!(found, (400, "bad_frame".into()), "{path} {body}");
    }
}
