//! What a thread was at an earlier entry.

use serde_json::{Value, json};

use crate::support::agent::{ScriptedAgent, finished, says, started};
use crate::support::http::{get, input, post};
use crate::support::server::{TestServer, config, quick};

/// Seqs of a run that says `x`, counts to 2 in its state and ends: accepted 1, dispatched 2,
/// RUN_STARTED 3, STATE_SNAPSHOT 4, text 5 to 7, STATE_DELTA 8, RUN_FINISHED 9.
fn counting(request: &Value) -> Vec<Value> {
    let mut events = vec![
        started(request),
        json!({ "type": "STATE_SNAPSHOT", "snapshot": { "n": 1 } }),
    ];
    events.extend(says("x"));
    events.push(
        json!({ "type": "STATE_DELTA", "delta": [{ "op": "replace", "path": "/n", "value": 2 }] }),
    );
    events.push(finished(request));
    events
}

async fn served() -> TestServer {
    let agent = ScriptedAgent::streaming(counting).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let run = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    run.blocks().await;
    server
}

async fn ask(server: &TestServer, path: &str) -> Value {
    let answer = get(server.address, path).await;
    assert_eq!(answer.status, 200, "{path}");
    answer.json().await
}

#[tokio::test]
async fn state_and_messages_of_every_entry_are_those_of_the_events_up_to_it() {
    let server = served().await;
    let epoch = ask(&server, "/threads/t").await["epoch"].clone();
    for at in 1..=9 {
        let state = ask(&server, &format!("/threads/t/state?at={at}")).await;
        let expected = match at {
            ..4 => json!({}),
            4..8 => json!({ "n": 1 }),
            _ => json!({ "n": 2 }),
        };
        let expected = json!({ "threadId": "t", "epoch": epoch, "seq": at, "state": expected });
        assert_eq!(state, expected);

        let messages = ask(&server, &format!("/threads/t/messages?at={at}")).await;
        let texts = messages["messages"].as_array().unwrap().iter();
        let texts: Vec<_> = texts.map(|message| message["content"].clone()).collect();
        let expected: &[&str] = match at {
            ..3 => &[],
            3..5 => &["hi"],
            5 => &["hi", ""],
            _ => &["hi", "x"],
        };
        assert_eq!(texts, expected, "at {at}");
        assert_eq!((&messages["seq"], &messages["epoch"]), (&json!(at), &epoch));
    }
    let now = ask(&server, "/threads/t/state").await;
    assert_eq!(
        (&now["seq"], &now["state"]),
        (&json!(9), &json!({ "n": 2 }))
    );
}

#[tokio::test]
async fn what_was_never_there_is_not_found_and_what_is_no_seq_is_told() {
    let server = served().await;
    let empty = TestServer::start(config()).await;
    for what in ["state", "messages"] {
        let refusal = async |server: &TestServer, path: String| {
            get(server.address, &path).await.refusal().await
        };
        let unknown = refusal(&empty, format!("/threads/t/{what}")).await;
        assert_eq!(unknown, (404, "not_found".into()));
        for at in ["0", "-1", "x", "9007199254740992", ""] {
            let wrong = refusal(&server, format!("/threads/t/{what}?at={at}")).await;
            assert_eq!(wrong, (400, "bad_frame".into()), "at {at}");
        }
        let beyond = get(server.address, &format!("/threads/t/{what}?at=10")).await;
        assert_eq!(beyond.status, 404);
        let message = beyond.json().await["message"].clone();
        let message = message.as_str().unwrap();
        assert!(message.contains("10") && message.contains('9'), "{message}");
    }
}
