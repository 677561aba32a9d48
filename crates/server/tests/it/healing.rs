//! A plain reader whose client does operations that the hub refuses.

use serde_json::{Value, json};

use crate::support::agent::{Act, ScriptedAgent, blocks, finished, says, sse, started};
use crate::support::http::{Answer, Block, get, input, post, types};
use crate::support::server::{TestServer, quick};

fn snapshot(state: &Value) -> Value {
    json!({ "type": "STATE_SNAPSHOT", "snapshot": state })
}

/// The reference client takes the index for 1; here it is none.
fn odd_delta(value: &Value) -> Value {
    json!({ "type": "STATE_DELTA", "delta": [{ "op": "add", "path": "/a/01", "value": value }] })
}

fn delta(path: &str) -> Value {
    json!({ "type": "STATE_DELTA", "delta": [{ "op": "replace", "path": path, "value": 1 }] })
}

async fn block_of(reader: &mut Answer, event_type: &str) -> Block {
    loop {
        let block = reader.block().await.expect("the stream goes on");
        let is_it = |event: &Value| event["type"] == event_type;
        if block.event.as_ref().is_some_and(is_it) {
            return block;
        }
    }
}

#[tokio::test]
async fn a_state_is_healed_as_soon_as_nothing_else_is_to_be_told() {
    let state = json!({ "a": [1, 2] });
    let agent = ScriptedAgent::start(|request| {
        let first = [
            started(&request.body),
            snapshot(&json!({ "a": [1, 2] })),
            odd_delta(&json!(9)),
        ];
        let mut rest = says("x");
        rest.push(finished(&request.body));
        vec![
            Act::Send(sse(&first)),
            Act::Gate,
            Act::Send(blocks(&rest).into()),
        ]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut reader = get(server.address, "/threads/t/events").await;
    let mut run = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    for stream in [&mut reader, &mut run] {
        block_of(stream, "STATE_DELTA").await;
        let healed = stream.block().await.unwrap();
        assert_eq!(healed.id, None, "it is made up");
        assert_eq!(healed.event, Some(snapshot(&state)));
    }
    agent.open_gate();
    let rest = run.events().await;
    assert_eq!(
        types(&rest),
        [
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED"
        ],
        "healed once"
    );
}

/// A reader who went away between a patch and its healing comes back with the patch applied.
#[tokio::test]
async fn a_reader_who_comes_back_into_the_run_is_healed() {
    let agent = ScriptedAgent::start(|request| {
        let first = [
            started(&request.body),
            snapshot(&json!({ "a": [1] })),
            odd_delta(&json!(9)),
        ];
        let mut rest = says("x");
        rest.push(finished(&request.body));
        vec![
            Act::Send(sse(&first)),
            Act::Gate,
            Act::Send(blocks(&rest).into()),
        ]
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut run = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    let delta = block_of(&mut run, "STATE_DELTA").await;
    // The fact stands right behind the patch; a reader may have either for its place.
    let id = delta.id.unwrap();
    let (epoch, seq) = id.rsplit_once(':').unwrap();
    let behind_fact = format!("{epoch}:{}", seq.parse::<u64>().unwrap() + 1);
    run.block().await.unwrap();
    let state = snapshot(&json!({ "a": [1] }));
    let mut reader = get(server.address, &format!("/threads/t/events?after={id}")).await;
    let healed = block_of(&mut reader, "STATE_SNAPSHOT").await;
    assert_eq!((healed.id, healed.event.as_ref()), (None, Some(&state)));
    agent.open_gate();
    block_of(&mut run, "RUN_FINISHED").await;
    let path = format!("/threads/t/events?after={behind_fact}");
    let mut reader = get(server.address, &path).await;
    let healed = block_of(&mut reader, "STATE_SNAPSHOT").await;
    assert_eq!((healed.id, healed.event.as_ref()), (None, Some(&state)));
    let last = reader.block().await.unwrap();
    assert_eq!(last.event.unwrap()["type"], "RUN_FINISHED");
}

/// An agent whose first run diverges; from the second on it waits before it says anything.
async fn diverging_once() -> ScriptedAgent {
    ScriptedAgent::start(|request| {
        if request.body["runId"] != "r1" {
            let run = [started(&request.body), finished(&request.body)];
            return vec![Act::Gate, Act::Send(sse(&run))];
        }
        let run = [
            started(&request.body),
            snapshot(&json!({ "a": [1] })),
            odd_delta(&json!(9)),
            finished(&request.body),
        ];
        vec![Act::Send(sse(&run))]
    })
    .await
}

#[tokio::test]
async fn a_reader_who_left_behind_a_run_is_told_nothing_between_runs() {
    let agent = diverging_once().await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut first = post(server.address, "/agents/a/run", &input("t", "r1", "hi")).await;
    let end = block_of(&mut first, "RUN_FINISHED").await.id.unwrap();
    let second = post(server.address, "/agents/a/run", &input("t", "r2", "hi")).await;
    let mut reader = get(server.address, &format!("/threads/t/events?after={end}")).await;
    agent.open_gate();
    let told = second.events().await;
    for expected in ["RUN_STARTED", "RUN_FINISHED"] {
        let block = reader.block().await.unwrap();
        assert_eq!(block.event.unwrap()["type"], expected, "{told:?}");
    }
}

#[tokio::test]
async fn a_reader_who_comes_back_when_the_next_run_is_open_is_healed_before_the_end_of_its_own() {
    let agent = diverging_once().await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut first = post(server.address, "/agents/a/run", &input("t", "r1", "hi")).await;
    let delta = block_of(&mut first, "STATE_DELTA").await.id.unwrap();
    let (epoch, seq) = delta.rsplit_once(':').unwrap();
    let behind_fact = format!("{epoch}:{}", seq.parse::<u64>().unwrap() + 1);
    block_of(&mut first, "RUN_FINISHED").await;
    let mut second = post(server.address, "/agents/a/run", &input("t", "r2", "hi")).await;
    agent.open_gate();
    block_of(&mut second, "RUN_STARTED").await;
    for place in [delta, behind_fact] {
        let mut reader = get(server.address, &format!("/threads/t/events?after={place}")).await;
        let healed = reader.block().await.unwrap();
        assert_eq!(
            (healed.id, healed.event),
            (None, Some(snapshot(&json!({ "a": [1] })))),
            "{place}"
        );
        let end = reader.block().await.unwrap().event.unwrap();
        assert_eq!(
            (&end["type"], &end["runId"]),
            (&json!("RUN_FINISHED"), &json!("r1"))
        );
    }
}

/// The events of one run whose agent says all at once.
async fn run(events: impl Fn(&Value) -> Vec<Value> + Send + Sync + 'static) -> Vec<Value> {
    let agent = ScriptedAgent::streaming(events).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    post(server.address, "/agents/a/run", &input("t", "r", "hi"))
        .await
        .events()
        .await
}

#[tokio::test]
async fn an_activity_is_healed_before_its_run_ends() {
    let events = run(|request| {
        let activity = json!({
            "type": "ACTIVITY_SNAPSHOT", "messageId": "p", "activityType": "plan",
            "content": { "steps": [1] }, "subagentRunId": "sub",
        });
        let delta = json!({
            "type": "ACTIVITY_DELTA", "messageId": "p", "activityType": "plan",
            "patch": [{ "op": "replace", "path": "", "value": [1, 2] }],
        });
        vec![started(request), activity, delta, finished(request)]
    })
    .await;
    let at = events.len() - 2;
    assert_eq!(
        types(&events[at..]),
        ["ACTIVITY_SNAPSHOT", "RUN_FINISHED"],
        "{events:?}"
    );
    assert_eq!(events[at]["content"], json!({ "steps": [1] }));
    assert_eq!(events[at]["subagentRunId"], "sub");
}

#[tokio::test]
async fn what_the_readers_client_refuses_as_well_is_not_healed() {
    let events = run(|request| {
        let state = snapshot(&json!({ "a": 1 }));
        vec![started(request), state, delta("/b"), finished(request)]
    })
    .await;
    assert_eq!(
        types(&events),
        [
            "RUN_STARTED",
            "STATE_SNAPSHOT",
            "STATE_DELTA",
            "RUN_FINISHED"
        ]
    );
}

/// Each failing patch comes alone, as an agent would send it that wants much to be sent for little.
#[tokio::test]
async fn failing_patches_do_not_multiply_into_snapshots() {
    const DELTAS: usize = 60;
    const STATE_BYTES: usize = 100_000;
    let agent = ScriptedAgent::start(|request| {
        let state = json!({ "a": [1, 2], "large": "x".repeat(STATE_BYTES) });
        let mut acts = vec![Act::Send(sse(&[started(&request.body), snapshot(&state)]))];
        for _ in 0..DELTAS {
            acts.push(Act::Send(blocks(&[odd_delta(&json!(3))]).into()));
            acts.push(Act::Gate);
        }
        acts.push(Act::Send(blocks(&[finished(&request.body)]).into()));
        acts
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut run = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    let mut told = Vec::new();
    for _ in 0..DELTAS {
        loop {
            let event = run.block().await.unwrap().event.unwrap();
            let is_delta = event["type"] == "STATE_DELTA";
            told.push(event);
            if is_delta {
                break;
            }
        }
        agent.open_gate();
    }
    told.extend(run.events().await);
    let types = types(&told);
    let count = |wanted: &str| types.iter().filter(|one| **one == wanted).count();
    assert_eq!(count("STATE_DELTA"), DELTAS);
    // The agent's own, the first healing, and the one before the end.
    assert!(count("STATE_SNAPSHOT") <= 3, "{types:?}");
    assert_eq!(types[types.len() - 2..], ["STATE_SNAPSHOT", "RUN_FINISHED"]);
}
