//! A thread as an event stream.

use serde_json::{Value, json};

use crate::support::agent::{Act, ScriptedAgent, blocks, finished, run_saying, says, sse, started};
use crate::support::http::{Answer, Block, get, input, post, send, types};
use crate::support::server::{TestServer, config, quick};

async fn resumed(server: &TestServer, id: &str) -> Answer {
    send(
        server.address,
        http::Method::GET,
        "/threads/t/events",
        &[("last-event-id", id)],
        "",
    )
    .await
}

#[tokio::test]
async fn a_reader_from_the_start_has_every_event_with_its_place() {
    let agent = ScriptedAgent::streaming(|request| run_saying(request, "x")).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut reader = get(server.address, "/threads/t/events").await;
    let run = post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .blocks()
        .await;
    for expected in &run {
        assert_eq!(reader.block().await.as_ref(), Some(expected));
    }
}

#[tokio::test]
async fn a_reader_who_comes_back_gets_the_rest_from_any_place() {
    let agent = ScriptedAgent::streaming(|request| run_saying(request, "x")).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let run = post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .blocks()
        .await;
    for cut in 0..run.len() - 1 {
        let mut reader = resumed(&server, run[cut].id.as_ref().unwrap()).await;
        for expected in &run[cut + 1..] {
            assert_eq!(
                reader.block().await.as_ref(),
                Some(expected),
                "after a cut at {cut}"
            );
        }
    }
    let path = format!("/threads/t/events?after={}", run[0].id.as_ref().unwrap());
    assert_eq!(
        get(server.address, &path).await.block().await.as_ref(),
        Some(&run[1])
    );
}

