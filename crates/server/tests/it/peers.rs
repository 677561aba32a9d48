//! Clients and agents from before AG-UI 1.0.

use http::Method;
use serde_json::{Value, json};

use crate::support::agent::{Act, ScriptedAgent, blocks, finished, says, sse, started};
use crate::support::http::{Answer, Block, get, input, post, send, types};
use crate::support::server::{TestServer, quick};

/// A run input of a client from before 1.0.
fn older_input(run: &str) -> Value {
    let mut input = input("t", run, "hi");
    input.as_object_mut().unwrap().remove("protocolVersion");
    input
}

/// An agent that answers run by run, as the run's id says.
async fn playing(
    script: impl Fn(&str, &Value) -> Vec<Value> + Send + Sync + 'static,
) -> ScriptedAgent {
    ScriptedAgent::streaming(move |request| script(request["runId"].as_str().unwrap(), request))
        .await
}

async fn older_reader(server: &TestServer, last_event_id: Option<&str>) -> Answer {
    let id = last_event_id.map(|id| ("last-event-id", id));
    let headers: Vec<_> = id.into_iter().collect();
    send(
        server.address,
        Method::GET,
        "/threads/t/events?agui=0.0",
        &headers,
        "",
    )
    .await
}

async fn run(server: &TestServer, run: &str) -> Vec<Block> {
    post(server.address, "/agents/a/run", &input("t", run, "hi"))
        .await
        .blocks()
        .await
}

fn events(blocks: &[Block]) -> Vec<Value> {
    blocks
        .iter()
        .filter_map(|block| block.event.clone())
        .collect()
}

/// A run of a subagent that ends cancelled.
fn with_all_that_is_new(request: &Value) -> Vec<Value> {
    vec![
        started(request),
        json!({ "type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "n" }),
        json!({ "type": "FUTURE" }),
        json!({ "type": "STEP_STARTED", "stepName": "a" }),
        json!({ "type": "STEP_STARTED", "stepName": "a", "subagentRunId": "s" }),
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "subagentRunId": "s" }),
        json!({ "type": "TEXT_MESSAGE_END", "messageId": "m", "subagentRunId": "s" }),
        json!({ "type": "STEP_FINISHED", "stepName": "a" }),
        json!({ "type": "STEP_FINISHED", "stepName": "a", "subagentRunId": "s" }),
        json!({ "type": "SUBAGENT_FINISHED", "subagentRunId": "s" }),
        json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": { "type": "cancelled" } }),
    ]
}

#[tokio::test]
async fn a_caller_from_before_1_0_is_told_what_it_knows_at_its_places() {
    let agent = ScriptedAgent::streaming(with_all_that_is_new).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let present = post(server.address, "/agents/a/run?agui=1.0", &older_input("r"))
        .await
        .blocks()
        .await;
    let older = post(server.address, "/agents/a/run", &older_input("r"))
        .await
        .blocks()
        .await;
    let told = events(&older);
    assert_eq!(
        types(&told),
        [
            "RUN_STARTED",
            "STEP_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_END",
            "STEP_FINISHED",
            "RUN_ERROR"
        ]
    );
    let input = &told[0]["input"];
    assert_eq!(
        (&input["tools"], &input["context"]),
        (&json!([]), &json!([]))
    );
    assert!(
        told.iter()
            .all(|event| event.get("subagentRunId").is_none())
    );
    assert_eq!(told[5]["code"], "abort");
    let places = |blocks: &[Block], kept: &[usize]| -> Vec<_> {
        kept.iter().map(|at| blocks[*at].id.clone()).collect()
    };
    assert_eq!(present.len(), 11, "who reads 1.0 gets everything");
    assert_eq!(
        places(&older, &[0, 1, 2, 3, 4, 5]),
        places(&present, &[0, 3, 5, 6, 8, 10])
    );
}

