//! A run through the hub, seen by its caller and by others.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::agent::{
    Act, STREAM_HEAD, ScriptedAgent, blocks, finished, run_saying, says, sse, started,
};
use crate::support::http::{get, input, post, types};
use crate::support::server::{TestServer, quick};
use crate::support::socket::Socket;
use crate::support::soon;

#[tokio::test]
async fn a_run_reaches_its_caller_and_a_socket_alike() {
    let agent = ScriptedAgent::streaming(|request| run_saying(request, "hello")).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut socket = Socket::watching(server.address, "t").await;

    let answer = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert_eq!(answer.headers["cache-control"], "no-cache");
    assert_eq!(answer.headers["x-accel-buffering"], "no");
    let events = answer.events().await;
    let expected = [
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&events), expected);
    assert_eq!(
        events[0]["input"]["messages"][0]["content"], "hi",
        "others see what the caller asked"
    );
    assert_eq!(socket.events_of_run().await, events);
}

#[tokio::test]
async fn the_agent_is_asked_as_ag_ui_says() {
    let agent = ScriptedAgent::streaming(|request| run_saying(request, "x")).await;
    let mut policy = quick();
    policy.headers = toml::from_str("authorization = \"Bearer 1\"").unwrap();
    let server = TestServer::with_agent(&agent.url, policy).await;
    let mut body = input("t", "r", "hi");
    body["forwardedProps"] = json!({ "n": 1.50 });
    body["unknown"] = json!([1]);
    post(server.address, "/agents/a/run", &body)
        .await
        .events()
        .await;
    post(server.address, "/agents/a/run", &input("u", "r", "hi"))
        .await
        .events()
        .await;

    let [seen, other] = &agent.seen()[..] else {
        panic!("two calls")
    };
    assert!(
        seen.head.starts_with("post /agent?x=1 http/1.1\r\n"),
        "{}",
        seen.head
    );
    for header in [
        "accept: text/event-stream",
        "content-type: application/json",
        "authorization: bearer 1",
    ] {
        assert!(
            seen.head.contains(&format!("\r\n{header}\r\n")),
            "{header} in {}",
            seen.head
        );
    }
    let key = |head: &str| {
        head.lines()
            .find(|line| line.starts_with("idempotency-key: "))
            .unwrap()
            .to_owned()
    };
    assert_ne!(
        key(&seen.head),
        key(&other.head),
        "one key a thread and run"
    );
    assert_eq!(seen.body["forwardedProps"], json!({ "n": 1.5 }));
    assert_eq!(seen.body["messages"][0]["content"], "hi");
    assert_eq!(
        (&seen.body["threadId"], &seen.body["runId"]),
        (&json!("t"), &json!("r"))
    );
}