#[tokio::test]
async fn a_late_reader_gets_a_baseline_and_then_what_comes() {
    let agent = ScriptedAgent::start(|request| {
        let mut rest = says("y");
        rest.push(finished(&request.body));
        let mut first = vec![started(&request.body)];
        first.extend(says("x"));
        vec![
            Act::Send(sse(&first)),
            Act::Gate,
            Act::Send(blocks(&rest).into()),
        ]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut run = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    run.event("TEXT_MESSAGE_END").await;
    for unknown in [None, Some("gone:3"), Some("nonsense")] {
        let mut reader = match unknown {
            Some(id) => resumed(&server, id).await,
            None => get(server.address, "/threads/t/events").await,
        };
        let mut baseline = Vec::new();
        let position = loop {
            match reader.block().await.unwrap() {
                Block {
                    id: None,
                    event: Some(event),
                } => baseline.push(event),
                Block {
                    id: Some(id),
                    event: None,
                } => break id,
                other => panic!("{other:?} within a baseline"),
            }
        };
        assert_eq!(baseline[0]["type"], "RUN_STARTED");
        let messages = baseline
            .iter()
            .find(|event| event["type"] == "MESSAGES_SNAPSHOT")
            .unwrap();
        let texts: Vec<_> = messages["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| &message["content"])
            .collect();
        assert_eq!(texts, ["hi", "x"]);
        let mut again = resumed(&server, &position).await;
        if unknown == Some("nonsense") {
            agent.open_gate();
            for reader in [&mut reader, &mut again] {
                let first = reader.block().await.unwrap();
                assert_eq!(first.event.unwrap()["messageId"], "y");
                reader.event("RUN_FINISHED").await;
            }
        }
    }
}

#[tokio::test]
async fn a_state_that_changed_between_runs_is_told_in_the_next_one() {
    let agent = ScriptedAgent::streaming(|request| vec![started(request), finished(request)]).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut reader = get(server.address, "/threads/t/events").await;
    post(server.address, "/agents/a/run", &input("t", "r1", "hi"))
        .await
        .events()
        .await;
    let mut edited = input("t", "r2", "hi");
    edited["state"] = json!({ "n": 1 });
    post(server.address, "/agents/a/run", &edited)
        .await
        .events()
        .await;
    let mut events: Vec<Value> = Vec::new();
    while events
        .last()
        .is_none_or(|event| event["type"] != "RUN_FINISHED" || event["runId"] != "r2")
    {
        events.push(reader.block().await.unwrap().event.unwrap());
    }
    assert_eq!(
        types(&events),
        [
            "RUN_STARTED",
            "RUN_FINISHED",
            "RUN_STARTED",
            "STATE_SNAPSHOT",
            "RUN_FINISHED"
        ]
    );
    assert_eq!(events[3]["snapshot"], json!({ "n": 1 }));
}

#[tokio::test]
async fn reading_creates_nothing() {
    let server = TestServer::start(config()).await;
    let reader = get(server.address, "/threads/t/events").await;
    assert_eq!(reader.status, 200);
    assert_eq!(
        get(server.address, "/threads/t").await.refusal().await,
        (404, "not_found".into())
    );
    let ids_are_opaque = post(
        server.address,
        "/agents/demo/run",
        &input("a/b:c", "r", "hi"),
    )
    .await
    .events()
    .await;
    assert!(!ids_are_opaque.is_empty());
    let view = get(server.address, "/threads/a%2Fb%3Ac").await.json().await;
    assert_eq!(view["threadId"], "a/b:c");
}

#[tokio::test]
async fn a_reader_who_could_not_be_told_the_state_is_given_no_position() {
    let agent = ScriptedAgent::start(|request| {
        let run = [started(&request.body), finished(&request.body)];
        vec![Act::Gate, Act::Send(sse(&run))]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut edited = input("t", "r", "hi");
    edited["state"] = json!({ "n": 1 });
    let _run = post(server.address, "/agents/a/run", &edited).await;
    let mut reader = get(server.address, "/threads/t/events").await;
    agent.open_gate();
    let first = reader.block().await.unwrap();
    assert_eq!(first.event.unwrap()["type"], "RUN_STARTED");
    let state = reader.event("STATE_SNAPSHOT").await;
    assert_eq!(state["snapshot"], json!({ "n": 1 }));
}

/// AG-UI's reference client gives up a stream with an event of more characters.
#[tokio::test]
async fn a_snapshot_that_plain_clients_cannot_read_is_refused_and_a_position_still_serves() {
    let agent = ScriptedAgent::streaming(|request| {
        // In two bytes a character; both runs together are over the bound, by characters alone.
        let text = "é".repeat(2_750_000);
        let mut run = vec![started(request)];
        let message = request["runId"].clone();
        run.push(
            json!({ "type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant" }),
        );
        for _ in 0..2 {
            run.push(
                json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": text }),
            );
        }
        run.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": message }));
        run.push(finished(request));
        run
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let first = post(server.address, "/agents/a/run", &input("t", "r1", "hi")).await;
    let place = first.blocks().await.last().unwrap().id.clone().unwrap();
    let path = "/threads/t/events";
    assert_eq!(
        get(server.address, path).await.status,
        200,
        "half as many characters as bytes"
    );

    let second = post(server.address, "/agents/a/run", &input("t", "r2", "hi")).await;
    second.blocks().await;
    for path in [path, "/threads/t/events?after=gone:1"] {
        let refused = get(server.address, path).await;
        assert_eq!(refused.status, 413, "{path}");
        let refused = refused.json().await;
        assert_eq!(refused["code"], "too_large");
        assert_eq!(refused["details"], json!({ "limit": 10_485_744 }));
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.contains("socket") && message.contains("Last-Event-ID"),
            "{message}"
        );
    }
    let older = get(server.address, "/threads/t/events?agui=0.0").await;
    assert_eq!(older.status, 200, "clients from before 1.0 read it");
    let headers = [("last-event-id", place.as_str())];
    let mut back = send(server.address, http::Method::GET, path, &headers, "").await;
    assert_eq!(back.event("RUN_STARTED").await["runId"], "r2");
}
