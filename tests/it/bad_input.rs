//! Whatever is wrong with what comes in, it has a specific error and nothing else is harmed.

use serde_json::{Value, json};
use threadcast_tests::http;
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::viewer::{Start, Viewer, events_of};
use tokio_tungstenite::tungstenite::Message;

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_frame_is_answered_and_the_socket_stays() {
    let hub = Program::start(&[]).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    let nested = format!("{}{}", "[".repeat(70), "]".repeat(70));
    let cases = [
        ("{\"op\":".to_owned(), "bad_frame"),
        ("[]".to_owned(), "bad_frame"),
        ("{\"id\":1}".to_owned(), "bad_frame"),
        (json!({ "op": "dance", "id": 1 }).to_string(), "unknown_op"),
        (
            format!("{{\"op\":\"ping\",\"deep\":{nested}}}"),
            "bad_frame",
        ),
        ("{\"op\":\"ping\",\"op\":\"ping\"}".to_owned(), "bad_frame"),
        (
            json!({ "op": "subscribe", "threadId": 5, "id": 2 }).to_string(),
            "bad_frame",
        ),
        (
            json!({ "op": "subscribe", "threadId": "", "id": 2 }).to_string(),
            "bad_frame",
        ),
        (
            json!({ "op": "run", "agent": "demo", "input": { "threadId": "t" }, "id": 3 })
                .to_string(),
            "bad_frame",
        ),
    ];
    let mut messages = Vec::new();
    for (text, code) in cases {
        viewer.send_text(text.clone()).await;
        let answer = viewer.frame().await.unwrap();
        assert_eq!(
            (&answer["op"], &answer["code"]),
            (&json!("error"), &json!(code)),
            "{text}: {answer}"
        );
        assert!(!answer["message"].as_str().unwrap().is_empty());
        messages.push(answer["message"].clone());
    }
    messages.dedup();
    assert_eq!(
        messages.len(),
        9,
        "each says what is wrong with it: {messages:#?}"
    );
    let pong = viewer.ask(json!({ "op": "ping" })).await;
    assert_eq!(pong["op"], "ok", "{pong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_over_the_limit_closes_with_1009_and_names_the_way_out() {
    let hub = Program::start(&[]).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer
        .send_text(json!({ "op": "ping", "pad": "x".repeat(2 * 1024 * 1024) }).to_string())
        .await;
    let answer = viewer.frame().await.unwrap();
    assert_eq!(answer["code"], "too_large", "{answer}");
    assert!(
        answer["message"].as_str().unwrap().contains("/agents/"),
        "{answer}"
    );
    assert_eq!(viewer.close_code().await, Some(1009));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binary_frame_closes_with_1003() {
    let hub = Program::start(&[]).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.send(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(viewer.close_code().await, Some(1003));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_bad_frames_in_a_minute_close_with_1008() {
    let hub = Program::start(&[]).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    for _ in 0..11 {
        viewer.send_text("no json").await;
    }
    assert_eq!(viewer.close_code().await, Some(1008));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_agent_is_named() {
    let hub = Program::start(&[]).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    let input = json!({ "threadId": "t", "runId": "r", "messages": [] });
    let answer = viewer
        .ask(json!({ "op": "run", "agent": "nobody", "input": input }))
        .await;
    assert_eq!(answer["code"], "agent_unknown", "{answer}");
    assert!(
        answer["message"].as_str().unwrap().contains("nobody"),
        "{answer}"
    );
    let answer = http::post(hub.address(), "/agents/nobody/run", input.to_string()).await;
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (404, &json!("agent_unknown"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn http_refuses_what_it_cannot_read() {
    let hub = Program::start(&[]).await;
    let nested = format!("{}{}", "[".repeat(70), "]".repeat(70));
    let cases = [
        ("{", "no JSON"),
        ("[]", "not an object"),
        ("{\"threadId\":\"t\",\"runId\":\"r\"}", "no messages"),
        (
            "{\"threadId\":\"t\",\"runId\":7,\"messages\":[]}",
            "a wrong type",
        ),
    ];
    for (body, what) in cases {
        let answer = http::post(hub.address(), "/agents/demo/run", body).await;
        assert_eq!(
            (answer.status, &answer.json()["code"]),
            (400, &json!("bad_frame")),
            "{what}: {}",
            answer.text
        );
    }
    let deep = format!("{{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[],\"state\":{nested}}}");
    assert_eq!(
        http::post(hub.address(), "/agents/demo/run", deep)
            .await
            .status,
        400
    );
    assert_eq!(http::get(hub.address(), "/no/such/path").await.status, 404);
}

/// An agent that does not speak AG-UI, and the code its run ends with.
struct Broken {
    recording: Recording,
    code: &'static str,
}

fn broken_agents() -> Vec<Broken> {
    let started = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"THREAD\",\"runId\":\"RUN\"}\n\n";
    let wrong_run =
        "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"THREAD\",\"runId\":\"another\"}\n\n";
    let unopened = format!(
        "{started}data: {{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"x\"}}\n\n"
    );
    let endless = format!("data: \"{}", "x".repeat(11 * 1024 * 1024));
    let nested = format!(
        "{started}data: {{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":{}{}}}\n\n",
        "[".repeat(70),
        "]".repeat(70)
    );
    let sse = "text/event-stream";
    let cases = [
        (
            "failing",
            500,
            "text/plain",
            "boom".to_owned(),
            "AGENT_REFUSED",
        ),
        (
            "html",
            200,
            "text/html",
            "<html>hello</html>".to_owned(),
            "AGENT_REFUSED",
        ),
        ("endless-line", 200, sse, endless, "TOO_LARGE"),
        ("silent", 200, sse, String::new(), "AGENT_TRUNCATED"),
        ("truncated", 200, sse, started.to_owned(), "AGENT_TRUNCATED"),
        (
            "no-json",
            200,
            sse,
            "data: hello\n\n".to_owned(),
            "PROTOCOL_VIOLATION",
        ),
        (
            "wrong-run",
            200,
            sse,
            wrong_run.to_owned(),
            "PROTOCOL_VIOLATION",
        ),
        ("unopened", 200, sse, unopened, "PROTOCOL_VIOLATION"),
        ("nested", 200, sse, nested, "PROTOCOL_VIOLATION"),
    ];
    let agents = cases
        .into_iter()
        .map(|(name, status, content_type, body, code)| Broken {
            recording: Recording::answering(name, status, content_type, &body),
            code,
        });
    agents.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_agent_ends_its_run_with_its_own_error() {
    let broken = broken_agents();
    let replay = Replay::start(broken.iter().map(|it| it.recording.clone())).await;
    let mut agents = replay.agents();
    agents.push((
        "nowhere".to_owned(),
        format!("http://{}/", unused_address().await),
    ));
    let hub = Program::start(&agents).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    let expected = broken
        .iter()
        .map(|it| (it.recording.name.as_str(), it.code));
    for (name, code) in expected.chain([("nowhere", "AGENT_UNREACHED")]) {
        viewer.subscribe(name, Start::Snapshot).await;
        let input = json!({ "threadId": name, "runId": "r", "messages": [{ "id": "u", "role": "user", "content": "hi" }] });
        let answer = viewer
            .ask(json!({ "op": "run", "agent": name, "input": input }))
            .await;
        assert_eq!(answer["op"], "ok", "{name}: {answer}");
        let events = events_of(&viewer.frames_to_end(name, "r").await);
        assert_eq!(events.first().unwrap()["type"], "RUN_STARTED", "{name}");
        let end = events.last().unwrap();
        assert_eq!(
            (&end["type"], &end["code"]),
            (&json!("RUN_ERROR"), &json!(code)),
            "{name}: {end}"
        );
        let status = viewer
            .ask(json!({ "op": "status", "threadId": name, "runId": "r" }))
            .await;
        assert_eq!(status["status"], "error", "{name}: {status}");
    }
    let last: Value = viewer.ask(json!({ "op": "ping" })).await;
    assert_eq!(last["op"], "ok");
}

/// An address nobody listens on: bound once and given back.
async fn unused_address() -> std::net::SocketAddr {
    tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
}