#[tokio::test]
async fn the_next_run_carries_the_conversation() {
    let agent = ScriptedAgent::streaming(|request| run_saying(request, "word")).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    post(server.address, "/agents/a/run", &input("t", "r1", "one"))
        .await
        .events()
        .await;
    let second = post(server.address, "/agents/a/run", &input("t", "r2", "two"))
        .await
        .events()
        .await;
    let roles = |messages: &Value| {
        let messages = messages.as_array().unwrap().iter();
        messages
            .map(|message| message["role"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        roles(&agent.seen()[1].body["messages"]),
        ["user", "assistant", "user"]
    );
    assert_eq!(
        roles(&second[0]["input"]["messages"]),
        ["user"],
        "only what is new"
    );
}

#[tokio::test]
async fn the_same_run_again_is_streamed_again_and_calls_nobody() {
    let agent = ScriptedAgent::streaming(|request| run_saying(request, "once")).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let first = post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .events()
        .await;
    let again = post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .events()
        .await;
    assert_eq!(first, again);
    assert_eq!(agent.seen().len(), 1);
    let other = post(server.address, "/agents/a/run", &input("t", "r", "other")).await;
    assert_eq!(other.refusal().await, (409, "run_conflict".into()));
}

#[tokio::test]
async fn one_run_a_thread_at_a_time() {
    let agent = ScriptedAgent::start(|request| {
        vec![
            Act::Send(sse(&[started(&request.body)])),
            Act::Gate,
            Act::Send(blocks(&[finished(&request.body)]).into()),
        ]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut first = post(server.address, "/agents/a/run", &input("t", "r1", "hi")).await;
    first.event("RUN_STARTED").await;
    let busy = post(server.address, "/agents/a/run", &input("t", "r2", "hi")).await;
    assert_eq!(busy.refusal().await, (409, "thread_busy".into()));
    agent.open_gate();
    first.event("RUN_FINISHED").await;
    agent.open_gate();
    post(server.address, "/agents/a/run", &input("t", "r2", "hi"))
        .await
        .event("RUN_FINISHED")
        .await;
}

#[tokio::test]
async fn a_run_outlives_its_caller() {
    let agent = ScriptedAgent::start(|request| {
        let mut rest = says("late");
        rest.push(finished(&request.body));
        vec![
            Act::Send(sse(&[started(&request.body)])),
            Act::Gate,
            Act::Send(blocks(&rest).into()),
        ]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut socket = Socket::watching(server.address, "t").await;
    let mut caller = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    caller.event("RUN_STARTED").await;
    drop(caller);
    agent.open_gate();
    assert_eq!(
        types(&socket.events_of_run().await).last(),
        Some(&"RUN_FINISHED")
    );
}

#[tokio::test]
async fn chunks_are_expanded_for_everybody() {
    let agent = ScriptedAgent::streaming(|request| {
        let chunk =
            |delta: &str| json!({ "type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": delta });
        vec![started(request), chunk("a"), chunk("b"), finished(request)]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let events = post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .events()
        .await;
    let expected = [
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&events), expected);
}

#[tokio::test]
async fn streams_are_read_however_they_are_written() {
    let agent = ScriptedAgent::start(|request| {
        let events = run_saying(&request.body, "ünï🙂");
        let mut text = format!("{STREAM_HEAD}\u{feff}: hello\r\n\r\n");
        for event in &events {
            text.push_str(&format!("event: message\r\nid: 1\r\ndata:{event}\r\n\r\n"));
        }
        text.push_str("data: [DONE]\r\n\r\n");
        // A byte at a time, as far as the socket keeps them apart.
        text.bytes().map(|byte| Act::Send(vec![byte])).collect()
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let events = post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .events()
        .await;
    assert_eq!(events[2]["delta"], "ünï🙂");
    assert_eq!(types(&events).last(), Some(&"RUN_FINISHED"));
}

#[tokio::test]
async fn a_fresh_tab_is_told_the_state_it_lacks() {
    let agent = ScriptedAgent::streaming(|request| {
        let snapshot = json!({ "type": "STATE_SNAPSHOT", "snapshot": { "n": 1 } });
        let delta = json!({ "type": "STATE_DELTA", "delta": [{ "op": "replace", "path": "/n", "value": 2 }] });
        let first = request["runId"] == "r1";
        vec![started(request), if first { snapshot } else { delta }, finished(request)]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let first = post(server.address, "/agents/a/run", &input("t", "r1", "hi"))
        .await
        .events()
        .await;
    assert_eq!(
        types(&first),
        ["RUN_STARTED", "STATE_SNAPSHOT", "RUN_FINISHED"]
    );

    let fresh = post(server.address, "/agents/a/run", &input("t", "r2", "hi"))
        .await
        .blocks()
        .await;
    let made_up = &fresh[1];
    assert_eq!(
        made_up.event,
        Some(json!({ "type": "STATE_SNAPSHOT", "snapshot": { "n": 1 } }))
    );
    assert_eq!(made_up.id, None);
    assert!(
        fresh
            .iter()
            .enumerate()
            .all(|(at, block)| at == 1 || block.id.is_some())
    );

    let mut knowing = input("t", "r3", "hi");
    knowing["state"] = json!({ "n": 2 });
    let known = post(server.address, "/agents/a/run", &knowing)
        .await
        .events()
        .await;
    assert_eq!(
        types(&known),
        ["RUN_STARTED", "STATE_DELTA", "RUN_FINISHED"]
    );

    // Streamed from the log, when the state has moved on: the state it had then.
    let again = post(server.address, "/agents/a/run", &input("t", "r2", "hi"))
        .await
        .blocks()
        .await;
    assert_eq!(again, fresh);
}

#[tokio::test]
async fn a_changed_state_is_taken_over() {
    let agent = ScriptedAgent::streaming(|request| vec![started(request), finished(request)]).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut edited = input("t", "r1", "hi");
    edited["state"] = json!({ "edited": true });
    let events = post(server.address, "/agents/a/run", &edited)
        .await
        .events()
        .await;
    assert_eq!(
        types(&events),
        ["RUN_STARTED", "RUN_FINISHED"],
        "the caller holds it already"
    );
    assert_eq!(agent.seen()[0].body["state"], json!({ "edited": true }));
    post(server.address, "/agents/a/run", &input("t", "r2", "hi"))
        .await
        .events()
        .await;
    assert_eq!(
        agent.seen()[1].body["state"],
        json!({ "edited": true }),
        "an empty state wipes nothing"
    );
}

#[tokio::test]
async fn an_error_after_the_end_is_told_to_those_who_stay() {
    let agent = ScriptedAgent::start(|request| {
        let late = json!({ "type": "RUN_ERROR", "message": "could not save" });
        vec![
            Act::Send(sse(&run_saying(&request.body, "x"))),
            Act::Gate,
            Act::Send(blocks(&[late]).into()),
        ]
    })
    .await;
    let mut policy = quick();
    policy.late = Duration::from_secs(10);
    let server = TestServer::with_agent(&agent.url, policy).await;
    let mut socket = Socket::watching(server.address, "t").await;
    let events = post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .events()
        .await;
    assert_eq!(types(&events).last(), Some(&"RUN_FINISHED"));
    socket.events_of_run().await;
    agent.open_gate();
    assert_eq!(socket.events_of_run().await[0]["message"], "could not save");
    let view = get(server.address, "/threads/t").await.json().await;
    assert_eq!(view["status"], "error");
}

#[tokio::test]
async fn raw_material_stays_out_unless_it_is_kept() {
    let script = |request: &Value| {
        let raw = json!({ "type": "RAW", "event": { "secret": 1 } });
        let custom =
            json!({ "type": "CUSTOM", "name": "x", "value": 1, "rawEvent": { "secret": 2 } });
        vec![started(request), raw, custom, finished(request)]
    };
    for keep_raw in [false, true] {
        let agent = ScriptedAgent::streaming(script).await;
        let mut policy = quick();
        policy.keep_raw = keep_raw;
        let server = TestServer::with_agent(&agent.url, policy).await;
        let answer = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
        let text = soon(answer.text()).await;
        assert_eq!(
            text.matches("secret").count(),
            if keep_raw { 2 } else { 0 },
            "{text}"
        );
    }
}
