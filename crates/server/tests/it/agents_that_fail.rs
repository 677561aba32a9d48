//! Agents that fail in every way: each its own ending, told to everybody, and the thread goes on.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::agent::{
    Act, STREAM_HEAD, ScriptedAgent, blocks, finished, says, sse, started,
};
use crate::support::http::{get, input, post, types};
use crate::support::server::{TestServer, quick};
use threadcast_server::config::AgentPolicy;

/// Runs the agent once and gives the terminal event of a valid run that begins with RUN_STARTED.
async fn ending(url: &str, policy: AgentPolicy) -> Value {
    let server = TestServer::with_agent(url, policy).await;
    let events = post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .events()
        .await;
    assert_eq!(types(&events).first(), Some(&"RUN_STARTED"), "{events:?}");
    let end = events.last().unwrap().clone();
    assert_eq!(end["type"], "RUN_ERROR", "{events:?}");
    let view = get(server.address, "/threads/t").await.json().await;
    assert_eq!(view["status"], "error", "{view}");
    assert_eq!(
        view["thread"]["runs"][0]["error"]["code"], end["code"],
        "{view}"
    );
    end
}

/// Whether the run ends with `code` and a message that holds `words`.
async fn check(agent: &ScriptedAgent, policy: AgentPolicy, code: &str, words: &str) {
    let end = ending(&agent.url, policy).await;
    assert_eq!(end["code"], code, "{end}");
    let message = end["message"].as_str().unwrap();
    assert!(message.contains(words), "{message:?} lacks {words:?}");
    assert_eq!(agent.seen().len(), 1, "an agent is called once");
}

fn response(status: &str, content_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn nobody_listens() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    let end = ending(&url, quick()).await;
    assert_eq!(end["code"], "AGENT_UNREACHED", "{end}");
}

