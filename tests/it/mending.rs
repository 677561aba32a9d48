//! Agents that leave things open or patch oddly, as the published AG-UI client sees them through a
//! hub.

use serde_json::{Value, json};
use threadcast_tests::http;
use threadcast_tests::node::{apply, http_agent};
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::viewer::{Start, Viewer, events_of};

fn started() -> Value {
    json!({ "type": "RUN_STARTED", "threadId": "THREAD", "runId": "RUN" })
}

fn finished(outcome: &Value) -> Value {
    json!({ "type": "RUN_FINISHED", "threadId": "THREAD", "runId": "RUN", "outcome": outcome })
}

fn step() -> Value {
    json!({ "runId": "r", "append": [{ "id": "u", "role": "user", "content": "hi" }] })
}

/// Everything the hub may close, and how it is to end.
fn leaving_open(outcome: &Value) -> Vec<Value> {
    vec![
        started(),
        json!({ "type": "STEP_STARTED", "stepName": "s" }),
        json!({ "type": "SUBAGENT_STARTED", "subagentRunId": "a", "name": "n" }),
        json!({ "type": "SUBAGENT_STARTED", "subagentRunId": "b", "name": "n", "parentSubagentRunId": "a" }),
        json!({ "type": "STEP_STARTED", "stepName": "s", "subagentRunId": "b" }),
        json!({ "type": "REASONING_START", "messageId": "p", "subagentRunId": "b" }),
        json!({ "type": "REASONING_MESSAGE_START", "messageId": "g", "role": "reasoning", "subagentRunId": "b" }),
        json!({ "type": "REASONING_MESSAGE_CONTENT", "messageId": "g", "delta": "hm", "subagentRunId": "b" }),
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant" }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "half a sent" }),
        finished(outcome),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_client_takes_a_mended_run_whatever_its_outcome() {
    let interrupts = json!([{ "id": "i", "reason": "confirmation" }]);
    let outcomes = [
        ("success", json!({ "type": "success" }), 0),
        ("cancelled", json!({ "type": "cancelled" }), 0),
        (
            "interrupt",
            json!({ "type": "interrupt", "interrupts": interrupts }),
            1,
        ),
    ];
    let scripts = outcomes
        .iter()
        .map(|(name, outcome, _)| Recording::scripted(name, &[leaving_open(outcome)]));
    let replay = Replay::start(scripts).await;
    let hub = Program::start(&replay.agents()).await;
    for (name, _, pending) in outcomes {
        let url = hub.http(&format!("/agents/{name}/run"));
        let held = http_agent(&url, name, &[step()]).await.remove(0);
        assert_eq!(held.error, None, "{name}");
        assert_eq!(held.messages[1]["content"], "hm", "{name}");
        assert_eq!(held.messages[2]["content"], "half a sent", "{name}");
        assert_eq!(held.pending_interrupts.as_array().unwrap().len(), pending);
        let mut viewer = Viewer::connect(&hub.ws()).await;
        viewer.subscribe(name, Start::Log).await;
        let frames = viewer.frames_to_end(name, "r").await;
        let facts = frames.iter().filter_map(|frame| frame.get("fact"));
        let mut repairs = facts.filter(|fact| fact["type"] == "stream.repaired");
        let repair = repairs.next().expect("the log says what was closed");
        assert_eq!(repair["closed"].as_array().unwrap().len(), 7, "{repair}");
        assert!(repairs.next().is_none());
        let followed = apply(name, &[events_of(&frames)]).await.remove(0);
        assert_eq!(
            (followed.messages, followed.error),
            (held.messages, None),
            "{name}"
        );
    }
}

/// Goal: a plain client that does what the hub refuses ends like the hub all the same. The patches
/// are ones that only the published client applies.
#[tokio::test(flavor = "multi_thread")]
async fn a_plain_client_that_diverged_is_healed() {
    let patch = |kind: &str, name: &str, patch: Value| json!({ "type": kind, "messageId": "p", "activityType": "plan", name: patch });
    let run = vec![
        started(),
        json!({ "type": "STATE_SNAPSHOT", "snapshot": { "a": [1, 2], "b": 0 } }),
        json!({ "type": "STATE_DELTA", "delta": [{ "op": "add", "path": "/a/01", "value": 9 }] }),
        json!({ "type": "STATE_DELTA", "delta": [{ "op": "replace", "path": "/b", "value": 1 }] }),
        json!({ "type": "ACTIVITY_SNAPSHOT", "messageId": "p", "activityType": "plan", "content": { "n": 1 } }),
        patch(
            "ACTIVITY_DELTA",
            "patch",
            json!([{ "op": "replace", "path": "", "value": [] }]),
        ),
        finished(&json!({ "type": "success" })),
    ];
    let odd: Vec<_> = run.iter().map(as_of_run).collect();
    let alone = apply("t", &[odd]).await.remove(0);
    let replay = Replay::start([Recording::scripted("odd", &[run])]).await;
    let hub = Program::start(&replay.agents()).await;
    let held = http_agent(&hub.http("/agents/odd/run"), "t", &[step()]).await;
    let held = &held[0];
    assert_eq!(held.error, None);
    assert_eq!(held.state, json!({ "a": [1, 2], "b": 1 }));
    assert_eq!(held.messages[1]["content"], json!({ "n": 1 }));
    assert_ne!(alone.state, held.state, "without a hub it differs");
    assert_ne!(alone.messages[0]["content"], held.messages[1]["content"]);
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe("t", Start::Snapshot).await;
    let frames = viewer.frames_to_end("t", "r").await;
    let joined = apply("t", &[events_of(&frames)]).await.remove(0);
    assert_eq!(
        (&joined.state, &joined.messages),
        (&held.state, &held.messages)
    );
    let status = http::get(hub.address(), "/threads/t").await.json();
    assert_eq!(status["status"], "success");
}

/// The event as the published client gets it without a hub.
fn as_of_run(event: &Value) -> Value {
    let text = event.to_string();
    let text = text
        .replace("\"THREAD\"", "\"t\"")
        .replace("\"RUN\"", "\"r\"");
    serde_json::from_str(&text).unwrap()
}