#[tokio::test]
async fn the_stream_of_an_older_reader_ends_in_front_of_a_run_behind_a_failed_one() {
    let agent = playing(|run, request| match run {
        "r1" => vec![
            started(request),
            json!({ "type": "RUN_ERROR", "message": "m" }),
        ],
        _ => vec![started(request), finished(request)],
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let reader = older_reader(&server, None).await;
    run(&server, "r1").await;
    let second = run(&server, "r2").await;
    let first = reader.blocks().await;
    assert_eq!(types(&events(&first)), ["RUN_STARTED", "RUN_ERROR"]);
    let last = first.last().unwrap().id.clone().unwrap();
    let mut again = older_reader(&server, Some(&last)).await;
    for expected in &second {
        let found = again.block().await.unwrap();
        assert_eq!(found.id, expected.id);
        assert_eq!(found.event.unwrap()["runId"], "r2");
    }
}

#[tokio::test]
async fn an_older_reader_joins_by_a_snapshot_without_a_failed_run_inside() {
    let agent = playing(|run, request| match run {
        "r2" => vec![
            started(request),
            json!({ "type": "RUN_ERROR", "message": "m" }),
        ],
        _ => {
            let mut events = vec![started(request)];
            events.extend(says(run));
            events.push(finished(request));
            events
        }
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    run(&server, "r1").await;
    run(&server, "r2").await;
    let mut reader = older_reader(&server, None).await;
    let mut told = Vec::new();
    let place = loop {
        match reader.block().await.unwrap() {
            Block {
                event: Some(event),
                id: None,
            } => told.push(event),
            Block { event, id } => break (event, id),
        }
    };
    assert_eq!(
        types(&told),
        [
            "RUN_STARTED",
            "MESSAGES_SNAPSHOT",
            "STATE_SNAPSHOT",
            "RUN_ERROR"
        ]
    );
    let third = run(&server, "r3").await;
    assert_eq!(
        reader.block().await,
        None,
        "a run cannot follow on this stream"
    );
    let (none, id) = place;
    assert_eq!(none, None);
    let mut again = older_reader(&server, id.as_deref()).await;
    assert_eq!(again.block().await.unwrap().id, third[0].id);
}

#[tokio::test]
async fn an_older_reader_who_comes_back_within_a_run_sees_a_shared_step_end_once() {
    let agent = ScriptedAgent::start(|request| {
        let opening = [
            started(&request.body),
            json!({ "type": "STEP_STARTED", "stepName": "a" }),
            json!({ "type": "STEP_STARTED", "stepName": "a", "subagentRunId": "s" }),
            json!({ "type": "CUSTOM", "name": "half", "value": 1 }),
        ];
        let rest = [
            json!({ "type": "STEP_FINISHED", "stepName": "a" }),
            json!({ "type": "STEP_FINISHED", "stepName": "a", "subagentRunId": "s" }),
            finished(&request.body),
        ];
        vec![
            Act::Send(sse(&opening)),
            Act::Gate,
            Act::Send(blocks(&rest).into()),
        ]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut reader = older_reader(&server, None).await;
    let _caller = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    let mut told = Vec::new();
    while told
        .last()
        .is_none_or(|block: &Block| block.event.as_ref().unwrap()["type"] != "CUSTOM")
    {
        told.push(reader.block().await.unwrap());
    }
    assert_eq!(
        types(&events(&told)),
        ["RUN_STARTED", "STEP_STARTED", "CUSTOM"]
    );
    let place = told.last().unwrap().id.clone();
    let mut back = older_reader(&server, place.as_deref()).await;
    agent.open_gate();
    for reader in [&mut reader, &mut back] {
        let first = reader.block().await.unwrap().event.unwrap();
        let second = reader.block().await.unwrap().event.unwrap();
        assert_eq!(types(&[first, second]), ["STEP_FINISHED", "RUN_FINISHED"]);
    }
}

/// The events of a run in which two subagents and their parent have steps of the same names.
fn sharing_steps(request: &Value) -> Vec<Value> {
    let step = |kind: &str, name: &str, owner: Option<&str>| {
        let mut event = json!({ "type": format!("STEP_{kind}"), "stepName": name });
        if let Some(owner) = owner {
            event["subagentRunId"] = json!(owner);
        }
        event
    };
    vec![
        started(request),
        step("STARTED", "a", None),
        step("STARTED", "a", Some("s")),
        step("STARTED", "b", Some("s")),
        step("FINISHED", "a", None),
        step("STARTED", "a", Some("u")),
        step("STARTED", "b", None),
        step("FINISHED", "a", Some("s")),
        step("FINISHED", "b", Some("s")),
        step("FINISHED", "b", None),
        step("FINISHED", "a", Some("u")),
        step("STARTED", "a", None),
        step("FINISHED", "a", None),
    ]
}

#[tokio::test]
async fn an_older_reader_who_comes_back_anywhere_is_told_the_rest_as_if_it_had_stayed() {
    let agent = ScriptedAgent::start(|request| {
        let mut run = sharing_steps(&request.body);
        run.push(match request.body["runId"].as_str().unwrap() {
            "cancelled" => json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "cancelled", "outcome": { "type": "cancelled" } }),
            "failed" => json!({ "type": "RUN_ERROR", "message": "m" }),
            _ => finished(&request.body),
        });
        // Readers come back while the run is open, or when it has ended.
        let half = if request.body["runId"] == "open" { 8 } else { run.len() };
        let mut first = run[..half].to_vec();
        if half < run.len() {
            first.push(json!({ "type": "CUSTOM", "name": "half", "value": 1 }));
        }
        let rest = blocks(&run[half..]);
        vec![Act::Send(sse(&first)), Act::Gate, Act::Send(rest.into())]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    for run in ["finished", "cancelled", "failed", "open"] {
        let mut caller = post(server.address, "/agents/a/run", &older_input(run)).await;
        let mut whole: Vec<Block> = Vec::new();
        let is_last = |block: &Block| {
            let event_type = &block.event.as_ref().unwrap()["type"];
            ["CUSTOM", "RUN_ERROR", "RUN_FINISHED"].contains(&event_type.as_str().unwrap())
        };
        while !whole.last().is_some_and(is_last) {
            whole.push(caller.block().await.unwrap());
        }
        let mut readers = Vec::new();
        for block in &whole {
            readers.push(older_reader(&server, block.id.as_deref()).await);
        }
        agent.open_gate();
        whole.extend(caller.blocks().await);
        assert!(whole.len() >= 8, "{run}: {whole:?}");
        for (at, mut back) in readers.into_iter().enumerate() {
            for expected in &whole[at + 1..] {
                let found = back.block().await;
                assert_eq!(found.as_ref(), Some(expected), "{run} behind {at}");
            }
        }
    }
}

#[tokio::test]
async fn a_return_far_within_a_long_run_begins_anew_and_reads_no_more_than_a_bound() {
    const EVENTS: usize = 10_000;
    let agent = ScriptedAgent::streaming(|request| {
        let mut run = vec![
            started(request),
            json!({ "type": "STEP_STARTED", "stepName": "a" }),
            json!({ "type": "STEP_STARTED", "stepName": "a", "subagentRunId": "s" }),
        ];
        run.extend((0..EVENTS).map(|n| json!({ "type": "CUSTOM", "name": "n", "value": n })));
        run.push(json!({ "type": "STEP_FINISHED", "stepName": "a", "subagentRunId": "s" }));
        run.push(json!({ "type": "STEP_FINISHED", "stepName": "a" }));
        run.push(finished(request));
        run
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let whole = post(server.address, "/agents/a/run", &older_input("r")).await;
    let whole = whole.blocks().await;
    for at in [0, 1, 3_000, EVENTS - 3_000, EVENTS] {
        let mut back = older_reader(&server, whole[at].id.as_deref()).await;
        for expected in &whole[at + 1..] {
            assert_eq!(back.block().await.as_ref(), Some(expected), "behind {at}");
        }
    }
    let mut back = older_reader(&server, whole[EVENTS / 2].id.as_deref()).await;
    let anew = back.block().await.unwrap();
    assert_eq!(
        (anew.id, &anew.event.unwrap()["type"]),
        (None, &json!("RUN_STARTED")),
        "a snapshot"
    );
}

#[tokio::test]
async fn an_older_reader_who_comes_back_behind_a_cancelled_run_hears_of_no_late_failure() {
    let agent = playing(|run, request| match run {
        "r1" => vec![
            started(request),
            json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r1", "outcome": { "type": "cancelled" } }),
            json!({ "type": "RUN_ERROR", "message": "late" }),
        ],
        _ => vec![started(request), finished(request)],
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let older = older_reader(&server, None).await;
    let mut present = get(server.address, "/threads/t/events").await;
    run(&server, "r1").await;
    assert_eq!(present.event("RUN_ERROR").await["message"], "late");
    let second = run(&server, "r2").await;
    let first = older.blocks().await;
    assert_eq!(types(&events(&first)), ["RUN_STARTED", "RUN_ERROR"]);
    let last = first.last().unwrap().id.clone().unwrap();
    let mut again = older_reader(&server, Some(&last)).await;
    for expected in &second {
        assert_eq!(again.block().await.unwrap().id, expected.id);
    }
}

/// An agent that asks by CUSTOM events and ends as if nothing had been asked, once.
async fn asking(values: &'static [&'static str]) -> ScriptedAgent {
    playing(move |run, request| {
        let mut events = vec![started(request)];
        if run == "r1" {
            let asked = values.iter();
            events.extend(
                asked.map(
                    |value| json!({ "type": "CUSTOM", "name": "on_interrupt", "value": value }),
                ),
            );
        }
        events.push(finished(request));
        events
    })
    .await
}

const FLIGHT: &str = r#"{"message":"Pick","responseSchema":{"type":"object","required":["pick"]}}"#;

#[tokio::test]
async fn a_question_in_a_custom_event_is_open_until_it_is_answered_by_a_command() {
    let agent = asking(&[FLIGHT]).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let asked = events(&run(&server, "r1").await);
    assert_eq!(types(&asked), ["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
    assert_eq!(asked[1]["value"], FLIGHT, "what the agent said stays");
    let interrupt = &asked[2]["outcome"]["interrupts"][0];
    assert_eq!(
        (&interrupt["id"], &interrupt["message"]),
        (&json!("r1:interrupt-1"), &json!("Pick"))
    );
    let view = get(server.address, "/threads/t").await.json().await;
    assert_eq!(view["status"], "interrupted");
    assert_eq!(&view["thread"]["interrupts"][0]["interrupt"], interrupt);
    let unanswered = post(server.address, "/agents/a/run", &input("t", "r2", "hi")).await;
    assert_eq!(unanswered.refusal().await.1, "interrupts_open");

    let answer = |payload: Value| {
        let entry =
            json!({ "interruptId": "r1:interrupt-1", "status": "resolved", "payload": payload });
        json!({ "of": "r1", "runId": "r2", "resume": [entry] })
    };
    let path = "/threads/t/resume";
    let wrong = post(server.address, path, &answer(json!({})))
        .await
        .refusal()
        .await;
    assert_eq!(wrong.1, "payload_invalid");
    for duplicate in [false, true] {
        let answered = post(server.address, path, &answer(json!({ "pick": "AA1" })))
            .await
            .json()
            .await;
        assert_eq!(answered["duplicate"], duplicate);
    }
    let mut reader = get(server.address, "/threads/t/events").await;
    while reader.event("RUN_FINISHED").await["runId"] != "r2" {}
    let seen = agent.seen();
    assert_eq!(seen.len(), 2, "the repeat caused nothing");
    assert_eq!(
        seen[1].body["forwardedProps"]["command"],
        json!({ "resume": { "pick": "AA1" } })
    );
    assert_eq!(seen[1].body.get("resume"), None);
}

#[tokio::test]
async fn an_older_client_answers_by_the_command_it_knows() {
    let agent = asking(&["Which?"]).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    run(&server, "r1").await;
    let command = |run: &str, resume: Value| {
        let mut input = older_input(run);
        input["messages"] = json!([]);
        input["forwardedProps"] =
            json!({ "command": { "resume": resume, "interruptEvent": FLIGHT }, "a": 1 });
        input
    };
    let first = command("r2", json!("AA1"));
    let path = "/agents/a/run";
    let told = post(server.address, path, &first).await.events().await;
    assert_eq!(types(&told), ["RUN_STARTED", "RUN_FINISHED"]);
    let other = post(server.address, path, &command("r3", json!("BB2"))).await;
    assert_eq!(other.refusal().await.1, "already_resolved");
    let again = post(server.address, path, &command("r4", json!("AA1")))
        .await
        .events()
        .await;
    assert_eq!(again, told, "the same answer again is the same run");
    let seen = agent.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        seen[1].body["forwardedProps"], first["forwardedProps"],
        "as submitted"
    );
    let view = get(server.address, "/threads/t").await.json().await;
    assert_eq!(view["thread"]["interrupts"], json!([]));
}

#[tokio::test]
async fn questions_that_are_given_up_reach_the_agent_as_its_own_marker() {
    let agent = asking(&[r#"{"id":"a"}"#, r#"{"id":"b"}"#]).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    run(&server, "r1").await;
    let cancelled = post(server.address, "/threads/t/runs/r1/cancel", &json!({}))
        .await
        .json()
        .await;
    assert_eq!(cancelled["status"], "accepted");
    let mut reader = get(server.address, "/threads/t/events").await;
    while reader.event("RUN_FINISHED").await["runId"] != cancelled["runId"] {}
    let marker = |id: &str| json!({ "__agui_cancelled__": true, "interrupt_id": id });
    assert_eq!(
        agent.seen()[1].body["forwardedProps"]["command"]["resume"],
        json!({ "a": marker("a"), "b": marker("b") })
    );
}