#[tokio::test]
async fn status_500() {
    let agent = ScriptedAgent::raw(&response("500 Oops", "text/plain", "out of tokens")).await;
    check(&agent, quick(), "AGENT_REFUSED", "500: out of tokens").await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let agent = ScriptedAgent::raw(
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    check(&agent, quick(), "AGENT_REFUSED", "302").await;
}

#[tokio::test]
async fn a_long_refusal_is_cut() {
    let agent = ScriptedAgent::raw(&response(
        "422 No",
        "application/json",
        &"x".repeat(100_000),
    ))
    .await;
    let end = ending(&agent.url, quick()).await;
    assert_eq!(end["code"], "AGENT_REFUSED");
    assert!(end["message"].as_str().unwrap().len() < 4096);
}

#[tokio::test]
async fn html() {
    let agent = ScriptedAgent::raw(&response(
        "200 OK",
        "text/html; charset=utf-8",
        "<html>Log in",
    ))
    .await;
    check(&agent, quick(), "AGENT_REFUSED", "text/html").await;
}

#[tokio::test]
async fn an_answer_without_content() {
    let agent = ScriptedAgent::raw("HTTP/1.1 204 No Content\r\n\r\n").await;
    check(&agent, quick(), "AGENT_REFUSED", "204").await;
}

#[tokio::test]
async fn something_that_is_no_http() {
    let agent = ScriptedAgent::raw("220 mail.example ESMTP\r\n").await;
    check(&agent, quick(), "AGENT_TRUNCATED", "").await;
}

#[tokio::test]
async fn nothing_at_all() {
    let agent = ScriptedAgent::start(|_| Vec::new()).await;
    check(&agent, quick(), "AGENT_TRUNCATED", "").await;
}

#[tokio::test]
async fn an_empty_stream() {
    let agent = ScriptedAgent::raw(STREAM_HEAD).await;
    check(&agent, quick(), "AGENT_TRUNCATED", "").await;
}

#[tokio::test]
async fn no_response_head_in_time() {
    let agent = ScriptedAgent::start(|_| vec![Act::Hang]).await;
    let policy = AgentPolicy {
        response_head: Duration::from_millis(50),
        ..quick()
    };
    check(&agent, policy, "AGENT_TIMEOUT", "response head").await;
}

#[tokio::test]
async fn silence_within_the_stream() {
    let agent =
        ScriptedAgent::start(|request| vec![Act::Send(sse(&[started(&request.body)])), Act::Hang])
            .await;
    let policy = AgentPolicy {
        silence: Duration::from_millis(50),
        ..quick()
    };
    check(&agent, policy, "AGENT_TIMEOUT", "next event").await;
}

#[tokio::test]
async fn an_endless_line() {
    let agent = ScriptedAgent::start(|request| {
        let mut acts = vec![
            Act::Send(sse(&[started(&request.body)])),
            Act::Send(b"data: {\"type\":\"".to_vec()),
        ];
        acts.extend((0..12).map(|_| Act::Send(vec![b'x'; 1 << 20])));
        acts.push(Act::Hang);
        acts
    })
    .await;
    check(&agent, quick(), "TOO_LARGE", "").await;
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    let agent = ScriptedAgent::streaming(|request| {
        let mut events = vec![started(request)];
        events.extend(says("half"));
        events
    })
    .await;
    check(&agent, quick(), "AGENT_TRUNCATED", "").await;
}

#[tokio::test]
async fn a_chunked_stream_that_breaks_off() {
    let agent = ScriptedAgent::start(|request| {
        let block = blocks(&[started(&request.body)]);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        vec![Act::Send(format!("{head}{:x}\r\n{block}\r\n", block.len()).into_bytes())]
    })
    .await;
    check(&agent, quick(), "AGENT_TRUNCATED", "").await;
}

#[tokio::test]
async fn a_refusal_within_the_stream_starts_the_run_first() {
    let agent = ScriptedAgent::streaming(|_| {
        vec![json!({ "type": "RUN_ERROR", "message": "no", "code": "quota" })]
    })
    .await;
    check(&agent, quick(), "quota", "no").await;
}

#[tokio::test]
async fn the_ids_of_another_run() {
    let agent = ScriptedAgent::streaming(|request| {
        let other =
            json!({ "type": "RUN_STARTED", "threadId": request["threadId"], "runId": "other" });
        vec![other, finished(request)]
    })
    .await;
    check(&agent, quick(), "PROTOCOL_VIOLATION", "other").await;
}

#[tokio::test]
async fn text_that_is_no_json() {
    let agent = ScriptedAgent::start(|request| {
        vec![
            Act::Send(sse(&[started(&request.body)])),
            Act::Send(b"data: {oops\n\n".to_vec()),
            Act::Hang,
        ]
    })
    .await;
    check(&agent, quick(), "PROTOCOL_VIOLATION", "").await;
}

#[tokio::test]
async fn bytes_that_are_no_text() {
    let agent = ScriptedAgent::start(|request| {
        vec![
            Act::Send(sse(&[started(&request.body)])),
            Act::Send(b"data: \"\xff\"\n\n".to_vec()),
            Act::Hang,
        ]
    })
    .await;
    check(&agent, quick(), "PROTOCOL_VIOLATION", "UTF-8").await;
}

#[tokio::test]
async fn content_of_a_message_that_was_never_started() {
    let agent = ScriptedAgent::streaming(|request| {
        let lost = json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x" });
        vec![started(request), lost, finished(request)]
    })
    .await;
    check(&agent, quick(), "PROTOCOL_VIOLATION", "").await;
}

#[tokio::test]
async fn nesting_without_end() {
    let agent = ScriptedAgent::start(|request| {
        let deep = format!(
            "data: {{\"type\":\"CUSTOM\",\"name\":\"x\",\"value\":{}{}}}\n\n",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        vec![
            Act::Send(sse(&[started(&request.body)])),
            Act::Send(deep.into_bytes()),
            Act::Hang,
        ]
    })
    .await;
    check(&agent, quick(), "PROTOCOL_VIOLATION", "deep").await;
}

#[tokio::test]
async fn the_thread_goes_on_after_a_failure() {
    let agent = ScriptedAgent::streaming(|request| match request["runId"].as_str() {
        Some("r1") => vec![started(request)],
        _ => vec![started(request), finished(request)],
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    post(server.address, "/agents/a/run", &input("t", "r1", "hi"))
        .await
        .events()
        .await;
    let events = post(server.address, "/agents/a/run", &input("t", "r2", "hi"))
        .await
        .events()
        .await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_FINISHED"]);
}
