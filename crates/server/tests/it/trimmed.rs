//! A thread whose log lost its beginning.

use http::Method;
use serde_json::{Value, json};
use threadcast_run_registry::retention::Retention;

use crate::support::agent::{ScriptedAgent, finished, says, started};
use crate::support::http::{get, input, post, send, types};
use crate::support::server::{TestServer, config, quick};

/// Entries of a run of [`served`].
const RUN: u64 = 8;

/// A thread `t` of three runs, each with a state and a word, of which the latest is kept.
async fn served() -> TestServer {
    let agent = ScriptedAgent::streaming(|request| {
        let word = request["runId"].as_str().unwrap();
        let mut events = vec![
            started(request),
            json!({ "type": "STATE_SNAPSHOT", "snapshot": { "run": word } }),
        ];
        events.extend(says(word));
        events.push(finished(request));
        events
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    for run in ["r1", "r2", "r3"] {
        let run = post(server.address, "/agents/a/run", &input("t", run, "hi")).await;
        run.blocks().await;
    }
    let retention = Retention {
        entries: Some(1),
        ..Retention::default()
    };
    let trimmed = server.hub.trim(&"t".parse().unwrap(), &retention).await;
    assert_eq!(trimmed.unwrap().map(|seq| seq.get()), Some(2 * RUN));
    server
}

async fn ask(server: &TestServer, path: &str) -> Value {
    let answer = get(server.address, path).await;
    assert_eq!(answer.status, 200, "{path}");
    answer.json().await
}

#[tokio::test]
async fn what_went_cannot_be_asked_for_and_the_first_that_can_is_told() {
    let server = served().await;
    let first = 2 * RUN;
    for (method, what) in [
        (Method::GET, "state"),
        (Method::GET, "messages"),
        (Method::POST, "fork"),
    ] {
        for at in [1, RUN, first - 1] {
            let path = format!("/threads/t/{what}?at={at}");
            let gone = send(server.address, method.clone(), &path, &[], "").await;
            assert_eq!(gone.status, 410, "{path}");
            let gone = gone.json().await;
            assert_eq!(gone["code"], "trimmed", "{path}");
            assert_eq!(gone["details"], json!({ "first": first }), "{path}");
            let message = gone["message"].as_str().unwrap();
            let both = [at, first]
                .iter()
                .all(|seq| message.contains(&seq.to_string()));
            assert!(both, "{message}");
        }
        let path = format!("/threads/t/{what}?at={first}");
        let answer = send(server.address, method, &path, &[], "").await;
        assert!(answer.status.is_success(), "{path}");
    }
    let state = ask(&server, &format!("/threads/t/state?at={first}")).await;
    assert_eq!(state["state"], json!({ "run": "r2" }));
    let messages = ask(&server, &format!("/threads/t/messages?at={first}")).await;
    assert_eq!(messages["messages"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn its_export_carries_what_went_and_is_imported() {
    let server = served().await;
    let exported = get(server.address, "/threads/t/export?private=true").await;
    let exported = exported.text().await;
    let head: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&head["first"], &head["last"]),
        (&json!(2 * RUN + 1), &json!(3 * RUN))
    );
    assert_eq!(exported.lines().count() as u64, 1 + RUN);

    let other = TestServer::start(config()).await;
    let path = "/threads/u/import";
    let imported = send(other.address, Method::POST, path, &[], exported).await;
    assert_eq!(imported.status, 201);
    for what in ["state", "messages"] {
        let was = ask(&server, &format!("/threads/t/{what}")).await;
        let is = ask(&other, &format!("/threads/u/{what}")).await;
        assert_eq!(is[what], was[what]);
    }
}

#[tokio::test]
async fn its_plain_export_begins_with_a_snapshot_of_what_went() {
    let server = served().await;
    let plain = get(server.address, "/threads/t/export?format=ag-ui").await;
    let plain = plain.text().await;
    let events = plain
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let events: Vec<Value> = events.collect();
    let snapshot = [
        "RUN_STARTED",
        "MESSAGES_SNAPSHOT",
        "STATE_SNAPSHOT",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&events[..4]), snapshot);
    assert_eq!(events[1]["messages"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&events[4]["type"], &events[4]["runId"]),
        (&json!("RUN_STARTED"), &json!("r3"))
    );
    assert_eq!(events.len(), 4 + 6);
}
